// A list of pages: what was judged, and a row for each violation.

(function indexPage() {
  const rows = data.rows.map((row) => h("tr", null,
    h("td", null, row.page ? h("a", { href: row.page }, `${row.file} #${row.trace}`) : `${row.file} #${row.trace}`),
    h("td", { class: "mono" }, row.model), h("td", { class: "number" }, row.events.toLocaleString("en")),
    h("td", null, row.gist)));
  const body = h("tbody", null, rows);
  const filter = h("input", { type: "search", placeholder: "file, model …", "aria-label": "Show rows with this text" });
  const shown = h("span", { class: "small muted", role: "status" });
  filter.addEventListener("input", () => {
    const wanted = filter.value.trim().toLowerCase();
    let seen = 0;
    rows.forEach((row) => { row.hidden = !row.textContent.toLowerCase().includes(wanted); if (!row.hidden) seen++; });
    shown.textContent = wanted ? count(seen, "row") : "";
  });
  onKey(["/"], "filter", () => filter.focus());
  mount(
    heading({ tone: data.tone, verdict: data.verdict, title: data.title, subject: data.subject, text: data.text }),
    h("main", { class: "body" },
      h("div", { class: "card" }, h("h2", null, "Verdicts"), h("table", null,
        h("thead", null, h("tr", null, ["model", "consistent", "violation", "undecided"].map((name, at) => h("th", { class: at ? "number" : null }, name)))),
        h("tbody", null, data.models.map((model) => h("tr", null, h("td", { class: "mono" }, model.name),
          [model.consistent, model.violation, model.undecided].map((number) => h("td", { class: "number" }, number.toLocaleString("en")))))))),
      h("div", { class: "card" }, h("div", { class: "row" }, h("h2", null, "Violations"), h("span", { class: "grow" }), rows.length > 8 ? [shown, filter] : null),
        rows.length ? h("table", { class: "violations" }, h("thead", null, h("tr", null, h("th", null, "trace"), h("th", null, "model"), h("th", { class: "number" }, "events"), h("th", null, "why"))), body)
          : h("p", { class: "note" }, "None."),
        data.note ? h("p", { class: "note" }, data.note) : null)));
})();
