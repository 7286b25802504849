// Shows /openapi.json as a page; data becomes text nodes, never HTML.

import { el } from "./common.js";

function paragraphs(text) {
  const pieces = text.split("`").map((piece, number) => (number % 2 ? el("code", {}, piece) : piece));
  return el("p", {}, pieces);
}

const resolve = (api, schema) => (schema?.$ref ? api.components.schemas[schema.$ref.split("/").pop()] : schema);

function typeOf(schema) {
  if (!schema) return "any";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return schema.anyOf.filter((one) => one.type !== "null").map(typeOf).join(" or ");
  if (schema.prefixItems) return `[${schema.prefixItems.map(typeOf).join(", ")}]`;
  if (schema.type === "array") return `list of ${typeOf(schema.items)}`;
  return schema.type ?? "any";
}

/** The fields of a schema, with those of the objects in it below them. */
function fields(api, schema, prefix = "") {
  const found = resolve(api, schema);
  const needed = new Set(found?.required ?? []);
  return Object.entries(found?.properties ?? {}).flatMap(([name, field]) => {
    const inner = (field.anyOf ?? [field]).map((one) => (one.type === "array" ? one.items : one)).find((one) => one?.$ref);
    const notes = [field.description, !prefix && !needed.has(name) && field.default !== undefined && field.default !== null ? `Default: ${JSON.stringify(field.default)}.` : ""];
    const row = el("tr", {}, el("td", {}, el("code", {}, prefix + name)), el("td", { class: "quiet" }, typeOf(field)), el("td", {}, notes.filter(Boolean).join(" ")));
    return [row, ...(inner && prefix.length < 40 ? fields(api, inner, `${prefix}${name}.`) : [])];
  });
}

function table(title, rows) {
  return rows.length ? [el("h3", {}, title), el("div", { class: "scroll" }, el("table", {}, el("tbody", {}, rows)))] : [];
}

function curl(path, method, example) {
  const url = `${location.origin}${path.replace("{entity_id}", "C0003873")}`;
  if (method === "get") return `curl '${url}${path === "/search" ? "?q=rheumatoid" : ""}'`;
  return `curl ${url} -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(example)}'`;
}

const api = await (await fetch("openapi.json")).json();
document.getElementById("about").textContent = `Version ${api.info.version}. ${api.info.description}`;
for (const [path, methods] of Object.entries(api.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    const body = operation.requestBody?.content["application/json"].schema;
    const answer = operation.responses["200"].content?.["application/json"].schema;
    const parameters = (operation.parameters ?? []).map((one) =>
      el("tr", {}, el("td", {}, el("code", {}, one.name)), el("td", { class: "quiet" }, typeOf(one.schema)), el("td", {}, one.description ?? "")));
    document.getElementById("paths").append(el("section", { class: "card" },
      el("h2", {}, el("span", { class: "method" }, method.toUpperCase()), el("code", {}, path), el("span", {}, operation.summary)),
      paragraphs(operation.description ?? ""),
      el("pre", { tabindex: "0" }, curl(path, method, resolve(api, body)?.example)),
      table("Parameters", parameters), table("Request", body ? fields(api, body) : []), table("Answer", answer ? fields(api, answer) : []),
    ));
  }
}
