// ---- the data, and what all parts of the page share ------------------------------------------
// The files of this folder are joined into one function, so they share their names.

const root = document.documentElement;
const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
const byId = (id) => document.getElementById(id);
const pristine = root.outerHTML; // before any script changes the page; names are saved into a copy of it
const data = JSON.parse(byId("data").textContent);
const { nouns, charts } = data;

const listeners = {};
// Events are "level" (its description), "choose" (a group or -1), "names", "theme" and "point" (of the embedding).
const on = (event, listener) => (listeners[event] ??= []).push(listener);
const emit = (event, ...values) => Promise.all((listeners[event] ?? []).map((listener) => listener(...values)));

let position = data.main; // of the level that is shown
const level = () => data.levels[position];
const saved = JSON.parse(byId("names").textContent); // names and number of groups, in a copy that a reader saved
const names = saved.names ?? {}; // by node of the tree
const nodeOf = (id) => level().nodes[level().ids.indexOf(id)];
const groupName = (id) => names[nodeOf(id)] ?? level().names[level().ids.indexOf(id)] ?? "";

const formatNumber = (value) =>
  value === 0 ? "0" : Math.abs(value) < 1e-4 ? value.toExponential(2) : String(+value.toPrecision(4));
const formatCount = (value) => value.toLocaleString("en-US");

const element = (tag, className, ...children) => {
  const made = Object.assign(document.createElement(tag), { className });
  made.append(...children);
  return made;
};
const announce = (text) => (byId("announcement").textContent = text);

const showTooltip = (event, texts) => {
  const box = byId("tip");
  box.hidden = !texts;
  if (!texts) return;
  box.replaceChildren(...texts.map((text) => element("p", "", text)));
  const { width, height } = box.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, innerWidth - width - 10);
  const top = event.clientY + 16 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 16;
  box.style.transform = `translate(${Math.max(6, left)}px, ${Math.max(6, top)}px)`;
};
