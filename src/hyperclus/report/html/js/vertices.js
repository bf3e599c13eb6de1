// ---- one vertex or hyperedge: the panel, and the search -------------------------------------------------

// The compressed data, decoded when they are first needed.
let decoding = null;
const lookup = () => (decoding ??= unpack("lookup").then(prepare));
const unpack = async (id) => {
  const bytes = Uint8Array.from(atob(byId(id).textContent), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
};
const prepare = (found) => {
  const { vertices, edges } = found;
  const sums = (values) => values.reduce((all, value) => (all.push(all[all.length - 1] + value), all), [0]);
  const undo = (differences, starts) => {
    let last = 0;
    let run = 0;
    return differences.map((value, i) => {
      while (starts && run < starts.length && starts[run] <= i) if (starts[run++] === i) last = 0;
      return (last += value);
    });
  };
  vertices.starts = sums(vertices.counts);
  vertices.edges = undo(vertices.edges, vertices.starts);
  edges.starts = sums(edges.cells);
  edges.leaf = undo(edges.leaf, edges.starts);
  vertices.points = undo(vertices.points);
  for (const some of [vertices, edges]) {
    some.positions = undo(some.positions);
    some.at = new Map(some.positions.map((place, i) => [place, i]));
    some.lower = some.names.map((name) => name.toLowerCase());
  }
  // The members of each hyperedge that are known, the largest weight first.
  edges.members = edges.names.map(() => []);
  const weights = vertices.onward ?? vertices.weights;
  vertices.counts.forEach((_, v) => {
    for (let i = vertices.starts[v]; i < vertices.starts[v + 1]; i++) edges.members[vertices.edges[i]].push([v, weights[i]]);
  });
  edges.members.forEach((members) => members.sort((a, b) => b[1] - a[1]));
  return found;
};

// What the level in view says about a vertex or hyperedge; shares of its groups are sums over the leaves.
const groupOf = (vertices, v) => (vertices.leaf[v] < 0 ? -1 : level().ofLeaf[vertices.leaf[v]]);
const groupSize = (id) => level().sizes[level().ids.indexOf(id)];
const groupsOfEdge = (edges, e) => {
  const found = new Map();
  for (let i = edges.starts[e]; i < edges.starts[e + 1]; i++) {
    const id = level().ofLeaf[edges.leaf[i]];
    const sum = found.get(id) ?? { id, share: 0, count: 0 };
    sum.share += edges.share[i] / data.about.scale;
    sum.count += edges.count[i];
    found.set(id, sum);
  }
  return [...found.values()].sort((a, b) => b.share - a.share);
};
// The hyperedges of a vertex. Shares are those of the other members; the contribution is the probability that
// the walk picks the hyperedge, times the lead of the own group over the best other one.
const reasonsFor = ({ vertices, edges }, v) => {
  const own = groupOf(vertices, v);
  const found = [];
  for (let i = vertices.starts[v]; i < vertices.starts[v + 1]; i++) {
    const e = vertices.edges[i];
    const itself = vertices.weights[i] / data.about.scale;
    const others = Math.max(1 - itself, 0);
    const alone = edges.sizes[e] < 2 || others < 1e-9;
    const groups = groupsOfEdge(edges, e);
    const share = (id) => groups.find((group) => group.id === id)?.share ?? 0;
    const rival = groups.find(({ id }) => id !== own);
    const mine = alone ? 0 : Math.min(Math.max((share(own) - itself) / others, 0), 1);
    const other = alone || !rival ? 0 : Math.min(rival.share / others, 1);
    const picked = vertices.picked[i] / data.about.scale;
    found.push({ e, alone, mine, other, rival: rival?.id ?? -1, picked, contribution: picked * (mine - other) });
  }
  return found.sort((a, b) => b.contribution - a.contribution);
};
const certaintyOf = ({ vertices }, v) => {
  const found = vertices.certainty[position];
  if (!found || found.sure[v] < 0) return null;
  return { sure: found.sure[v] / found.scale, next: found.next[v], outlier: found.outlier[v] };
};

const panel = (() => {
  const box = byId("why");
  const stack = []; // what was opened: ["vertex" or "edge", number]
  let opener = null;
  const percent = (share) => (share > 0 && share < 0.005 ? "< 1 %" : `${Math.round(100 * share)} %`);
  const words = (sure) => data.about.sureness.find(([least]) => sure >= least)[1];
  const capital = (text) => text[0].toUpperCase() + text.slice(1);
  const link = (kind, number, name) => {
    const button = Object.assign(element("button", "go", element("bdi", "", name)), { type: "button" });
    button.dataset.open = `${kind} ${number}`;
    return button;
  };
  const badge = (id) => {
    if (id < 0 || !level().ids.includes(id)) return element("span", "note", "no group");
    const button = element("button", `chooser ${colourClass(id)}`, element("span", "badge", element("i", ""), element("bdi", "", groupName(id))));
    button.type = "button";
    button.dataset.choose = id;
    button.setAttribute("aria-pressed", String(id === chosen));
    button.setAttribute("aria-label", groupName(id));
    return button;
  };
  const bars = (...parts) => {
    const picture = svg("svg", { class: "bar two", width: "100%", height: 6 * parts.length, "aria-hidden": "true" });
    parts.forEach(([share, id], i) => picture.append(svg("rect", { y: 6 * i, height: 5, width: `${100 * share}%`, class: `value ${colourClass(id)}` })));
    return picture;
  };
  const table = (head, rows) => {
    const cell = (tag) => (text, i) => element(tag, i ? "number" : "name", text);
    const made = element("table", "list", element("thead", "", element("tr", "", ...head.map(cell("th")))));
    made.append(element("tbody", "", ...rows.map((row) => element("tr", "", ...row.map(cell("td"))))));
    return element("div", "scroll", made);
  };
  const fold = (title, ...children) => element("details", "figures", element("summary", "", title), ...children);

  const evidence = (found, own) => ({ e, mine, other, rival }) => {
    const item = element("li", "", link("edge", e, found.edges.names[e]));
    const rest = rival < 0 ? "" : `, ${percent(other)} in ${groupName(rival)}`;
    item.append(element("p", "note", `${percent(mine)} of its other members are in ${groupName(own)}${rest}`), bars([mine, own], [other, rival]));
    return item;
  };
  const list = (items, make, most = 8) => {
    const parts = [element("ul", "evidence", ...items.slice(0, most).map(make))];
    if (items.length > most) parts.push(fold(`${formatCount(items.length - most)} more`, element("ul", "evidence", ...items.slice(most).map(make))));
    return parts;
  };
  const showVertex = (found, v) => {
    const { vertices, edges } = found;
    const own = groupOf(vertices, v);
    const parts = [];
    if (vertices.classOf) parts.push(element("p", "note", "Known class: ", element("bdi", "", vertices.classes[vertices.classOf[v]])));
    if (own < 0) return [element("p", "", `It is in no ${nouns.a_hyperedge}, so it is in no group.`), ...parts];
    parts.unshift(element("p", "in", "In ", badge(own)));
    const sure = certaintyOf(found, v);
    if (sure && level().k > 1) {
      const text = element("p", "how-sure", element("b", "", `${capital(words(sure.sure))}: ${percent(sure.sure)}.`));
      if (sure.next >= 0) text.append(" The next best is ", badge(sure.next));
      parts.push(text);
      if (sure.outlier) parts.push(element("p", "unusual", element("b", "", "Unusual. "), data.about.reasons[sure.outlier]));
    } else if (level().k > 1) {
      parts.push(element("p", "note", `How sure this is was computed for ${formatCount(data.levels[data.main].k)} groups, but not for ${formatCount(level().k)}, because of the size of the data.`));
    }
    const all = reasonsFor(found, v);
    const speaking = all.filter(({ alone }) => !alone);
    const pro = speaking.filter(({ contribution }) => contribution > 1e-6);
    const con = speaking.filter(({ contribution }) => contribution < -1e-6).reverse();
    parts.push(element("h3", "", `What speaks for ${groupName(own)}`));
    if (pro.length) parts.push(...list(pro, evidence(found, own)));
    else parts.push(element("p", "note", `None of its ${nouns.hyperedges} has more of its members here than in another group.`));
    if (con.length) parts.push(element("h3", "", "What speaks against it"), ...list(con, evidence(found, own)));
    const alone = all.length - speaking.length;
    if (alone) parts.push(element("p", "note", `${formatCount(alone)} of its ${nouns.hyperedges} ${alone === 1 ? "has" : "have"} no other member.`));
    if (all.length < vertices.degrees[v]) {
      parts.push(element("p", "note", `This page has ${formatCount(all.length)} of its ${formatCount(vertices.degrees[v])} ${nouns.hyperedges}, those with most influence.`));
    }
    const rows = all.map(({ e, picked, mine, other, contribution }) => [edges.names[e], ...[picked, mine, other].map((x) => (100 * x).toFixed(1)), contribution.toFixed(4)]);
    const meaning = `Weight is the probability that a step of the random walk from this ${nouns.a_vertex} goes through the ${nouns.a_hyperedge}; own and other are the shares of its other members in this group and in the best other one; the contribution is weight × (own − other).`;
    parts.push(fold("Figures for experts", element("p", "explain", meaning), table([nouns.a_hyperedge, "Weight %", "Own %", "Other %", "Contribution"], rows)));
    return parts;
  };
  const showEdge = ({ vertices, edges }, e) => {
    const groups = groupsOfEdge(edges, e);
    const size = edges.sizes[e];
    const parts = [element("p", "", `${formatCount(size)} ${size === 1 ? nouns.a_vertex : nouns.vertices}.`), element("h3", "", "In which groups they are")];
    const item = ({ id, share, count }) => {
      const covered = `${formatCount(count)}, which is ${percent(count / groupSize(id))} of this group`;
      return element("li", "", badge(id), element("p", "note", covered), bars([count / groupSize(id), id]));
    };
    parts.push(...list(groups, item));
    const members = edges.members[e];
    const person = ([v]) => element("li", "", link("vertex", v, vertices.names[v]), badge(groupOf(vertices, v)));
    parts.push(element("h3", "", "Members"));
    const equal = members.every(([, weight]) => weight === members[0][1]);
    if (!equal) parts.push(element("p", "explain", "Those with the largest weight come first."));
    parts.push(...list(members, person, 12));
    if (members.length < size) parts.push(element("p", "note", `This page does not have the names of ${formatCount(size - members.length)} more.`));
    const rows = groups.map(({ id, share, count }) => [groupName(id), formatCount(count), (100 * share).toFixed(1)]);
    parts.push(fold("Figures for experts", element("p", "explain", "The share is by weight in the random walk."), table(["Group", "Members", "Share %"], rows)));
    return parts;
  };

  const render = async () => {
    if (!stack.length) return;
    const [kind, number] = stack[stack.length - 1];
    const found = await lookup();
    byId("why-kind").textContent = kind === "vertex" ? nouns.a_vertex : nouns.a_hyperedge;
    byId("why-title").replaceChildren(element("bdi", "", (kind === "vertex" ? found.vertices : found.edges).names[number]));
    byId("why-body").replaceChildren(...(kind === "vertex" ? showVertex : showEdge)(found, number));
    byId("why-back").hidden = stack.length < 2;
    makeScrollable();
  };
  const open = async (kind, number) => {
    if (box.hidden) opener = document.activeElement;
    stack.push([kind, number]);
    try {
      await render();
    } catch (error) {
      stack.pop();
      announce("This browser cannot read the data of the page.");
      return;
    }
    box.hidden = false;
    root.classList.add("explains");
    box.scrollTop = 0;
    byId("why-title").focus({ preventScroll: true });
  };
  const close = () => {
    if (box.hidden) return;
    stack.length = 0;
    box.hidden = true;
    root.classList.remove("explains");
    if (opener?.isConnected) opener.focus({ preventScroll: true });
  };
  const back = async () => {
    stack.pop();
    await render();
    byId("why-title").focus({ preventScroll: true });
  };
  document.addEventListener("click", async ({ target }) => {
    const item = target.closest("[data-open], [data-vertex], [data-edge]");
    if (target.closest("#why-close")) close();
    if (target.closest("#why-back")) await back();
    if (!item) return;
    if (item.dataset.open) {
      const [kind, number] = item.dataset.open.split(" ");
      return open(kind, +number);
    }
    const kind = item.dataset.vertex === undefined ? "edge" : "vertex";
    const found = await lookup();
    const number = (kind === "vertex" ? found.vertices : found.edges).at.get(+item.dataset[kind]);
    if (number !== undefined) await open(kind, number);
  });
  document.addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Escape" || box.hidden || event.target.matches(".rename, input[type=search]:not(:placeholder-shown)")) return;
      event.stopPropagation(); // the chosen group stays
      close();
    },
    true,
  );
  for (const event of ["level", "names"]) on(event, render);
  on("point", async (i) => open("vertex", (await lookup()).vertices.points[i]));
  return { link, badge, percent };
})();

