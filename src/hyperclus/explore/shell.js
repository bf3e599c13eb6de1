"use strict";
// The form, the progress and the frame with the result. Text of the data is only ever set as textContent.
(() => {
  const byId = (id) => document.getElementById(id);
  const form = byId("form");
  const narrow = matchMedia("(max-width: 820px)");
  const INTERVAL = 250; // milliseconds between looks at a run
  let shown = 0; // number of the result in the frame
  let last = null;

  // ---- form ---------------------------------------------------------------------------------

  // A part that does not apply is hidden and disabled, so that its values are not sent.
  const update = () => {
    for (const part of form.querySelectorAll("[data-when]")) {
      const [name, value] = part.dataset.when.split("=");
      const applies = byId(name).value === value;
      part.hidden = !applies;
      if (part.matches("fieldset")) part.disabled = !applies;
      else for (const control of part.querySelectorAll("select")) control.disabled = !applies;
    }
    const roles = ["id", "label"].map((name) => byId(name)?.value); // such columns are no features
    for (const box of form.querySelectorAll("[name=use]")) box.disabled = roles.includes(box.value) && box.value !== "";
  };
  const values = () => {
    const found = {};
    for (const [name, value] of new FormData(form)) (found[name] ??= []).push(value);
    if (form.querySelector("[name=use]")?.matches(":not([hidden] *)")) found.use ??= []; // none is checked
    return found;
  };
  const fold = (folded) => {
    document.body.classList.toggle("folded", folded);
    byId("fold").setAttribute("aria-expanded", String(!folded));
  };
  form.addEventListener("change", update);
  byId("fold").addEventListener("click", () => fold(!document.body.classList.contains("folded")));

  // ---- server -------------------------------------------------------------------------------

  const ask = async (path, body) => {
    const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    let answer;
    try {
      answer = await fetch(path, options);
    } catch {
      throw new Error("The page has no connection to hyperclus; start hyperclus explore again.");
    }
    const text = await answer.text();
    let record;
    try {
      record = JSON.parse(text);
    } catch {
      throw new Error(text); // a sentence
    }
    if (!answer.ok) throw new Error(record.error);
    return record;
  };
  const fail = (message) => {
    byId("error").textContent = message ?? "";
    byId("error").hidden = !message;
    if (message) fold(false);
  };
  const say = (text) => {
    if (byId("live").textContent !== text) byId("live").textContent = text;
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    fail();
    try {
      await ask("/run", values());
      await follow();
    } catch (error) {
      fail(error.message);
    }
  });
  byId("cancel").addEventListener("click", async () => {
    byId("cancel").disabled = true;
    try {
      await ask(`/cancel/${last.number}`, {});
    } catch (error) {
      fail(error.message);
    }
  });

  // ---- progress and result ------------------------------------------------------------------

  let following = null;
  const follow = () => (following ??= watch().finally(() => (following = null)));
  const watch = async () => {
    for (;;) {
      const state = await ask("/state");
      const ended = show(state);
      if (ended) return;
      await new Promise((resolve) => setTimeout(resolve, INTERVAL));
    }
  };

  const show = (state) => {
    last = state;
    byId("progress").hidden = !state.running;
    byId("run").disabled = state.running;
    byId("cancel").disabled = state.cancelling;
    if (state.running) {
      const bar = byId("bar");
      if (state.share === null) bar.removeAttribute("value");
      else bar.value = state.share;
      byId("stage").textContent = state.cancelling ? "cancelling" : state.stage;
      byId("note").textContent = [`${Math.floor(state.seconds)} s`, state.note].filter(Boolean).join(", ");
      say(state.cancelling ? "Cancelling." : `Running: ${state.stage}.`);
      return false;
    }
    fail(state.error);
    if (state.result) showResult(state.result);
    if (state.cancelled) say("Cancelled.");
    else if (state.result && !state.error) say(`Done: ${state.result.heading}.`);
    else say("");
    byId("heading").textContent = state.cancelled ? "Cancelled." : state.result && state.result.heading;
    return true;
  };

  const showResult = (result) => {
    for (const note of document.querySelectorAll("[data-column]")) {
      note.textContent = Object.hasOwn(result.columns, note.dataset.column) ? result.columns[note.dataset.column] : "";
    }
    byId("notes").hidden = !result.notes.length;
    byId("notes").querySelector("summary").textContent = result.notes.length === 1 ? "1 note" : `${result.notes.length} notes`;
    byId("notes").querySelector("ul").replaceChildren(
      ...result.notes.map((note) => {
        const item = document.createElement("li");
        item.textContent = note;
        return item;
      }),
    );
    byId("saving").hidden = byId("result").hidden = !result.hasPage;
    byId("empty").hidden = result.hasPage;
    if (!result.hasPage || result.number === shown) return;
    shown = result.number;
    byId("save").href = `/result/${shown}/save`;
    byId("table").href = `/result/${shown}/table`;
    byId("table").hidden = !result.hasTable;
    byId("result").src = `/result/${shown}`;
    if (narrow.matches) fold(true);
  };

  update();
  follow().catch((error) => fail(error.message));
})();
