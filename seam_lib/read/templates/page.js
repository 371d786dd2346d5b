// The page's only script: it shows one specimen at a time and keeps its state in the address.
// What it knows of a specimen stands in the page's rows: a name, and the values it is chosen by. What
// it shows is the article that the template wrote; it never makes markup of a text itself.
"use strict";
const byId = (id) => document.getElementById(id);
const form = document.querySelector("form[role=search]");
const fields = [...form.elements].filter((field) => field.name);
const rows = JSON.parse(byId("rows").textContent);
const articles = byId("articles").textContent.split("</article>");
rows.forEach((row, place) => { row.article = articles[place]; });
let fitting = rows;
let shown = null;

function made(row) {
  const template = document.createElement("template");
  template.innerHTML = row.article;
  return template.content;
}

function fits(row) {
  return fields.every(({ name, value }) => {
    if (!value) return true;
    if (name !== "text") return row[name] === value;
    row.text ??= made(row).textContent.toLowerCase(); // when first searched
    return row.text.includes(value.toLowerCase());
  });
}

// The one place where the page changes with the specimen.
function show(row) {
  shown = row || null;
  const reading = byId("reading");
  reading.replaceChildren(shown ? made(shown) : "");
  for (const box of reading.querySelectorAll(".seam-text")) {
    const evidence = box.querySelector("mark");
    if (evidence) box.scrollTop = evidence.offsetTop - box.offsetTop - box.clientHeight / 2;
  }
  byId("heading").textContent = reading.querySelector("h2")?.textContent;
  byId("empty").hidden = shown !== null;
  byId("place").textContent = shown
    ? `${fitting.indexOf(shown) + 1} of ${fitting.length}` +
      (fitting.length < rows.length ? ` (${rows.length} in all)` : "")
    : `none of ${rows.length}`;
  for (const id of ["previous", "next", "random"]) byId(id).disabled = fitting.length < 2;
  remember();
}

function step(by) {
  const count = fitting.length;
  if (!count) return;
  show(fitting[(fitting.indexOf(shown) + by + count) % count]);
  scrollTo(0, 0);
}

function random() {
  const others = fitting.filter((row) => row !== shown);
  if (!others.length) return;
  show(others[Math.floor(Math.random() * others.length)]);
  scrollTo(0, 0);
}

function search() {
  byId("filters").open = true;
  form.elements.text.focus();
}

// Keep the specimen in view if it still fits; else take the first that does.
function choose() {
  fitting = rows.filter(fits);
  show(fitting.includes(shown) ? shown : fitting[0]);
}

function clear() {
  for (const field of fields) field.value = "";
  choose();
}

function remember() {
  const state = new URLSearchParams();
  for (const field of fields) if (field.value) state.set(field.name, field.value);
  if (shown) state.set("specimen", shown.id);
  history.replaceState(null, "", `#${state}`);
}

function recall() {
  const state = new URLSearchParams(location.hash.slice(1));
  for (const field of fields) {
    field.value = state.get(field.name) || "";
    if (field.selectedIndex === -1) field.value = ""; // no such choice
  }
  shown = rows.find((row) => row.id === state.get("specimen")) || null;
  choose();
}

const keys = {
  j: () => step(1), ArrowRight: () => step(1),
  k: () => step(-1), ArrowLeft: () => step(-1),
  r: random,
  "/": search,
  "?": () => byId("keys").showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
  if (event.target.matches("input, select")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
form.addEventListener("input", choose);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", (event) => { event.preventDefault(); clear(); });
byId("again").addEventListener("click", clear);
byId("previous").addEventListener("click", () => step(-1));
byId("next").addEventListener("click", () => step(1));
byId("random").addEventListener("click", random);
byId("help").addEventListener("click", () => byId("keys").showModal());
addEventListener("hashchange", recall);
byId("filters").open = matchMedia("(min-width: 48rem)").matches;
recall();