// ---- search ------------------------------------------------------------------------------------------------

{
  const MOST = 12;
  let asked = 0;
  // Equal names first, then names that start with the text, then names that contain it; vertices before hyperedges.
  const ranked = ({ vertices, edges }, wanted) => {
    const found = [[], [], []];
    for (const [kind, some] of [["vertex", vertices], ["edge", edges]]) {
      some.lower.forEach((name, i) => {
        const place = name.indexOf(wanted);
        if (place >= 0) found[name === wanted ? 0 : place ? 2 : 1].push([kind, i]);
      });
    }
    return found.flat();
  };
  const item = ({ vertices, edges }, [kind, i]) => {
    const [noun, names] = kind === "vertex" ? [nouns.a_vertex, vertices.names] : [nouns.a_hyperedge, edges.names];
    const made = element("li", "", panel.link(kind, i, names[i]), element("span", "kind", noun));
    if (kind === "vertex") {
      const group = groupOf(vertices, i);
      made.append(group < 0 ? element("span", "note", `in no ${nouns.a_hyperedge}, in no group`) : panel.badge(group));
      if (vertices.classOf) made.append(element("span", "note", element("bdi", "", `class ${vertices.classes[vertices.classOf[i]]}`)));
    } else {
      const [first] = groupsOfEdge(edges, i);
      const size = edges.sizes[i];
      made.append(element("span", "note", `${formatCount(size)} ${size === 1 ? nouns.a_vertex : nouns.vertices}, most in`), panel.badge(first.id));
    }
    return made;
  };
  const amount = (found, kind, one, many) => {
    const number = found.filter(([each]) => each === kind).length;
    return number ? [`${formatCount(number)} ${number === 1 ? one : many}`] : [];
  };
  const find = async () => {
    const wanted = byId("find").value.trim().toLowerCase();
    const turn = ++asked;
    const book = wanted ? await lookup() : null;
    if (turn !== asked) return; // the text has changed meanwhile
    const found = book ? ranked(book, wanted) : [];
    byId("found").replaceChildren(...found.slice(0, MOST).map((each) => item(book, each)));
    const counts = [...amount(found, "vertex", nouns.a_vertex, nouns.vertices), ...amount(found, "edge", nouns.a_hyperedge, nouns.hyperedges)];
    const rest = found.length > MOST ? ` The first ${MOST} are shown.` : "";
    byId("find-status").textContent = !wanted ? "" : found.length ? `Found ${counts.join(" and ")}.${rest}` : "Nothing has this name.";
  };
  byId("find").addEventListener("input", find);
  byId("find").addEventListener("keydown", (event) => {
    if (event.key === "Enter") document.querySelector("#found .go")?.click();
  });
  for (const event of ["level", "names"]) on(event, find);
}

// ---- the descriptions of groups --------------------------------------------------------------------------

{
  const inPlace = new Map(all(".who").map((item) => [item.dataset.who, item.querySelector(".who-body")]));
  const opened = new Set();
  const sourceOf = (node) => document.querySelector(`template[data-who="${node}"]`)?.content ?? inPlace.get(node);
  on("level", () => {
    all(".who").forEach((item) => {
      const target = item.querySelector(".who-body");
      const source = sourceOf(item.dataset.who);
      if (!target.firstElementChild && source) target.append(...[...source.childNodes].map((node) => document.importNode(node, true)));
      item.open = opened.has(item.dataset.who);
    });
    applyNames();
  });
  document.addEventListener(
    "toggle",
    ({ target }) => {
      if (!target.matches?.(".who")) return;
      if (target.open) opened.add(target.dataset.who);
      else if (target.isConnected) opened.delete(target.dataset.who);
      makeScrollable();
    },
    true,
  );
  // A chosen group opens.
  on("choose", (id) => id >= 0 && all(`.card[data-cluster="${id}"] .who`).forEach((item) => (item.open = true)));
}
