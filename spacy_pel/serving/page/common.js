// What the pages share. Data becomes text nodes and attributes, never HTML.

export const NIL = "NIL";
const FIRST = 8; // names, codes

export const $ = (id) => document.getElementById(id);

// -- elements -----------------------------------------------------------------------------------

export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.className = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export const show = (number, digits = 3) => (number === null || number === undefined ? "–" : number.toFixed(digits));
export const percent = (share) => `${(100 * share).toFixed(share > 0.9995 || share === 0 ? 0 : 1)}%`;
export const quoted = (text) => `“${text}”`;
export const plural = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

export function bar(share, { mark = null } = {}) {
  const fill = el("span", { class: "fill" });
  fill.style.width = `${100 * Math.min(1, Math.max(0, share))}%`;
  const track = el("div", { class: "track", "aria-hidden": "true" }, fill);
  if (mark !== null) {
    const line = el("span", { class: "mark" });
    line.style.left = `${100 * Math.min(1, Math.max(0, mark))}%`;
    track.append(line);
  }
  return track;
}

export function link(entity) {
  const id = el("span", { class: "id" }, entity.id);
  return entity.url ? el("a", { href: entity.url, target: "_blank", rel: "noopener noreferrer" }, id) : id;
}

// -- the server ---------------------------------------------------------------------------------

export async function api(path, body) {
  const post = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let response;
  try {
    response = await fetch(path, body === undefined ? {} : post);
  } catch {
    throw new Error("The server does not answer. Is it still running?");
  }
  if (response.headers.get("Content-Type")?.startsWith("text/")) return response.text();
  const answer = await response.json().catch(() => ({ detail: `The server answered with ${response.status}.` }));
  if (!response.ok) throw new Error(String(answer.detail).replace(/^\[PEL-\w+\] /, ""));
  return answer;
}

export function say(text, { problem = false, button = null } = {}) {
  $("status").className = problem ? "status problem" : "status";
  $("status").replaceChildren(text, ...(button ? [button] : []));
}

/** Run an action; what it throws is shown, and the button cannot be pressed twice. */
export async function act(button, action) {
  if (button) button.disabled = true;
  try {
    return await action();
  } catch (error) {
    say(error.message, { problem: true });
    return null;
  } finally {
    if (button) button.disabled = false;
  }
}

/** Say which pipeline this is. */
export async function about() {
  const health = await api("health");
  const calibrated = health.calibrated ? "" : " · not calibrated";
  $("about").textContent = `${health.pipeline} · ${plural(health.entities, "entity", "entities")}${calibrated}`;
  document.title = `${health.pipeline} – spacy_pel`;
  return health;
}

// -- entities -----------------------------------------------------------------------------------

/** Types, definition, names, what annotated text calls it, and codes. */
export function entityCard(entity) {
  const others = entity.aliases.filter((name) => name !== entity.name);
  const swatch = entity.group ? el("span", { class: `key ${entity.group}`, title: entity.group_name }) : null;
  return [
    entity.types.length ? el("p", { class: "types" }, swatch, entity.type_names.map((name) => el("span", { class: "chip" }, name))) : null,
    entity.definition ? el("p", {}, entity.definition) : null,
    listed("Names", [entity.name, ...others]),
    listed("In annotated text", entity.forms ? formsOf(entity.forms) : []),
    listed("Codes", entity.xrefs.map(link)),
  ].filter(Boolean);
}

function formsOf({ counts, n_mentions: all }) {
  const shown = Object.entries(counts);
  const rest = all - shown.reduce((sum, [, count]) => sum + count, 0);
  return [...shown, ...(rest ? [["others", rest]] : [])].map(([form, count]) => `${form} ${count}`);
}

/** The first things of a list, and a button for the others. */
function listed(title, items) {
  if (!items.length) return null;
  const head = el("span", { class: "quiet" }, `${title}: `);
  const joined = (some) => some.flatMap((item, number) => (number ? [" · ", item] : [item]));
  const line = el("p", {}, head, joined(items.slice(0, FIRST)));
  if (items.length > FIRST) {
    const all = () => line.replaceChildren(head, ...joined(items));
    line.append(" ", el("button", { class: "more", type: "button", onclick: all }, `${items.length - FIRST} more`));
  }
  return line;
}

/** The browser saves a file. */
export function download(name, content) {
  const url = URL.createObjectURL(new Blob([content]));
  el("a", { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}

export const jsonLines = (records) => records.map((one) => `${JSON.stringify(one)}\n`).join("");

// -- searching ----------------------------------------------------------------------------------

/** Look for entities while a name is typed, and show them in a list. */
export function searching(input, list, pick) {
  let timer = 0;
  let wanted = "";
  const clear = () => { clearTimeout(timer); wanted = ""; list.replaceChildren(); list.hidden = true; };
  const look = async () => {
    const q = input.value.trim();
    wanted = q;
    if (!q) return clear();
    await act(null, async () => {
      const { entities } = await api(`search?n=8&q=${encodeURIComponent(q)}`);
      if (q !== wanted || list.contains(document.activeElement)) return; // an older answer, or one is being chosen
      list.replaceChildren(...entities.map((one) => {
        const same = one.match === null ? "similar" : one.match.toLowerCase() === one.name.toLowerCase() ? "" : quoted(one.match);
        return el("li", {}, el("button", { type: "button", onclick: () => { clear(); pick(one); } },
          one.name, el("small", {}, [one.id, ...one.type_names.slice(0, 2), same].filter(Boolean).join(" · "))));
      }));
      if (!entities.length) list.append(el("li", {}, el("p", { class: "quiet" }, "No entity has such a name.")));
      list.hidden = false;
    });
  };
  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(look, 180); });
  const move = (event) => {
    const buttons = [...list.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement);
    if (event.key === "Escape") { clear(); input.focus(); event.stopPropagation(); return; }
    if (event.key === "Enter" && event.target === input) { event.preventDefault(); clearTimeout(timer); (buttons[0] && wanted === input.value.trim() ? Promise.resolve() : look()).then(() => list.querySelector("button")?.focus()); return; }
    if (!buttons.length || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
    event.preventDefault();
    const next = at + (event.key === "ArrowDown" ? 1 : -1);
    (next < 0 ? input : buttons[Math.min(next, buttons.length - 1)]).focus();
  };
  input.addEventListener("keydown", move);
  list.addEventListener("keydown", move);
  return clear;
}
