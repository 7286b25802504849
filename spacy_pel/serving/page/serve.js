// The page of `spacy-pel serve`. Data becomes text nodes and attributes, never HTML.

import { $, about, act, api, bar, download, el, entityCard, jsonLines, link, NIL, percent, plural, quoted, say, searching, show } from "./common.js";

const COLOURS = 5; // of page.css
const SHOWN = 10; // candidates
const EXAMPLE =
  "Bacterial culture of the sputum was positive for Pseudomonas aeruginosa in 46 adults with cystic fibrosis (CF). " +
  "Patients with CF were treated with azithromycin until hospital discharge. We also tested zasocitinib against " +
  "Pseudomonas aeruginosa. In interviews after discharge, most patients reported vomiting or diarrhea, but no hearing loss.";
const PARTS = {
  name: "cosine of a name", mention: "cosine of a mention", log_prior: "prior",
  preferred: "preferred name", edit: "spelling", partial: "part of a name", best_first: "rank by cosine", log_topic: "topic",
  log_label_type: "type by the label", log_mention_type: "type in context",
};

const state = { text: "", mentions: [], entities: new Map(), chosen: null, limits: {}, groups: {}, given: [], by: "", file: "", doc: "" };

async function start() {
  const health = await about();
  state.limits = health.limits;
  state.groups = health.label_groups;
  $("review").hidden = !health.terms;
  showLength();
  showMemory(await api("learned"));
}

// -- a text and its mentions --------------------------------------------------------------------

function showLength() {
  const n = $("text").value.length;
  const most = state.limits.max_chars;
  $("length").textContent = n && most ? `${n.toLocaleString("en")} of ${most.toLocaleString("en")} characters` : "";
}

/** Offsets of the server count characters, those of JavaScript UTF-16 units: characters beyond them count twice. */
function withUnits(text, mentions) {
  if (!/[\u{10000}-\u{10ffff}]/u.test(text)) return mentions;
  const places = [0];
  for (const character of text) places.push(places[places.length - 1] + character.length);
  return mentions.map((one) => ({ ...one, from: places[one.start], to: places[one.end] }));
}

async function linkText({ changed = false } = {}) {
  const text = changed ? state.text : $("text").value;
  if (!text.trim()) {
    say("Paste a text first.");
    $("text").focus();
    return;
  }
  if (!changed) say("Linking …");
  const started = performance.now();
  const answer = await api("link", { text, n_candidates: 1 });
  const mentions = withUnits(text, answer.documents[0].mentions);
  const ids = [...new Set(mentions.map((one) => one.kb_id).filter((id) => id && id !== NIL))];
  const most = 16 * state.limits.max_texts;
  const { entities } = ids.length ? await api("entities", { ids: ids.slice(0, most) }) : { entities: [] };
  const before = new Map(changed ? state.mentions.map((one) => [`${one.start}-${one.end}`, one.kb_id]) : []);
  const differs = (one) => before.has(`${one.start}-${one.end}`) && before.get(`${one.start}-${one.end}`) !== one.kb_id;
  const known = new Map(entities.map((one) => [one.id, one]));
  const n = mentions.filter(differs).length;
  Object.assign(state, { text, mentions, entities: known, doc: changed ? state.doc : state.file });
  showText(differs);
  if (!changed) {
    closeDetails();
    const nil = mentions.filter((one) => one.kb_id === NIL).length;
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    say(mentions.length ? `${plural(mentions.length, "mention")}, ${nil} of them NIL, in ${seconds} s` : "No mention was found.");
  }
  return n;
}

/** Save what the command `link` writes of this text, with the corrections in effect. */
async function exportLinks(format) {
  const answer = await api(`link?format=${format}`, { documents: [{ id: state.doc || "1", text: state.text }] });
  const [ending, content] = format === "csv" ? ["csv", answer] : ["jsonl", jsonLines(answer.documents)];
  download(`${state.doc.replace(/\.\w+$/, "") || "links"}.${ending}`, content);
}

