// ---- files to take away: tables as CSV, pictures as SVG and PNG -------------------------------------------

{
  const BOM = "\ufeff"; // so that Excel reads UTF-8
  // RFC 4180. A text that a spreadsheet would take for a formula gets an apostrophe in front; numbers stay.
  const cell = (value) => {
    if (value === null || value === undefined) return "";
    if (typeof value === "number") return String(value);
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csv = (head, rows) => BOM + [head, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
  const inLevel = (place, read) => {
    const before = position;
    position = place; // names are those of the level
    try {
      return read();
    } finally {
      position = before;
    }
  };
  const namesOf = (place) => inLevel(place, () => new Map(level().ids.map((id) => [id, groupName(id)])));
  const distinct = (column, others) => (others.includes(column) ? `${column}_id` : column);
  const fullName = (some, i) => some.full?.[i] ?? some.names[i];

  const tables = {
    labels({ vertices, labels }) {
      const some = labels ?? vertices;
      const main = namesOf(data.main);
      const certainty = labels ? labels.certainty : vertices.certainty[data.main];
      const head = ["group", "confidence", "next_group", "outlier", ...data.levels.map(({ k }) => `k${k}`)];
      const rows = some.leaf.map((leaf, i) => {
        const groups = data.levels.map(({ ofLeaf }) => (leaf < 0 ? -1 : ofLeaf[leaf]));
        const sure = certainty && certainty.sure[i] >= 0 ? certainty.sure[i] / certainty.scale : null;
        const next = certainty && certainty.next[i] >= 0 ? main.get(certainty.next[i]) : null;
        const reason = certainty?.outlier[i] ? data.about.reasons[certainty.outlier[i]] : null;
        return [fullName(some, i), leaf < 0 ? "" : main.get(groups[data.main]), sure, next, reason, ...groups];
      });
      return [[distinct(data.about.vertexColumn, head), ...head], rows, data.about.nVertices];
    },
    edges({ edges, volumes }) {
      const { ids, sizes } = data.levels[data.main];
      const main = namesOf(data.main);
      const total = sizes.reduce((sum, size) => sum + size, 0);
      const round = (value) => +value.toPrecision(6);
      const head = ["group", "share", "lift", "coverage", "coverage_rest", "members"];
      const rows = edges.names.map((_, e) => {
        const id = edges.nearest[e];
        const label = ids.indexOf(id);
        const size = sizes[label];
        const inside = inLevel(data.main, () => groupsOfEdge(edges, e)).find((group) => group.id === id)?.count ?? 0;
        const share = edges.nearestShare[e];
        const rest = total > size ? round((edges.sizes[e] - inside) / (total - size)) : null;
        return [fullName(edges, e), edges.clear[e] ? main.get(id) : "", share, round(share / volumes[label]), round(inside / size), rest, edges.sizes[e]];
      });
      return [[distinct(data.about.edgeColumn, head), ...head], rows, data.about.nEdges];
    },
    profile({ profile }) {
      const main = namesOf(data.main);
      const place = profile.columns.indexOf("cluster");
      const head = profile.columns.map((column) => (column === "cluster" ? "group" : column));
      return [head, profile.rows.map((row) => row.map((value, i) => (i === place ? main.get(value) : value))), profile.rows.length];
    },
  };
  const writeTable = async (key) => {
    const [head, rows, total] = tables[key]({ ...(await lookup()), ...(await unpack("files")) });
    const some = rows.length < total ? `-${rows.length}-of-${total}` : "";
    const name = `${data.fileName}-${key === "labels" ? "groups" : key}${some}.csv`;
    saveAs(name, "text/csv;charset=utf-8", csv(head, rows));
    byId("download-status").textContent = `${name}: ${formatCount(rows.length)} rows.`;
  };

  // ---- pictures ----
  const writeChart = async (view, kind) => {
    const before = view.background();
    view.background(colours().page);
    try {
      return kind === "svg" ? await view.toSVG() : await asBlob(await view.toCanvas(2));
    } finally {
      view.background(before);
    }
  };
  // A picture without Vega takes its colours from the style of the page, so they are copied into it.
  const PROPERTIES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "opacity", "font-family", "font-size", "font-weight"];
  const flatPicture = (picture) => {
    const copy = picture.cloneNode(true);
    const originals = [picture, ...picture.querySelectorAll("*")];
    [copy, ...copy.querySelectorAll("*")].forEach((item, i) => {
      const style = getComputedStyle(originals[i]);
      PROPERTIES.forEach((property) => item.setAttribute(property, style.getPropertyValue(property)));
      item.removeAttribute("class");
    });
    copy.prepend(svg("rect", { width: "100%", height: "100%", fill: colours().page }));
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    return new XMLSerializer().serializeToString(copy);
  };
  // The content policy forbids images, even of this page's own pictures, so shapes are painted one by one.
  const paintedPicture = (picture) => {
    const { width, height } = picture.viewBox.baseVal;
    const canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * height });
    const context = canvas.getContext("2d");
    context.scale(2, 2);
    context.fillStyle = colours().page;
    context.fillRect(0, 0, width, height);
    all("rect, path, text", picture).forEach((item) => {
      const style = getComputedStyle(item);
      if (style.fill === "none") return;
      const [x, y, across, down] = ["x", "y", "width", "height"].map((name) => +item.getAttribute(name));
      Object.assign(context, { fillStyle: style.fill, globalAlpha: style.opacity * style.fillOpacity });
      if (item.matches("rect")) context.fillRect(x, y, across, down);
      else if (item.matches("path")) context.fill(new Path2D(item.getAttribute("d")));
      else {
        context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
        context.textAlign = style.textAnchor === "middle" ? "center" : style.textAnchor;
        context.fillText(item.textContent, x, y);
      }
    });
    return canvas;
  };
  const asBlob = (canvas) => new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  const writePicture = async (name, kind) => {
    const flow = document.querySelector(`[data-flow="${name}"] svg`);
    const content = views[name] ? await writeChart(views[name], kind) : kind === "svg" ? flatPicture(flow) : await asBlob(paintedPicture(flow));
    saveAs(`${data.fileName}-${name}.${kind}`, kind === "svg" ? "image/svg+xml" : "image/png", content);
  };
  const buttons = (name) =>
    element(
      "span",
      "pictures",
      ...["svg", "png"].map((kind) => {
        const button = Object.assign(element("button", "", kind.toUpperCase()), { type: "button", title: `Save this picture as ${kind.toUpperCase()}` });
        button.dataset.picture = `${name} ${kind}`;
        button.setAttribute("aria-label", button.title);
        return button;
      }),
    );
  all("[data-chart], [data-flow]").forEach((box) => {
    const around = box.closest("figure, section");
    (around.querySelector(".head") ?? around).append(buttons(box.dataset.chart ?? box.dataset.flow));
  });
  document.addEventListener("click", ({ target }) => {
    const file = target.closest("[data-download]");
    const picture = target.closest("[data-picture]");
    if (file) return writeTable(file.dataset.download);
    if (!picture) return null;
    return writePicture(...picture.dataset.picture.split(" "));
  });
}
