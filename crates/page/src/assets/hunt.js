// The page of a hunt: how far it is, what was found, and what was exercised.

(function huntPage() {
  const { summary } = data;
  const number = (value) => Math.round(value).toLocaleString("en");
  const tone = { violation: "bad", undecided: "open" }[summary.verdict] || "good";

  /** A table of counts, darker where there are more, on a logarithmic scale. */
  function heat(table, caption) {
    const names = Object.keys(table);
    const columns = [...new Set(names.flatMap((name) => Object.keys(table[name])))];
    const most = Math.max(1, ...names.flatMap((name) => Object.values(table[name])));
    const cell = (count) => {
      const level = count ? 1 + Math.floor(4.99 * Math.log1p(count) / Math.log1p(most)) : 0;
      return h("td", { class: `number heat-${Math.min(5, level)}` }, count ? number(count) : "none");
    };
    return h("div", { class: "card" }, h("h2", null, caption), h("div", { class: "scroll" }, h("table", null,
      h("thead", null, h("tr", null, h("th", null, ""), columns.map((column) => h("th", { class: "number" }, column)))),
      h("tbody", null, names.map((name) => h("tr", null, h("th", { scope: "row", class: "mono" }, name), columns.map((column) => cell(table[name][column] || 0))))))));
  }

  function finding(one, at) {
    const picture = one.svg ? h("img", { class: "paper", alt: `Why: the text beside says the same`, src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(one.svg)}` }) : null;
    return h("details", { class: "fact", id: `finding-${at + 1}`, open: at < 3 }, h("summary", null, h("span", { class: "number-badge" }, at + 1), one.line),
      h("div", null, picture, h("details", { open: !picture }, h("summary", null, "In words"), h("pre", null, one.why)),
        one.commands.length ? [h("h3", null, "To go on"), one.commands.map((command) => h("p", { class: "row" }, h("code", null, command), h("button", { onclick: () => copyText(command, "Command") }, "Copy")))] : null,
        h("p", { class: "small muted" }, "Files: ", one.files.map((name) => [h("a", { href: encodeURI(`${one.path}/${name}`) }, name), " "]))));
  }

  const facts = [
    ["tests", number(summary.tests)], ["runs", number(summary.runs)], ["operations", number(summary.operations)],
    ["operations a second", number(summary.operations_per_second)], ["distinct outcomes", number(summary.outcomes)],
    [`violations, ${count(summary.shapes, "shape")}`, number(summary.violations)], ["undecided", number(summary.undecided)],
    ["seconds", number(summary.seconds)], ["next test", number(summary.next_test)],
  ];
  const litmus = Object.entries(summary.coverage.litmus || {});
  const most = Math.max(1, ...litmus.map(([, row]) => row.seen));
  const meter = (value) => { const inner = h("div", { class: "meter" }); inner.style.width = `${100 * Math.log1p(value) / Math.log1p(most)}%`; return h("div", { class: "meter-frame" }, inner); };
  mount(
    heading({ tone, verdict: data.running ? `${summary.verdict}, still running` : summary.verdict, title: data.title, subject: `everything is in ${summary.folder}`, gist: data.running ? "This page loads itself again every ten seconds." : null, text: data.text }),
    h("main", { class: "body" },
      h("div", { class: "tiles" }, facts.map(([name, value]) => h("div", { class: "tile" }, h("div", { class: "tile-value" }, value), h("div", { class: "small muted" }, name)))),
      h("h2", null, data.findings.length ? "Findings" : "No finding"), data.findings.map(finding),
      heat(summary.coverage.communication, "Communication, in distinct outcomes"),
      heat(summary.coverage.program_order, "Program order, in tests"),
      litmus.length ? h("div", { class: "card" }, h("h2", null, "Litmus tests"), h("table", null,
        h("thead", null, h("tr", null, h("th", null, "test"), h("th", { class: "number" }, "times run"), h("th", { class: "number" }, "outcome seen"), h("th", { class: "wide" }, ""))),
        h("tbody", null, litmus.map(([name, row]) => h("tr", null, h("td", { class: "mono" }, name), h("td", { class: "number" }, number(row.runs)), h("td", { class: "number" }, row.seen ? number(row.seen) : "never"), h("td", null, meter(row.seen))))))) : null));
})();