/** The entity or label that gives a mention its semantic group. */
function grouped(one) {
  const entity = state.entities.get(one.kb_id);
  return entity?.group ? entity : state.groups[one.label] ?? {};
}

/** Mentions are coloured by the semantic group of their entity, or else of their label, see page.css. Where none has one,
 * by label; where all have the same label, by the first type of their entity. */
function kinds() {
  const counts = new Map();
  const colour = new Map();
  const isLinked = (one) => Boolean(one.kb_id) && one.kb_id !== NIL;
  const add = (name, n) => counts.set(name, (counts.get(name) ?? 0) + n);
  const ordered = () => [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a) || a.localeCompare(b));
  if (state.mentions.some((one) => grouped(one).group)) {
    const kind = (one) => grouped(one).group_name || "no semantic group";
    for (const one of state.mentions.filter((one) => isLinked(one) || grouped(one).group)) {
      add(kind(one), 1);
      colour.set(kind(one), grouped(one).group || "other");
    }
    return { kind, colour, legend: ordered().map((name) => [name, colour.get(name)]) };
  }
  const labels = new Set(state.mentions.map((one) => one.label));
  const kind = labels.size > 1 ? (one) => one.label || "no label" : (one) => state.entities.get(one.kb_id)?.types[0] || one.label || "linked";
  for (const one of state.mentions) {
    if (isLinked(one) || (one.kb_id === NIL && labels.size > 1)) add(kind(one), isLinked(one) ? 1 : 0);
  }
  const names = ordered();
  names.forEach((name, number) => colour.set(name, number < COLOURS ? `k${number}` : "other"));
  const legend = names.slice(0, COLOURS).map((name) => [name, colour.get(name)]);
  if (names.length > COLOURS) legend.push([names.length === COLOURS + 1 ? names[COLOURS] : "others", "other"]);
  return { kind, colour, legend };
}

function showText(differs = () => false) {
  const { kind, colour, legend } = kinds();
  const pieces = [];
  let done = 0;
  state.mentions.forEach((one, number) => {
    const [from, to] = [one.from ?? one.start, one.to ?? one.end];
    if (from < done) return; // of overlapping mentions the first is shown
    const name = one.kb_id === NIL ? "NIL, not in the knowledge base" : one.kb_id ? `${one.name} ${one.kb_id}` : "not linked";
    const own = one.kb_id === NIL ? `nil ${grouped(one).group ?? ""}` : one.kb_id ? colour.get(kind(one)) : "none";
    pieces.push(
      state.text.slice(done, from),
      el("span", {
        class: `mention ${own}${differs(one) ? " changed" : ""}`, role: "button", tabindex: "0", "data-number": number,
        "aria-pressed": "false", "aria-label": `${one.text}: ${name}${one.label ? `, ${one.label}` : ""}`,
      }, state.text.slice(from, to)),
    );
    done = to;
  });
  $("linked").replaceChildren(...pieces, state.text.slice(done));
  if (state.mentions.some((one) => one.kb_id === NIL)) legend.push(["NIL", "nil"]);
  $("legend").replaceChildren(...legend.map(([name, own]) => el("li", {}, el("span", { class: `key ${own}` }), name)));
  $("result").hidden = false;
}

const mentionElement = (number) => $("linked").querySelector(`[data-number="${number}"]`);

function showTip(node) {
  const one = state.mentions[node.dataset.number];
  const types = state.entities.get(one.kb_id)?.type_names ?? [];
  const label = [one.label, ...types].filter(Boolean).map((name) => ` · ${name}`);
  const text = one.kb_id === NIL ? [el("b", {}, NIL), " not in the knowledge base"] : one.kb_id ? [el("b", {}, one.name ?? ""), ` ${one.kb_id}`] : ["not linked"];
  $("tip").replaceChildren(...text, ...label);
  $("tip").hidden = false;
  const at = node.getClientRects()[0];
  const width = $("tip").offsetWidth;
  $("tip").style.left = `${Math.max(8, Math.min(at.left, innerWidth - width - 8))}px`;
  const above = at.top - $("tip").offsetHeight - 6;
  $("tip").style.top = `${above > 4 ? above : at.bottom + 6}px`;
}

