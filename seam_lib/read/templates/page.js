// The page's only script: it shows one of the articles below and keeps its state in the address.
// It reads texts and never makes markup of them.
"use strict";
const form = document.querySelector("form[role=search]");
const fields = [...form.elements].filter((field) => field.name);
const articles = [...document.querySelectorAll("article")];
const texts = new Map(); // lower-case texts, filled when first searched
const byId = (id) => document.getElementById(id);
let fitting = articles;
let shown = null;

function textOf(article) {
  if (!texts.has(article)) texts.set(article, article.textContent.toLowerCase());
  return texts.get(article);
}

function fits(article) {
  return fields.every((field) => {
    const value = field.value;
    if (field.name === "text") return textOf(article).includes(value.toLowerCase());
    return !value || article.dataset[field.name] === value;
  });
}

function show(article) {
  if (shown) shown.classList.remove("shown");
  shown = article || null;
  if (shown) {
    shown.classList.add("shown");
    for (const box of shown.querySelectorAll(".seam-text")) {
      const evidence = box.querySelector("mark");
      if (evidence) box.scrollTop = evidence.offsetTop - box.offsetTop - box.clientHeight / 2;
    }
  }
  byId("heading").textContent = shown ? shown.querySelector("h2").textContent : "";
  byId("empty").hidden = shown !== null;
  const place = fitting.indexOf(shown) + 1;
  byId("place").textContent = shown
    ? `${place} of ${fitting.length}` +
      (fitting.length < articles.length ? ` (${articles.length} in all)` : "")
    : `none of ${articles.length}`;
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
  const others = fitting.filter((article) => article !== shown);
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
  fitting = articles.filter(fits);
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
  shown?.classList.remove("shown");
  shown = articles.find((article) => article.id === state.get("specimen")) || null;
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
document.documentElement.classList.add("js");
byId("filters").open = matchMedia("(min-width: 48rem)").matches;
recall();
