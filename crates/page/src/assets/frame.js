// What all pages share: making elements, the heading, theme, keys, links, copying and saving.
// Text from data reaches the page through text nodes only.

/** The data of the page. */
const data = JSON.parse(document.getElementById("data").textContent);

/**
 * An element with attributes and children. `on…` attributes are listeners, `true` is an attribute
 * without a value, and `null`, `undefined` and `false` are left out.
 * @template {Element} E
 * @param {E} element @param {Object<string, any> | null} attributes @param {Array<any>} children
 */
function furnish(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}
/**
 * An element of HTML.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Object<string, any> | null} [attributes] @param {any[]} children
 */
const h = (tag, attributes, ...children) => furnish(document.createElement(tag), attributes, children);
/**
 * An element of SVG.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag @param {Object<string, any> | null} [attributes] @param {any[]} children
 */
const s = (tag, attributes, ...children) =>
  furnish(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
/**
 * Replaces what an element contains.
 * @template {Element} E
 * @param {E} element @param {any[]} children
 */
function fill(element, ...children) {
  element.replaceChildren();
  return furnish(element, null, children);
}
/** A number with its noun. */
const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : noun.endsWith("s") ? "es" : "s"}`;
/** A number within bounds. */
const clamp = (number, least, most) => Math.max(least, Math.min(most, number));

// Screen readers announce what changes.
const spoken = h("div", { class: "visually-hidden", "aria-live": "polite" });
const announce = (text) => { spoken.textContent = text; };

let toastTimer = 0;
/** Says something for two seconds. */
function toast(text) {
  document.querySelector(".toast")?.remove();
  document.body.append(h("div", { class: "toast", role: "status" }, text));
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => document.querySelector(".toast")?.remove(), 2000);
}

/** Copies text; where the clipboard is refused, by a selection. */
async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h("textarea", { class: "visually-hidden" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  toast(`${what} copied`);
}

/** Saves text as a file. */
function saveText(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  const anchor = h("a", { href: address, download: name });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// Links to a place of the page: #view=trace&line=12.
const place = {
  /** What the address says. */
  read() { return new Map(new URLSearchParams(location.hash.slice(1))); },
  /** Changes what the address says, without a step in the history of the browser. */
  write(entries) {
    const text = new URLSearchParams(Object.entries(entries).filter(([, v]) => v !== null && v !== undefined)).toString();
    // Inside another document (a notebook) the page has no address of its own: a link would be to that document.
    if (location.protocol === "about:") return;
    try { history.replaceState(null, "", `#${text}`); } catch { location.replace(`#${text}`); }
  },
};

// Light or dark: as the system says, until the reader says otherwise.
const theme = {
  system: matchMedia("(prefers-color-scheme: dark)"),
  chosen: null,
  apply() {
    const dark = this.chosen ? this.chosen === "dark" : this.system.matches;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    document.dispatchEvent(new Event("theme"));
  },
  toggle() {
    this.chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("tribunal-theme", this.chosen); } catch { /* a page from disk may not keep it */ }
    this.apply();
  },
};
try { theme.chosen = localStorage.getItem("tribunal-theme"); } catch { /* as above */ }
theme.system.addEventListener("change", () => theme.apply());
theme.apply();

/**
 * Keys: each with what it does, for the list behind "?".
 * @type {Array<{names: string[], does: string, act: (event: KeyboardEvent) => void, off?: boolean}>}
 */
const keys = [];
/** @param {string[]} names @param {string} does @param {(event: KeyboardEvent) => void} act */
function onKey(names, does, act) { keys.push({ names, does, act }); }
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const target = /** @type {Element} */ (event.target);
  if (target.closest("input[type=search], input[type=text], textarea, select, dialog")) return;
  if (target.closest("input[type=range]") && event.key.startsWith("Arrow")) return;
  if ((event.key === "Enter" || event.key === " ") && target.closest("button, a, summary, [role=button], [role=option]")) return;
  const found = keys.findLast((key) => key.names.includes(event.key) && !key.off);
  if (found) { event.preventDefault(); found.act(event); }
});
const keyNames = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", " ": "Space" };
function showKeys() {
  const rows = keys.filter((key) => key.does).map((key) =>
    h("tr", null, h("td", null, key.names.map((name) => [h("kbd", null, keyNames[name] || name), " "])), h("td", null, key.does)));
  const dialog = h("dialog", { "aria-label": "Keys" }, h("h2", null, "Keys"), h("table", null, h("tbody", null, rows)),
    h("form", { method: "dialog" }, h("p", { class: "row" }, h("button", { autofocus: true }, "Close"))));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
onKey(["?"], "this list", showKeys);

const verdictSigns = { bad: "✗", good: "✓", open: "?" };
/** The verdict as a sign and a word. */
const verdictBadge = (tone, word) =>
  h("span", { class: `verdict ${tone}` }, h("span", { "aria-hidden": "true" }, verdictSigns[tone]), word);

/**
 * The heading of a page.
 * @param {{tone: string, verdict: string, title: string, subject: any, gist?: string, text: string, saves?: Array<{name: string, label: string, text: string}>, tools?: any}} of
 */
function heading(of) {
  const saves = (of.saves || []).map((file) =>
    h("button", { "data-save": file.name, onclick: () => saveText(file.name, file.text), title: `Save ${file.name}` }, `⤓ ${file.label}`));
  return h("header", { class: "top" },
    h("div", { class: "top-line" },
      verdictBadge(of.tone, of.verdict),
      h("h1", null, of.title),
      h("div", { class: "tools" }, of.tools, saves,
        h("button", { id: "copy", onclick: () => copyText(of.text, "Text") }, "Copy as text"),
        h("button", { id: "theme", onclick: () => theme.toggle(), title: "Light or dark" }, "◐", h("span", { class: "visually-hidden" }, " Light or dark")),
        h("button", { id: "keys", onclick: showKeys, title: "Keys (?)" }, "?", h("span", { class: "visually-hidden" }, " Keys")))),
    h("p", { class: "subject" }, of.subject),
    of.gist ? h("p", { class: "gist" }, of.gist) : null);
}

/**
 * Views of a page, of which one is shown.
 * @param {Array<{id: string, name: string, element: HTMLElement, shown?: (byReader?: boolean) => void}>} views
 */
function tabbed(views) {
  const buttons = views.map((view) =>
    h("button", { role: "tab", id: `tab-${view.id}`, "aria-controls": `view-${view.id}`, onclick: () => show(view.id, true) }, view.name));
  const bar = h("div", { class: "tabs", role: "tablist" }, buttons);
  bar.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = buttons.indexOf(/** @type {any} */ (document.activeElement));
    if (!step || at < 0) return;
    const next = buttons[(at + step + buttons.length) % buttons.length];
    next.focus(); next.click(); event.stopPropagation(); event.preventDefault();
  });
  views.forEach((view) => {
    view.element.id = `view-${view.id}`;
    view.element.setAttribute("role", "tabpanel");
    view.element.setAttribute("aria-labelledby", `tab-${view.id}`);
  });
  let current = "";
  function show(id, byReader) {
    const chosen = views.find((view) => view.id === id) || views[0];
    current = chosen.id;
    views.forEach((view, at) => {
      view.element.hidden = view !== chosen;
      buttons[at].setAttribute("aria-selected", String(view === chosen));
      buttons[at].tabIndex = view === chosen ? 0 : -1;
    });
    if (chosen.shown) chosen.shown(byReader);
  }
  return { bar, show, get current() { return current; } };
}

/** Puts the parts of a page in place. */
function mount(...parts) {
  document.body.append(...parts.filter(Boolean), spoken);
}