const hideTip = () => { $("tip").hidden = true; };

// -- details ------------------------------------------------------------------------------------

function openDetails(...children) {
  hideTip();
  $("details").replaceChildren(...children.flat().filter(Boolean));
  $("details").classList.add("chosen");
  document.body.classList.add("sheet-open");
  $("details").scrollTop = 0;
}

function closeDetails() {
  const chosen = state.chosen;
  state.chosen = null;
  for (const node of $("linked").querySelectorAll('[aria-pressed="true"]')) node.setAttribute("aria-pressed", "false");
  $("details").classList.remove("chosen");
  document.body.classList.remove("sheet-open");
  $("details").replaceChildren(
    el("p", { class: "quiet hint" }, "Choose a mention to see its candidates, the evidence for each, and to correct it."),
  );
  return chosen;
}

function title(text) {
  const close = () => { const number = closeDetails(); if (number !== null) mentionElement(number)?.focus(); };
  return el("div", { class: "title" }, el("h2", {}, text), el("button", { class: "close", type: "button", "aria-label": "Close", onclick: close }, "×"));
}

/** An entity; those of the text are known. */
async function entityOf(id) {
  if (!state.entities.has(id)) state.entities.set(id, await api(`entity/${encodeURIComponent(id)}`));
  return state.entities.get(id);
}

async function choose(number, { focus = true } = {}) {
  const one = state.mentions[number];
  for (const node of $("linked").querySelectorAll(".mention")) node.setAttribute("aria-pressed", String(node.dataset.number === String(number)));
  state.chosen = number;
  openDetails(title(one.text), el("p", { class: "quiet" }, "Looking at the evidence …"));
  mentionElement(number)?.scrollIntoView({ block: "nearest" });
  const why = await api("explain", { text: state.text, start: one.start, end: one.end, label: one.label, n_candidates: SHOWN });
  if (why.kb_id !== NIL) await entityOf(why.kb_id);
  if (state.chosen !== number) return;
  showWhy(number, why);
  if (focus) $("details").focus({ preventScroll: true });
}

function showWhy(number, why) {
  const one = state.mentions[number];
  const [at, size] = [why.context_start, [...why.text].length]; // characters, not UTF-16 units
  const part = (from, to) => [...why.context].slice(from, to).join("");
  const context = [part(0, at), el("b", {}, why.text), part(at + size)];
  openDetails(
    title(one.text),
    el("p", { class: "context" }, "… ", context, " …"),
    answerBox(number, why),
    el("div", { id: "body" }, evidence(why)),
  );
  const first = $("details").querySelector("details");
  if (first) first.open = true;
}

function answerBox(number, why) {
  const isNil = why.kb_id === NIL;
  const entity = state.entities.get(why.kb_id);
  const correct = el("button", { class: "primary", type: "button", id: "correct", onclick: () => showCorrecting(number, why) }, "Correct");
  const label = why.label ? el("span", { class: "chip" }, why.label) : null;
  const box = el("div", { class: "answer" },
    el("div", { class: "line" },
      el("div", {},
        el("p", { class: "name" }, isNil ? "NIL" : why.name),
        el("p", { class: "quiet small" }, isNil ? "not in the knowledge base" : link(entity)),
      ),
      correct,
    ),
    !isNil && el("div", { class: "entity whole" }, entityCard(entity)),
    el("p", { class: "note quiet" }, label, `right with a probability of ${percent(why.probability)}${why.relation === "broader" ? ", broader than the mention" : ""}`),
  );
  if (why.learned) {
    box.append(el("p", { class: "note" }, `Decided by correction ${why.learned.id}${why.learned.by ? ` by ${why.learned.by}` : ""}.`, undoButton(why.learned)));
  }
  return box;
}

