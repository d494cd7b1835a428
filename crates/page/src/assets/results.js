// The page of measurements: what RESULTS.md says, with plots to ask for numbers.

(function resultsPage() {
  // As RESULTS.md writes them: K is 1,024 and M 1,048,576 where a count is a multiple; megabytes are decimal.
  const units = {
    count: (many) => (many >= 1 << 20 && many % (1 << 20) === 0 ? `${many / (1 << 20)}M` : many >= 1024 && many % 1024 === 0 ? `${many / 1024}K` : many.toLocaleString("en", { maximumSignificantDigits: 4 })),
    bytes: (size) => (size < 1e6 ? `${brief(size / 1e3)} KB` : size < 1e9 ? `${brief(size / 1e6)} MB` : `${brief(size / 1e9)} GB`),
    percent: (share) => `${Number(share.toPrecision(4))} %`,
    seconds: (time) => (time === 0 ? "0 s" : time < 0.001 ? `${brief(time * 1e6)} µs` : time < 1 ? `${brief(time * 1000)} ms` : `${brief(time)} s`),
  };
  const axis = ({ name, log, unit }) => ({ label: name, log, zero: !log, show: units[unit] || brief });
  const span = (of) => {
    if (of.is === "plain") return of.text;
    if (of.is === "link") return h("a", { href: of.text[1] }, of.text[0]);
    return h({ strong: "strong", emphasis: "em", code: "code" }[of.is], null, of.text);
  };
  const name = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  const chart = ({ title, x, y, lines }) => plot({
    title, x: axis(x), y: axis(y), width: 860, height: 360,
    series: lines.map((line) => ({ name: line.name, dashed: line.dashed, points: line.points.map(([at, much, ended]) => [at, much, ended ? "at least: the measurement was ended here" : ""]) })),
  });
  const used = new Set();
  const draw = (block) => {
    switch (block.is) {
      case "heading": {
        let id = name(block.text);
        while (used.has(id)) id += "-";
        used.add(id);
        return h(/** @type {"h1"} */ (`h${Math.min(6, block.level)}`), { id, class: "results-heading" }, block.text);
      }
      case "paragraph": return h("p", { class: "prose" }, block.spans.map(span));
      case "list": return h("ul", { class: "prose" }, block.items.map((item) => h("li", null, item.map(span))));
      case "plot": return chart(block.chart);
      default: {
        const cell = (tag) => (spans, at) => h(tag, { class: block.right[at] ? "number" : null }, spans.map(span));
        return h("div", { class: "scroll" }, h("table", { class: "results-table" },
          h("thead", null, h("tr", null, block.head.map(cell("th")))), h("tbody", null, block.rows.map((row) => h("tr", null, row.map(cell("td")))))));
      }
    }
  };
  const [first, ...blocks] = data.blocks;
  const drawn = blocks.map((block) => [block, draw(block)]);
  const parts = drawn.filter(([block]) => block.is === "heading" && block.level === 2);
  const contents = h("nav", { class: "results-contents card", "aria-label": "Contents" }, h("ol", null,
    parts.map(([block, element]) => h("li", null, h("a", { href: `#${element.id}` }, block.text)))));
  mount(h("header", { class: "top" }, h("div", { class: "top-line" }, h("h1", null, first && first.text || "Results"), h("div", { class: "tools" },
    h("button", { id: "copy", onclick: () => copyText(data.text, "Text") }, "Copy as text"),
    h("button", { id: "theme", onclick: () => theme.toggle(), title: "Light or dark" }, "◐", h("span", { class: "visually-hidden" }, " Light or dark"))))),
  h("main", { class: "body results" }, contents, drawn.map(([, element]) => element)));
  // The parts are there only now.
  if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
})();
