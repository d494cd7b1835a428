// The page of a hunt: how far it is, what was found, and what was exercised.

(function huntPage() {
  const { summary } = data;
  const number = (value) => Math.round(value).toLocaleString("en");
  const tone = { violation: "bad", undecided: "open" }[summary.verdict] || "good";

  /** A table of counts, darker where there are more, on a logarithmic scale from the least to the most. */
  function heat(table, caption) {
    const names = Object.keys(table);
    const columns = [...new Set(names.flatMap((name) => Object.keys(table[name])))];
    const counts = names.flatMap((name) => Object.values(table[name])).filter((count) => count > 0);
    const [least, most] = [Math.min(...counts), Math.max(...counts)];
    const cell = (count) => {
      const level = count === 0 ? 0 : least === most ? 5 : 1 + Math.floor(4.99 * Math.log(count / least) / Math.log(most / least));
      return h("td", { class: `number heat-${level}` }, count ? number(count) : "none");
    };
    return h("div", { class: "card" }, h("h2", null, caption), h("div", { class: "scroll" }, h("table", null,
      h("thead", null, h("tr", null, h("th", null, ""), columns.map((column) => h("th", { class: "number" }, column)))),
      h("tbody", null, names.map((name) => h("tr", null, h("th", { scope: "row", class: "mono" }, name), columns.map((column) => cell(table[name][column] || 0))))))));
  }

  function finding(one, at) {
    const picture = one.svg ? h("img", { class: "paper", alt: `Why: the text beside says the same`, src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(one.svg)}` }) : null;
    return h("details", { class: "fact", id: `finding-${at + 1}`, open: at < 3 }, h("summary", null, h("span", { class: "number-badge" }, at + 1), one.line),
      h("div", null, picture, h("details", { open: !picture }, h("summary", null, "In words"), h("pre", null, one.why)),
        one.commands.length ? [h("h3", null, "Next steps"), one.commands.map((command) => h("p", { class: "row" }, h("code", null, command), h("button", { onclick: () => copyText(command, "Command") }, "Copy")))] : null,
        h("p", { class: "small muted" }, "Files: ", one.files.map((name) => [h("a", { href: encodeURI(`${one.path}/${name}`) }, name), " "]))));
  }

  const facts = [
    ["tests", number(summary.tests)], ["runs", number(summary.runs)], ["operations", number(summary.operations)],
    ["operations a second", number(summary.operations_per_second)], ["distinct outcomes", number(summary.outcomes)],
    [`violations, ${count(summary.shapes, "shape")}`, number(summary.violations)], ["undecided", number(summary.undecided)],
    ["seconds", number(summary.seconds)], ["next test", number(summary.next_test)],
  ];
  /** Operations a second between samples, and what had come by then. */
  function pace() {
    const samples = [[0, { operations: 0, outcomes: 0, shapes: 0 }], ...data.pace].filter(([at], number, all) => !number || at > all[number - 1][0]);
    if (samples.length < 3) return null;
    const time = { label: "seconds", zero: true };
    /** @type {Array<[number, number]>} */
    const rate = samples.slice(1).map(([at, now], before) => [at, (now.operations - samples[before][1].operations) / (at - samples[before][0])]);
    return h("div", { class: "plots" },
      plot({ title: "Operations a second", x: time, y: { label: "operations a second", zero: true }, series: [{ name: "operations a second", points: rate }] }),
      plot({ title: "Distinct outcomes", x: time, y: { label: "outcomes", zero: true }, series: [{ name: "outcomes", points: samples.map(([at, now]) => [at, now.outcomes]) }] }),
      plot({ title: "Shapes of violations", x: time, y: { label: "shapes", zero: true, show: (y) => (y % 1 ? "" : brief(y)) }, series: [{ name: "shapes", points: samples.map(([at, now]) => [at, now.shapes]) }] }));
  }

  const litmus = Object.entries(summary.coverage.litmus || {});
  const most = Math.max(1, ...litmus.map(([, row]) => row.seen));
  const meter = (value) => { const inner = h("div", { class: "meter" }); inner.style.width = `${100 * Math.log1p(value) / Math.log1p(most)}%`; return h("div", { class: "meter-frame" }, inner); };
  const views = [
    { id: "findings", name: data.findings.length ? `Findings (${data.findings.length})` : "Findings", element: h("section", null,
      data.findings.length ? data.findings.map(finding) : h("p", { class: "note" }, "No finding.")) },
    { id: "pace", name: "Rate", element: h("section", null,
      pace() || h("p", { class: "note" }, "The hunt is too short to show a rate.")) },
    { id: "coverage", name: "Coverage", element: h("section", null,
      heat(summary.coverage.communication, "Communication, in distinct outcomes"),
      heat(summary.coverage.program_order, "Program order, in tests"),
      litmus.length ? h("div", { class: "card" }, h("h2", null, "Litmus tests"), h("table", null,
        h("thead", null, h("tr", null, h("th", null, "test"), h("th", { class: "number" }, "times run"), h("th", { class: "number" }, "outcome seen"), h("th", { class: "wide" }, ""))),
        h("tbody", null, litmus.map(([name, row]) => h("tr", null, h("td", { class: "mono" }, name), h("td", { class: "number" }, number(row.runs)), h("td", { class: "number" }, row.seen ? number(row.seen) : "never"), h("td", null, meter(row.seen))))))) : null) },
  ];
  const tabs = tabbed(views.map((view) => ({ ...view, shown: (byReader) => { if (byReader) place.write({ view: view.id }); } })));
  const top = heading({ tone, verdict: data.running ? `${summary.verdict}, still running` : summary.verdict, title: data.title, subject: `results are in ${summary.folder}`, gist: data.running ? "This page loads itself again every ten seconds." : null, text: data.text });
  top.append(tabs.bar);
  mount(top, h("main", { class: "body" },
    h("div", { class: "tiles" }, facts.map(([name, value]) => h("div", { class: "tile" }, h("div", { class: "tile-value" }, value), h("div", { class: "small muted" }, name)))),
    views.map((view) => view.element)));
  views.forEach((view, at) => onKey([String(at + 1)], view.name, () => tabs.show(view.id, true)));
  // The address says which view a page that loads itself again was at.
  const arrive = () => tabs.show(place.read().get("view") || views[0].id);
  addEventListener("hashchange", arrive);
  arrive();
})();
