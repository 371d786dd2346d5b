// The annotation page: shows one entry at a time, asks about it, and hands the answers to a store.
// It reads texts and never makes markup of them.
const at = (id) => document.getElementById(id);
const packet = JSON.parse(at("packet").textContent);
const items = packet.entries.map((entry) => entry.name);
const articles = [...document.querySelectorAll("article")];
const dots = [...at("strip").children];
const annotator = location.hash.slice(1);  // it stands in the address: a reload keeps to it
const key = (item, field) => `${item}/${field}`;

const store = openStore(packet.digest, annotator);

let kept = new Map();       // what the store has: key -> value
let strange = 0;            // how much of it is no answer to this page
const unsaved = new Map();  // what it has not confirmed yet: key -> { item, field, value }
let trouble = "";           // why it does not
let exported = false;       // the export holds what is unsaved
let told = "";              // what the last export held
let ready = false;          // the store was read once
let place = 0;
let last = null;            // the place of the answer given last
let view = "";              // the entry and the question on screen

// --- What is answered ------------------------------------------------------------------------

function value(item, field) {
  const change = unsaved.get(key(item, field));
  return (change ? change.value : kept.get(key(item, field))) ?? null;
}

// The questions that an entry raises by now: each but the first only after a yes.
function asked(item) {
  const no = packet.questions.findIndex(({ field }) => value(item, field) !== packet.answers[0].value);
  return no < 0 ? packet.questions : packet.questions.slice(0, no + 1);
}

const complete = (item) => value(item, asked(item).at(-1).field) !== null;
const confirmed = (item) => complete(item) && !asked(item).some(({ field }) => unsaved.has(key(item, field)));

function known({ item, field, value }) {
  if (!items.includes(item)) return false;
  if (field === "note") return typeof value === "string";
  const question = packet.questions.some((each) => each.field === field);
  return question && packet.answers.some((each) => each.value === value);
}

// --- Keeping it ------------------------------------------------------------------------------

let reading = Promise.resolve();

// Reads what the store has; one reading after the other, so that the newest counts.
function refresh() {
  reading = reading.catch(() => {}).then(async () => {
    const rows = await store.load();
    kept = new Map(rows.filter(known).map(({ item, field, value }) => [key(item, field), value]));
    strange = rows.length - kept.size;
    if (!unsaved.size) trouble = "";
  });
  return reading;
}

// Shows changes as unsaved until the store has confirmed them and gives them back.
async function save(changes) {
  for (const change of changes) unsaved.set(key(change.item, change.field), change);
  exported = false;
  told = "";
  const sent = [...unsaved];  // with those that failed before
  try {
    await store.put(sent.map(([, change]) => change));
    await refresh();
    for (const [name, change] of sent) if (unsaved.get(name) === change) unsaved.delete(name);
    trouble = "";
  } catch (error) {
    trouble = error.message;
  }
  draw();
}

// --- Showing it ------------------------------------------------------------------------------

function draw() {
  const item = items[place];
  const question = asked(item).at(-1);
  const answer = value(item, question.field);
  if (view !== key(item, question.field)) turnTo(item, question);
  at("question").textContent = `${place + 1}. ${question.ask}`;
  for (const button of at("answers").children) {
    button.setAttribute("aria-pressed", button.dataset.value === answer);
  }
  if (document.activeElement !== at("note")) at("note").value = value(item, "note") ?? "";
  dots.forEach(drawDot);
  drawProgress();
  at("alert").textContent = [
    trouble && `${trouble} What you answer is in this page only: export it before you close the page.`,
    strange && `${strange} kept records are no answers to this page and are not shown.`,
  ].filter(Boolean).join(" ");
}

function drawDot(dot, index) {
  const item = items[index];
  const [first] = packet.questions;
  const answer = packet.answers.find((each) => each.value === value(item, first.field));
  const state = !answer ? "open" : !complete(item) ? "half" : confirmed(item) ? "kept" : "unsaved";
  dot.dataset.answer = answer?.key ?? "";
  dot.dataset.state = state;
  dot.setAttribute("aria-label", `${item}: ${answer?.label ?? ""} ${state}`);
  dot.setAttribute("aria-current", index === place);
}

function progress() {
  if (!ready) return "reading what is kept …";
  const done = `${items.filter(confirmed).length} of ${items.length} answered`;
  const waiting = new Set([...unsaved.values()].map((change) => change.item)).size;
  if (!waiting) return done;
  return trouble ? `${done}, ${waiting} in this page only` : `${done}, saving ${waiting} …`;
}

const unanswered = () => items.filter((item) => !complete(item)).length;

function drawProgress() {
  const left = unanswered();
  at("done").textContent = `${annotator}: ${progress()}`;
  at("finished").textContent = told || (left ? "" : `All ${items.length} are answered: export them now.`);
  at("export").classList.toggle("due", !left);
  at("unread").disabled = !left;
  at("previous").disabled = place === 0;
  at("next").disabled = place === items.length - 1;
}

