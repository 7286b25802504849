// The page of `spacy-pel serve --terms`. Data becomes text nodes and attributes, never HTML.

import { $, about, act, api, bar, download, el, entityCard, link, NIL, percent, plural, quoted, say, searching } from "./common.js";

const SHOWN = 50; // rows
const PAUSE = 2000; // ms between two looks at how far the mapping is
const state = { rows: [], start: 0, at: 0, n: 0, mapped: 0, history: [], entities: new Map(), busy: Promise.resolve() };

const order = () => ($("list-order").checked ? "list" : "unsure");
const current = () => state.rows[state.at];
const answerOf = (row) => row.decision ?? row;
const named = (one) => (one.error ? "no answer" : one.id === NIL ? "NIL" : `${one.name} ${one.id}`);

// -- the list -----------------------------------------------------------------------------------

/** Show the rows from a place on, and choose one of them; null = the first that is open. */
async function load(start, at = 0) {
  const place = start ?? (await api(`terms?n=0&order=${order()}`)).next ?? 0;
  const first = start ?? place - (place % SHOWN);
  const page = await api(`terms?start=${first}&n=${SHOWN}&order=${order()}`);
  Object.assign(state, { rows: page.rows, start: first, n: page.terms });
  $("file").textContent = page.file;
  $("earlier").disabled = first === 0;
  $("later").disabled = first + SHOWN >= page.terms;
  $("place").textContent = `${(first + 1).toLocaleString("en")} to ${(first + page.rows.length).toLocaleString("en")} of ${plural(page.terms, "term")}`;
  showProgress(page);
  $("rows").replaceChildren(...page.rows.map(rowElement));
  choose(start === null ? Math.max(0, page.rows.findIndex((row) => !row.decision)) : at);
}

function showProgress({ terms, reviewed, mapped }) {
  const more = mapped < terms ? ` · ${mapped.toLocaleString("en")} mapped so far` : "";
  state.mapped = mapped;
  $("progress").textContent = `${reviewed.toLocaleString("en")} of ${terms.toLocaleString("en")} reviewed${more}`;
  $("bar").replaceChildren(bar(reviewed / terms));
  for (const button of $("export").querySelectorAll("button")) button.disabled = mapped < terms;
}

function rowElement(row, number) {
  const answer = answerOf(row);
  const notes = row.decision ? ["reviewed"] : row.error ? ["failed"] : [percent(row.probability), row.relation, row.rests_on].filter(Boolean);
  return el("li", { role: "option", id: `row-${number}`, class: row.decision ? "decided" : null, onclick: () => choose(number) },
    el("span", { class: "name" }, row.term),
    el("span", { class: "right" }, answer.error ? "no answer" : answer.id === NIL ? "NIL" : answer.name, answer.id === NIL ? null : el("span", { class: "id" }, ` ${answer.id}`)),
    el("span", { class: "quiet small number" }, notes.join(" · ")),
  );
}

function choose(at) {
  $(`row-${state.at}`)?.setAttribute("aria-selected", "false");
  state.at = at;
  const chosen = $(`row-${at}`);
  chosen.setAttribute("aria-selected", "true");
  chosen.scrollIntoView({ block: "nearest" });
  $("rows").setAttribute("aria-activedescendant", chosen.id);
  $("rows").focus({ preventScroll: true });
  showDetails();
}

async function move(step) {
  const at = state.at + step;
  if (at >= 0 && at < state.rows.length) choose(at);
  else if (step > 0 && state.start + SHOWN < state.n) await load(state.start + SHOWN);
  else if (step < 0 && state.start > 0) await load(state.start - SHOWN, SHOWN - 1);
}

// -- the term -----------------------------------------------------------------------------------

function showDetails() {
  const row = current();
  const answer = answerOf(row);
  const card = el("div", { class: "entity whole" });
  const button = (key, text, id, note) => el("li", {}, el("button", { type: "button", onclick: () => queue(() => decide(id)) },
    el("kbd", {}, key), ` ${text}`, el("small", {}, note)));
  const cells = Object.entries({ row: row.row, ...row.meta }).filter(([, cell]) => cell !== null && cell !== "");
  $("details").replaceChildren(
    el("h2", {}, row.term),
    el("dl", { class: "evidence" }, cells.flatMap(([name, cell]) => [el("dt", {}, name), el("dd", {}, typeof cell === "string" ? cell : JSON.stringify(cell))])),
    answer.error ? el("p", { class: "problem" }, `The pipeline failed: ${answer.error}. Decide, or mend it and start the server again.`) : el("div", { class: "answer" },
      el("p", { class: "name" }, answer.id === NIL ? "NIL" : answer.name),
      answer.id === NIL ? el("p", { class: "quiet small" }, "not in the knowledge base") : card,
      el("p", { class: "note quiet" }, row.decision ? `reviewed; mapped to ${named(row)}` : notes(row)),
    ),
    el("ul", { class: "found" },
      answer.error ? null : button("Enter", row.decision ? "Keep" : "Accept", answer.id, named(answer)),
      row.alternatives.map((one, number) => button(String(number + 1), one.name, one.id, `${one.id} · ${percent(one.probability)}`)),
      button("n", "None of these", NIL, "not in the knowledge base"),
    ),
  );
  if (answer.id !== NIL) act(null, () => showEntity(card, answer.id));
}