function gauge(why) {
  const { nil_score: score, threshold } = why;
  const isOver = threshold !== null && score > threshold;
  const compared = threshold === null ? "no threshold" : `threshold ${show(threshold)}${why.threshold_is_own ? " of this mention" : ""}`;
  return el("div", { class: `gauge${isOver ? " over" : ""}` },
    el("div", { class: "line" }, el("span", {}, "P(NIL) ", el("b", { class: "number" }, show(score))), el("span", { class: "quiet number" }, compared)),
    bar(score, { mark: threshold }),
  );
}

function evidence(why) {
  const parts = Object.entries(why.difference).slice(0, 4);
  return [
    gauge(why),
    el("div", { class: "candidates" }, el("h3", {}, why.candidates.length ? "Candidates" : "No candidate was found."), why.candidates.map((one) => candidate(one, why.kb_id))),
    parts.length > 0 && el("p", { class: "difference" }, "Why the first leads the second: ",
      parts.map(([name, value]) => el("span", { class: "chip number" }, `${PARTS[name] ?? name.replace("_unseen", " (unseen form)").replaceAll("_", " ")} ${value > 0 ? "+" : "−"}${Math.abs(value).toFixed(2)}`))),
  ];
}

function candidate(one, answer) {
  const f = one.features;
  const rows = [];
  const add = (name, ...value) => rows.push(el("dt", {}, name), el("dd", { class: "number" }, ...value));
  if (one.nearest_name) add("Nearest name", one.nearest_name, one.name_cosine === null ? "" : `, cosine ${show(one.name_cosine)}`);
  if (one.learned) add("Correction", `${one.learned}: ${quoted(one.nearest_mention)}, cosine ${show(one.mention_cosine)}`);
  else if (one.mention_cosine !== null) add("Nearest mention", `in annotated text, cosine ${show(one.mention_cosine)}`);
  if (f.exact !== undefined) add("Named by", f.exact ? "the mention itself" : f.formula ? "the name of the chemical that the mention writes in symbols" : f.variant ? "a variant of the mention, such as its plural" : f.derivation ? "a noun that the mention derives from" : f.abbreviation ? "a long form of the mention in other texts" : "none of its names");
  if (f.prior !== undefined) add("Prior", f.seen ? `${percent(f.prior)} of the annotated uses of this form` : "form not seen in annotated text");
  if (f.edit !== undefined) add("Spelling", `${percent(f.edit)} alike`);
  if (one.ranker_score !== null) add("Ranker", show(one.ranker_score, 2));
  const card = el("div", { class: "entity" });
  const load = async (event) => {
    if (!event.target.open || card.childNodes.length || one.id === answer) return; // the answer is shown above
    await act(null, async () => {
      const entity = await entityOf(one.id);
      card.replaceChildren(el("p", {}, link(entity)), ...entityCard(entity));
    });
  };
  return el("details", { "data-id": one.id, ontoggle: load },
    el("summary", {},
      el("span", { class: "name" }, one.name),
      el("span", { class: "about" }, el("span", { class: "id" }, one.id), " ", one.type_names.join(" · ")),
      el("span", { class: "score number" }, show(one.score), bar(one.score)),
    ),
    el("dl", { class: "evidence" }, rows),
    card,
  );
}

async function showEntity(id) {
  await act(null, async () => {
    const entity = await entityOf(id);
    state.chosen = null;
    for (const node of $("linked").querySelectorAll('[aria-pressed="true"]')) node.setAttribute("aria-pressed", "false");
    openDetails(title(entity.name), el("p", {}, link(entity)), el("div", { class: "entity whole" }, entityCard(entity)));
    $("details").focus({ preventScroll: true });
  });
}

// -- correcting ---------------------------------------------------------------------------------

function choice(value, name, note, { checked = false } = {}) {
  return el("label", { class: "choice" },
    el("input", { type: "radio", name: "right", value, checked }),
    el("span", {}, name, el("small", { class: note === value ? "id" : null }, note)),
  );
}

