// ---- names for groups, and a copy of the page that keeps them --------------------------------------

const applyNames = () => {
  all("[data-node]").forEach((item) => (item.textContent = names[item.dataset.node] ?? item.dataset.name));
  all("button[data-choose]").forEach((button) => button.setAttribute("aria-label", groupName(+button.dataset.choose)));
};
const nameInput = (button) => {
  const id = +button.dataset.rename;
  const field = Object.assign(element("input", "rename"), { type: "text", value: groupName(id), maxLength: 60 });
  field.setAttribute("aria-label", `New name for ${groupName(id)}`);
  let open = true;
  const close = (keep) => {
    if (!open) return;
    open = false;
    const text = field.value.trim();
    const node = nodeOf(id);
    if (keep && text !== groupName(id)) {
      if (text) names[node] = text;
      else delete names[node];
    }
    field.replaceWith(button);
    applyNames();
    byId("save").classList.toggle("unsaved", Object.keys(names).length > 0);
    button.focus();
    emit("names");
  };
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault(); // else the key would press the button, which has the focus then
    close(event.key === "Enter");
  });
  field.addEventListener("blur", () => close(true));
  button.replaceWith(field);
  field.select();
  field.focus();
};
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-rename]");
  if (button) nameInput(button);
});
const saveAs = (name, type, ...parts) => {
  const address = URL.createObjectURL(new Blob(parts, { type }));
  const link = Object.assign(document.createElement("a"), { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
};
const escaped = (text) => text.replace(/[&<>\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
const savedPage = () => {
  const block = /(<script type="application\/json" id="names">)[^<]*(<\/script>)/;
  return `<!DOCTYPE html>\n${pristine.replace(/^<html[^>]*>/, '<html lang="en">').replace(block, (_, a, b) => a + escaped(JSON.stringify({ names, k: level().k })) + b)}`;
};
byId("save").addEventListener("click", () => {
  saveAs(`${data.fileName}.html`, "text/html;charset=utf-8", savedPage());
  byId("save").classList.remove("unsaved");
});
const showCode = () => {
  const { ids, nodes } = data.levels[data.main];
  const given = ids.flatMap((id, i) => (names[nodes[i]] === undefined ? [] : [`${id}: ${JSON.stringify(names[nodes[i]])}`]));
  byId("names-code").hidden = given.length === 0;
  byId("names-code").querySelector("code").textContent = `part = part.with_names({${given.join(", ")}})`;
};
on("names", showCode);