const notes = (row) => [`right with a probability of ${percent(row.probability)}`, row.relation, row.rests_on].filter(Boolean).join(" · ");

async function showEntity(card, id) {
  if (!state.entities.has(id)) state.entities.set(id, await api(`entity/${encodeURIComponent(id)}`));
  const entity = state.entities.get(id);
  card.replaceChildren(el("p", {}, link(entity)), ...entityCard(entity));
}

// -- deciding -----------------------------------------------------------------------------------

/** Save what the term means, and go to the next one. */
async function decide(id) {
  const row = current();
  const before = row.decision?.id ?? null;
  const saved = await save(row.number, id);
  state.history.push([row.number, before]);
  say(`${quoted(saved.term)} is ${named(saved.decision)}.`);
  await move(1);
}

const accept = async () => answerOf(current()).error || decide(answerOf(current()).id);

async function undo() {
  const [number, before] = state.history.pop() ?? [current().number, null];
  const saved = await save(number, before);
  const at = state.rows.findIndex((row) => row.number === number);
  if (at >= 0) choose(at);
  say(`Undone: ${quoted(saved.term)}.`);
}

async function save(number, id) {
  const page = await api("terms", { number, kb_id: id });
  const at = state.rows.findIndex((row) => row.number === number);
  if (at >= 0) {
    state.rows[at] = page.rows[0];
    $(`row-${at}`).replaceWith(rowElement(page.rows[0], at));
    if (at === state.at) choose(at);
  }
  showProgress(page);
  return page.rows[0];
}

async function exportTerms(format) {
  const name = format === "csv" ? "terms.csv" : "terms.sssom.tsv";
  download(name, await api(`terms/export?format=${format}`));
}

/** While the list is mapped, say how far it is; then the order is another. */
async function watch() {
  const page = await api("terms?n=0");
  showProgress(page);
  if (page.mapped < page.terms) setTimeout(() => act(null, watch), PAUSE);
  else say("All terms are mapped.", { button: el("button", { class: "small", type: "button", onclick: () => act(null, () => load(null)) }, "Sort again") });
}

// -- what the user does -------------------------------------------------------------------------

/** Keys that are pressed fast wait for each other. */
function queue(action) {
  state.busy = state.busy.then(() => act(null, action));
}

const KEYS = {
  ArrowDown: () => move(1), j: () => move(1), ArrowUp: () => move(-1), k: () => move(-1),
  Enter: accept, a: accept,
  n: () => decide(NIL), u: undo, "/": () => $("q").focus(),
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, #found") || !state.rows.length) return;
  if (event.key === "Enter" && event.target.closest("a, button, summary")) return;
  const choice = () => current().alternatives[event.key - 1];
  const action = /^[1-9]$/.test(event.key) ? async () => choice() && decide(choice().id) : KEYS[event.key];
  if (!action) return;
  event.preventDefault();
  queue(action);
});

const clearFound = searching($("q"), $("found"), (one) => { $("q").value = ""; queue(() => decide(one.id)); });
$("q").addEventListener("keydown", (event) => { if (event.key === "Escape") $("rows").focus(); });
$("search").addEventListener("submit", (event) => event.preventDefault());
addEventListener("click", (event) => { if (!event.target.closest("#search")) clearFound(); });
$("list-order").addEventListener("change", () => act(null, () => load(null)));
$("earlier").addEventListener("click", () => act($("earlier"), () => load(state.start - SHOWN)));
$("later").addEventListener("click", () => act($("later"), () => load(state.start + SHOWN)));
for (const button of $("export").querySelectorAll("button")) {
  button.addEventListener("click", () => act(button, () => exportTerms(button.dataset.format)));
}

act(null, async () => {
  await about();
  await load(null);
  if (state.mapped < state.n) await watch();
});