function showCorrecting(number, why) {
  const options = why.candidates.filter((one) => one.id !== why.kb_id).slice(0, 5).map((one) => choice(one.id, one.name, one.id));
  if (why.kb_id !== NIL) options.push(choice(NIL, "NIL", "not in the knowledge base"));
  const list = el("div", { id: "options" }, options);
  const found = el("ul", { class: "found", "aria-label": "Entities found" });
  const pick = (entity) => {
    const known = [...list.querySelectorAll("input")].find((input) => input.value === entity.id);
    if (known) known.checked = true;
    else list.prepend(choice(entity.id, entity.name, entity.id, { checked: true }));
    input.value = "";
    list.querySelector(":checked").focus();
  };
  const input = el("input", { type: "search", id: "other", maxlength: "200", placeholder: "Search another entity by name", "aria-label": "Search another entity by name", autocomplete: "off" });
  searching(input, found, pick);
  const by = el("input", { maxlength: "200", value: state.by, autocomplete: "name" });
  by.addEventListener("input", () => { state.by = by.value; });
  const always = el("input", { type: "checkbox" });
  const learn = el("button", { class: "primary", type: "submit" }, "Learn");
  const cancel = el("button", { type: "button", onclick: () => { showWhy(number, why); $("correct").focus(); } }, "Cancel");
  const form = el("form", { onsubmit: (event) => {
    event.preventDefault();
    const right = list.querySelector(":checked");
    if (!right) say("Choose the right answer first.", { problem: true });
    else act(learn, () => correct(number, right.value, always.checked));
  } },
    el("fieldset", {}, el("legend", {}, `What is ${quoted(state.mentions[number].text)} here?`), list),
    el("div", { class: "other" }, input, found),
    el("label", { class: "choice" }, always, el("span", {}, "Always", el("small", {}, "in all texts, whatever annotated text says"))),
    el("label", { class: "by" }, "Your name, for the log", by),
    el("div", { class: "actions" }, learn, cancel),
  );
  $("body").replaceChildren(form);
  $("correct").disabled = true;
  (list.querySelector("input") ?? input).focus();
}

/** Where a correction decides, and how many of its form agree with it. */
function reach(one) {
  const rival = one.rival ? `annotated text names ${one.rival_name ?? one.rival} ${one.n_rival.toLocaleString("en")} times` : "another correction decides always";
  const where = { always: "always", elsewhere: "in other texts, too", here: `in its own text only: ${rival}`, nowhere: "not in effect" };
  return `${where[one.decides]}${one.n_corrections > 1 ? ` · ${one.n_agreeing} of ${one.n_corrections} agree` : ""}`;
}

async function correct(number, id, always) {
  const one = state.mentions[number];
  const given = { text: state.text, start: one.start, end: one.end, kb_id: id, label: one.label, id: state.doc, always };
  const memory = await api("learn", { corrections: [given], by: state.by.trim() });
  for (const learned of memory.changed) state.given.push({ ...given, learned: learned.id });
  showMemory(memory);
  const n = await linkText({ changed: true });
  await chooseAgain(one); // moves the focus: before there is a button to press
  const last = memory.changed[memory.changed.length - 1];
  if (last) {
    const answer = last.after === NIL ? "NIL" : last.after_name ?? last.after;
    say(`Learned: ${quoted(last.text)} is ${answer}, ${reach(last)}. ${plural(n, "mention")} changed in this text.`, { button: undoButton(last) });
  } else say("This was learned before.");
}

async function chooseAgain(one) {
  const number = state.mentions.findIndex((other) => other.start === one.start && other.end === one.end);
  if (number >= 0) await choose(number);
  else closeDetails();
}

function undoButton(learned) {
  const button = el("button", { class: "small", type: "button", "aria-label": `Undo correction ${learned.id}` }, "Undo");
  button.addEventListener("click", () => act(button, () => undo(learned)));
  return button;
}

async function undo(learned) {
  const chosen = state.chosen === null ? null : state.mentions[state.chosen];
  const memory = await api("unlearn", { ids: [learned.id], by: state.by.trim() });
  state.given = state.given.filter((one) => one.learned !== learned.id);
  showMemory(memory);
  const n = state.text ? await linkText({ changed: true }) : 0;
  if (chosen) await chooseAgain(chosen);
  say(`Undone: correction ${learned.id} of ${quoted(learned.text)}. ${state.text ? `${plural(n, "mention")} changed in this text.` : ""}`);
}

