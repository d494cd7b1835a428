// The source of a protocol: the rule of a step, or all of it, with how often each rule fired.

/** Lines of the source, from the first to the last, both counted from 1. */
const sourceLines = (first, last, mark) => listing(sourceText(), first, last, mark);
/** The same of any text. */
function listing(lines, first, last, mark) {
  const rows = [];
  for (let at = Math.max(1, first); at <= Math.min(lines.length, last); at++) {
    const of = mark ? mark(at) : null;
    rows.push(h("div", { class: of ? of.class : null, title: of ? of.title : null },
      h("span", { class: "at" }, at), h("span", { class: "fired" }, of && of.count !== undefined ? of.count : ""), h("span", null, lines[at - 1])));
  }
  return h("div", { class: "source" }, rows);
}
let splitSource = null;
function sourceText() {
  if (!splitSource) splitSource = data.source.split("\n");
  return splitSource;
}

/** How often rules fired: a table, and the source in colours. */
function coverageView() {
  const total = data.coverage.reduce((sum, rule) => sum + rule.fired, 0);
  const most = Math.max(1, ...data.coverage.map((rule) => rule.fired));
  const never = data.coverage.filter((rule) => !rule.fired).length;
  const fired = new Map();
  data.coverage.forEach((rule) => fired.set(rule.rule, (fired.get(rule.rule) || 0) + rule.fired));
  const lines = new Map();
  data.rules.forEach(([name, first, last]) => { for (let at = first; at <= last; at++) lines.set(at, name); });
  const mark = (at) => {
    const name = lines.get(at);
    if (name === undefined || !fired.has(name)) return null;
    const count = fired.get(name);
    const first = lines.get(at - 1) !== name;
    return { class: count ? "covered" : "uncovered", title: `${name}: ${count ? `fired ${count.toLocaleString("en")} times` : "never fired"}`, count: first ? (count ? count.toLocaleString("en") : "never") : undefined };
  };
  const bar = (rule) => {
    const inner = h("div", { class: "meter" });
    inner.style.width = `${Math.max(rule.fired ? 1 : 0, 100 * Math.log1p(rule.fired) / Math.log1p(most))}%`;
    return h("div", { class: "meter-frame", title: "on a logarithmic scale" }, inner);
  };
  const jump = (name) => {
    const line = data.rules.find(([rule]) => rule === name);
    const row = line && root.querySelector(`.whole .source > div:nth-child(${line[1]})`);
    if (row) { row.scrollIntoView({ block: "center" }); row.classList.add("flash"); }
  };
  const root = h("section", null,
    h("p", { class: "note" }, `${count(total, "firing")} of ${count(data.coverage.length, "rule")}; ${never ? `${count(never, "rule")} never fired` : "every rule fired"}.`),
    h("div", { class: "card" }, h("table", null, h("thead", null, h("tr", null, h("th", null, "rule"), h("th", { class: "number" }, "fired"), h("th", { class: "wide" }, ""))),
      h("tbody", null, [...data.coverage].sort((a, b) => b.fired - a.fired).map((rule) => h("tr", { class: rule.fired ? null : "never" },
        h("td", null, h("button", { class: "textlink", onclick: () => jump(rule.rule) }, rule.rule)),
        h("td", { class: "number" }, rule.fired ? rule.fired.toLocaleString("en") : "never"), h("td", null, bar(rule))))))),
    h("div", { class: "card whole" }, h("h2", null, data.file), sourceLines(1, sourceText().length, mark)));
  return root;
}