// Opens an entry's text where the question is: at its evidence or its end, or at its start.
function turnTo(item, question) {
  const turned = !view.startsWith(`${item}/`);
  view = key(item, question.field);
  articles.forEach((article, index) => article.classList.toggle("shown", index === place));
  const text = articles[place].querySelector(".seam-text");
  if (turned) text.focus({ preventScroll: true });  // so that the arrows and Page Down scroll it
  const evidence = text.querySelector("mark");
  const middle = evidence && evidence.offsetTop - text.offsetTop - text.clientHeight / 2;
  text.scrollTop = question.opens === "start" ? 0 : middle ?? text.scrollHeight;
  dots[place].scrollIntoView({ block: "nearest", inline: "center" });
}

// --- What an annotator does ------------------------------------------------------------------

function go(to) {
  place = Math.min(Math.max(to, 0), items.length - 1);
  history.replaceState(items[place], "");  // a reload comes back to it, and each tab has its own
  draw();
}

function goUnread() {
  const order = [...items.slice(place + 1), ...items.slice(0, place + 1)];
  const open = order.find((item) => !complete(item));
  if (open) go(items.indexOf(open));
}

function answer(chosen) {
  const item = items[place];
  const questions = asked(item);
  const later = packet.questions.slice(questions.length).filter(({ field }) => value(item, field) !== null);
  last = place;
  save([
    { item, field: questions.at(-1).field, value: chosen },
    ...later.map(({ field }) => ({ item, field, value: null })),
  ]);
  if (complete(item)) goUnread();
  draw();
}

// Takes back what this entry was answered last; if it was not yet, what was answered just before.
function takeBack() {
  const given = (item) => asked(item).findLast(({ field }) => value(item, field) !== null);
  if (!given(items[place]) && last !== null) go(last);
  const question = given(items[place]);
  if (question) save([{ item: items[place], field: question.field, value: null }]);
  draw();
}

function note() {
  save([{ item: items[place], field: "note", value: at("note").value.trim() || null }]);
  draw();
}

// --- The export ------------------------------------------------------------------------------

function rowOf({ name, cells }) {
  const fields = [...asked(name).map(({ field }) => field), "note"];
  const given = Object.fromEntries(fields.map((field) => [field, value(name, field)]));
  const row = { ...cells, annotator, ...given };
  return packet.columns.map((column) => quoted(`${row[column] ?? ""}`)).join(",");
}

const quoted = (cell) => /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;

function exportAnswers() {
  const rows = packet.entries.filter(({ name }) => complete(name) || value(name, "note"));
  const lines = [packet.columns.join(","), ...rows.map(rowOf), ""];
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([lines.join("\n")], { type: "text/csv" }));
  link.download = `${packet.name}-${annotator}.csv`;
  link.click();
  exported = true;
  const left = unanswered();
  told = `Exported ${rows.length} rows as ${link.download}.${left ? ` ${left} are not answered yet.` : ""}`;
  draw();
}

// --- Keys and buttons ------------------------------------------------------------------------

const keys = {
  j: () => go(place + 1), ArrowRight: () => go(place + 1),
  k: () => go(place - 1), ArrowLeft: () => go(place - 1),
  r: goUnread,
  z: takeBack,
  m: () => at("note").focus(),
  e: exportAnswers,
  "?": () => at("guide").showModal(),
};
for (const each of packet.answers) keys[each.key] = () => answer(each.value);

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || at("guide").open) return;
  if (event.target === at("note")) {
    if (["Enter", "Escape"].includes(event.key)) articles[place].querySelector(".seam-text").focus();
    return;
  }
  const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act) return;
  event.preventDefault();
  if (!event.repeat) act();  // a key held down answers once
}

function listen() {
  addEventListener("keydown", onKey);
  for (const button of at("answers").children) button.onclick = () => answer(button.dataset.value);
  dots.forEach((dot, index) => { dot.onclick = () => go(index); });
  const buttons = { previous: "k", next: "j", unread: "r", undo: "z", export: "e", help: "?" };
  for (const [id, name] of Object.entries(buttons)) at(id).onclick = keys[name];
  at("note").oninput = note;
  at("leave").onclick = () => { location.hash = ""; };
  addEventListener("beforeunload", (event) => {
    if (unsaved.size && !exported) event.preventDefault();
  });
}

async function work() {
  document.documentElement.classList.add("working");
  draw();
  const failed = (error) => { trouble = error.message; };
  await refresh().catch(failed);
  ready = true;
  place = Math.max(0, items.indexOf(history.state));
  if (history.state === null && complete(items[place])) goUnread();
  listen();
  store.watch(() => refresh().catch(failed).then(draw));
  draw();
}

document.documentElement.classList.add("js");
addEventListener("hashchange", () => location.reload());
document.querySelector("#start form").onsubmit = (event) => {
  event.preventDefault();
  location.hash = at("annotator").value;
};
const begun = /^[A-Za-z0-9_\-]{1,20}$/.test(annotator) ? work() : at("annotator").focus();
Promise.resolve(begun).then(() => document.body.setAttribute("aria-busy", "false"));