function showMemory(memory) {
  $("memory").hidden = !memory.learned.length;
  $("memory-note").textContent = memory.saved
    ? "Saved in the pipeline."
    : "Those made here are lost when the server stops. Start it with --save to keep them, or download those of this page for spacy-pel teach.";
  $("download").hidden = memory.saved || !state.given.length;
  $("corrections").replaceChildren(...memory.learned.slice().reverse().map((one) => {
    const answer = one.after === NIL ? "NIL" : `${one.after_name ?? ""} ${one.after}`;
    const before = one.before === NIL ? "NIL" : `${one.before_name ?? ""} ${one.before}`;
    const who = one.by ? ` · ${one.by}` : "";
    return el("li", {}, el("span", {}, el("b", {}, one.text), ` → ${answer}`, el("small", {}, `${reach(one)} · was ${before} · ${one.at.slice(0, 10)}${who}`)), undoButton(one));
  }));
}

function downloadCorrections() {
  download("corrections.jsonl", jsonLines(state.given.map(({ learned, ...one }) => one)));
}

// -- what the user does -------------------------------------------------------------------------

async function openFile(file) {
  if (!file) return;
  const most = state.limits.max_chars ?? Infinity;
  if (file.size > 4 * most) return say(`${file.name} is too long: at most ${most.toLocaleString("en")} characters.`, { problem: true });
  $("text").value = (await file.text()).replace(/^\ufeff/, "");
  state.file = file.name; // the document, in the log of corrections
  showLength();
  await act($("link"), linkText);
}

$("link").addEventListener("click", () => act($("link"), linkText));
$("text").addEventListener("input", () => { state.file = ""; showLength(); });
$("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); act($("link"), linkText); }
});
$("example").addEventListener("click", () => { $("text").value = EXAMPLE; state.file = ""; showLength(); act($("link"), linkText); });
$("open").addEventListener("click", () => $("file").click());
$("file").addEventListener("change", (event) => { openFile(event.target.files[0]); event.target.value = ""; });
$("text").addEventListener("dragover", (event) => { event.preventDefault(); $("text").classList.add("over"); });
$("text").addEventListener("dragleave", () => $("text").classList.remove("over"));
$("text").addEventListener("drop", (event) => {
  $("text").classList.remove("over");
  if (event.dataTransfer.files.length) { event.preventDefault(); openFile(event.dataTransfer.files[0]); }
});
$("download").addEventListener("click", downloadCorrections);
for (const button of $("export").querySelectorAll("button")) {
  button.addEventListener("click", () => act(button, () => exportLinks(button.dataset.format)));
}

const mentionOf = (event) => event.target.closest?.(".mention") ?? null;
$("linked").addEventListener("click", (event) => {
  const node = mentionOf(event);
  if (node) act(null, () => choose(Number(node.dataset.number), { focus: false }));
});
$("linked").addEventListener("keydown", (event) => {
  const node = mentionOf(event);
  if (!node) return;
  if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(null, () => choose(Number(node.dataset.number))); }
  if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
    event.preventDefault();
    const all = [...$("linked").querySelectorAll(".mention")];
    all[all.indexOf(node) + (event.key === "ArrowRight" ? 1 : -1)]?.focus();
  }
});
for (const name of ["mouseover", "focusin"]) $("linked").addEventListener(name, (event) => { const node = mentionOf(event); if (node) showTip(node); });
for (const name of ["mouseout", "focusout"]) $("linked").addEventListener(name, hideTip);
addEventListener("scroll", hideTip, { passive: true });
addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  hideTip();
  if ($("details").classList.contains("chosen")) { const number = closeDetails(); if (number !== null) mentionElement(number)?.focus(); }
});

const clearFound = searching($("q"), $("found"), (one) => showEntity(one.id));
$("search").addEventListener("submit", (event) => event.preventDefault());
addEventListener("click", (event) => { if (!event.target.closest("#search")) clearFound(); });

act(null, start);
