// The page of litmus tests: tests and models as a table, and behind each cell the program, the states
// and an execution.

(function litmusPage() {
  const number = (value) => value.toLocaleString("en");
  const signs = { Never: "○", Sometimes: "◐", Always: "●" };
  const isHost = (cell) => cell.on === "host";
  let chosen = { test: 0, column: 0, state: 0 };

  /** How many states, or runs, meet what the condition asks for, whether it says "exists" or "~exists". */
  const meets = (cell) => (cell.kind === "Forbidden" ? cell.negative : cell.positive);
  const total = (cell) => cell.positive + cell.negative;

  /** The parts of a bar: how many meet the condition. */
  function bar(cell) {
    const all = total(cell) || 1;
    const part = (name, value) => {
      const piece = h("span", { class: `part ${name}` });
      piece.style.width = `${value ? Math.max(3, 100 * value / all) : 0}%`;
      return piece;
    };
    return h("span", { class: "parts", "aria-hidden": "true" }, part("meets", meets(cell)), part("rest", total(cell) - meets(cell)));
  }

  /** What a cell says, in words. */
  function spoken(cell) {
    if (!cell) return "not asked";
    if (cell.why) return `undecided: ${cell.why}`;
    const unit = isHost(cell) ? "run" : "state";
    return `${cell.observation}: ${count(meets(cell), unit)} meet the condition, ${count(total(cell) - meets(cell), unit)} do not`;
  }
  const outside = (cell) => (cell && cell.compared || []).some((one) => one.verdict === "violation");
  const isBroken = (cell) => Boolean(cell) && (outside(cell) || (cell.kind !== "Allowed" && cell.verdict === "no"));

  function cellButton(test, at, column) {
    const cell = test.cells[column];
    if (!cell) return h("td", { class: "muted" }, "–");
    const inner = cell.why ? h("span", null, "? undecided")
      : [h("span", { class: "said" }, h("span", { "aria-hidden": "true" }, `${signs[cell.observation]} `), cell.observation.toLowerCase(), outside(cell) ? " ✗ forbidden state" : ""),
        bar(cell), h("span", { class: "small muted" }, `${number(meets(cell))} / ${number(total(cell))}`)];
    return h("td", null, h("button", {
      class: `litmus-cell${isBroken(cell) ? " broken" : ""}`, "data-test": at, "data-column": column, title: spoken(cell),
      "aria-label": `${test.name} under ${data.columns[column]}: ${spoken(cell)}`, onclick: () => show(at, column, 0, true),
    }, inner));
  }

  const search = h("input", { type: "search", placeholder: "name of a test ( / )", "aria-label": "Search tests" });
  const onlyDifferences = h("input", { type: "checkbox", id: "only-differences" });
  const rows = data.tests.map((test, at) => h("tr", { class: test.differs ? "differs" : null },
    h("th", { scope: "row" }, h("span", { class: "mono" }, test.name), test.differs ? h("span", { class: "small tag" }, "differs") : null,
      h("div", { class: "small muted" }, test.file), h("div", { class: "small muted mono" }, test.condition)),
    data.columns.map((_, column) => cellButton(test, at, column))));
  const shownCount = h("span", { class: "small muted" });
  function filter() {
    const wanted = search.value.trim().toLowerCase();
    let shown = 0;
    data.tests.forEach((test, at) => {
      const fits = (!wanted || test.name.toLowerCase().includes(wanted) || test.file.toLowerCase().includes(wanted)) && (!onlyDifferences.checked || test.differs);
      rows[at].hidden = !fits;
      shown += fits ? 1 : 0;
    });
    shownCount.textContent = `${number(shown)} of ${count(data.tests.length, "test")}`;
  }
  search.addEventListener("input", filter);
  onlyDifferences.addEventListener("change", filter);

  /** The events of a trace: thread, text, what it reads and writes, and its row. */
  function eventsOf(state) {
    /** @type {Array<{thread: number, index: number, text: string, reads: string, writes: string, at?: number, row?: number}>} */
    const events = [];
    const perThread = new Map();
    for (const line of state.trace.split("\n")) {
      const found = /^(\d+): (.*)$/.exec(line);
      if (!found) continue;
      const thread = Number(found[1]);
      const index = perThread.get(thread) || 0;
      perThread.set(thread, index + 1);
      const access = (sign) => [...found[2].matchAll(new RegExp(`M\\[([^\\]]*)\\] ${sign} (\\S+?)(?=[;>} ]|$)`, "g"))].map((one) => `${one[1]} ${one[2]}`)[0];
      events.push({ thread, index, text: found[2], reads: access("=="), writes: access(":=") });
    }
    const order = new Map((state.witness || []).map(([thread, index], at) => [`${thread}.${index}`, at]));
    // By the order of the witness; without one, or for fences, right below what stands before it.
    const sorted = [...events];
    if (order.size) {
      let last = -1;
      for (const event of events) {
        if (event.index === 0) last = -1;
        const at = order.get(`${event.thread}.${event.index}`);
        event.at = at === undefined ? last + 0.5 : at;
        last = Math.max(last, event.at);
      }
      sorted.sort((a, b) => a.at - b.at || a.thread - b.thread);
      sorted.forEach((event, row) => { event.row = row; });
    } else events.forEach((event) => { event.row = event.index; });
    return events;
  }

  /** An execution as a picture: threads as lanes, arrows from writes to the reads of them. */
  function execution(state) {
    const events = eventsOf(state);
    const threads = [...new Set(events.map((event) => event.thread))].sort((a, b) => a - b);
    const width = Math.max(150, ...events.map((event) => 24 + 7.6 * event.text.length));
    const left = (thread) => 14 + threads.indexOf(thread) * (width + 46);
    const top = (row) => 40 + row * 44;
    const rowsUsed = Math.max(0, ...events.map((event) => event.row)) + 1;
    const size = { width: 28 + threads.length * (width + 46) - 46, height: top(rowsUsed) + 4 };
    const lanes = threads.map((thread) => [s("rect", { class: "lane", x: left(thread) - 8, y: 4, width: width + 16, height: size.height - 8, rx: 8 }),
      s("text", { class: "head", x: left(thread) + width / 2, y: 24 }, `thread ${thread}`)]);
    const boxes = events.map((event) => s("g", { "data-event": `${event.thread}.${event.index}` },
      s("rect", { class: event.reads || event.writes ? "box" : "bar", x: left(event.thread), y: top(event.row), width, height: 28, rx: 6 }),
      s("text", { class: "mono", x: left(event.thread) + width / 2, y: top(event.row) + 18 }, event.text)));
    const arrows = events.filter((event) => event.reads).map((event) => {
      const writers = events.filter((other) => other.writes === event.reads && other !== event);
      if (writers.length !== 1) return null;
      const [from] = writers;
      const [y1, y2] = [top(from.row) + 14, top(event.row) + 14];
      const right = left(event.thread) > left(from.thread);
      const same = event.thread === from.thread;
      const x1 = left(from.thread) + (right || same ? width : 0), x2 = left(event.thread) + (right && !same ? 0 : width);
      const end = right && !same ? x2 - 7 : x2 + 7;
      const bend = same ? x1 + 34 : (x1 + x2) / 2;
      return s("g", { class: "read-from", "data-from": `${from.thread}.${from.index}`, "data-to": `${event.thread}.${event.index}` },
        s("path", { class: "step", d: `M ${x1} ${y1} C ${bend} ${y1}, ${bend} ${y2}, ${end} ${y2}` }),
        s("path", { class: "step-head", d: right && !same ? `M ${x2} ${y2} l -8 -4 v 8 z` : `M ${x2} ${y2} l 8 -4 v 8 z` }));
    });
    const label = `An execution: ${events.map((event) => `thread ${event.thread}: ${event.text}`).join("; ")}`;
    return h("div", { class: "picture" }, s("svg", { width: size.width + 40, height: size.height, viewBox: `0 0 ${size.width + 40} ${size.height}`, role: "img", "aria-label": label }, lanes, arrows, boxes));
  }

  const valuesText = (values) => Object.entries(values).map(([place, value]) => `${place}=${value}`).join("; ");
  const side = h("section", { class: "card", id: "answer", "aria-label": "The answer" });

  function show(test, column, state, byReader) {
    const row = data.tests[test];
    const cell = row.cells[column];
    const states = (cell && cell.states) || [];
    chosen = { test, column, state: clamp(state, 0, Math.max(0, states.length - 1)) };
    document.querySelectorAll(".litmus-cell").forEach((/** @type {HTMLElement} */ button) => {
      const pressed = Number(button.dataset.test) === test && Number(button.dataset.column) === column;
      button.setAttribute("aria-pressed", String(pressed));
      // The table scrolls by itself, so that the answer stays below it whatever the number of tests.
      if (pressed) button.scrollIntoView({ block: "nearest" });
    });
    const most = Math.max(1, ...states.map((one) => one.count || 0));
    const forbidden = (one) => (cell.compared || []).filter((other) => other.outside.some((values) => valuesText(values) === valuesText(one.values))).map((other) => other.model);
    const meter = (value) => { const inner = h("div", { class: "meter" }); inner.style.width = `${Math.max(1, 100 * Math.log1p(value) / Math.log1p(most))}%`; return h("div", { class: "meter-frame", title: "on a logarithmic scale" }, inner); };
    const stateRow = (one, at) => h("tr", { class: at === chosen.state ? "chosen-state" : null },
      h("td", null, h("button", { class: "textlink mono", "data-state": at, onclick: () => show(test, column, at, true) }, valuesText(one.values))),
      h("td", null, one.holds ? "meets the condition" : "", forbidden(one).map((model) => h("div", { class: "wrong" }, `✗ ${model} forbids this state`))),
      isHost(cell) ? [h("td", { class: "number" }, number(one.count)), h("td", null, meter(one.count))] : null);
    const left = cell && !cell.why ? (isHost(cell) ? 0 : total(cell) - states.length) : 0;
    const current = states[chosen.state];
    fill(side,
      h("h2", null, h("span", { class: "mono" }, row.name), ` under ${data.columns[column]}`),
      h("p", null, spoken(cell)),
      h("div", { class: "litmus-answer" },
        h("div", null, h("h3", null, "Program"), h("pre", { class: "program" }, row.program),
          h("p", { class: "row" }, h("button", { onclick: () => copyText(row.program, "Test") }, "Copy"), h("button", { onclick: () => saveText(`${row.name}.litmus`, row.program) }, "⤓ Save"))),
        h("div", null,
          states.length ? [h("h3", null, "States"), h("table", { class: "states" }, h("tbody", null, states.map(stateRow))),
            left > 0 ? h("p", { class: "small muted" }, `${count(left, "state")} more; --json has all of them.`) : null] : null,
          current && current.trace ? [h("h3", null, "An execution that ends in this state"), execution(current),
            h("p", { class: "small muted" }, current.witness ? "From top to bottom in the order in which memory performs the events. " : "Program order runs downwards. ", "Dashed arrows go from a write to the reads of it, where one write only has the value."),
            h("p", { class: "row" }, h("button", { onclick: () => copyText(current.trace, "Trace") }, "Copy as trace"))] : null)));
    if (byReader) place.write({ test: row.name, column: data.columns[column], state: chosen.state });
    announce(`${row.name} under ${data.columns[column]}: ${spoken(cell)}`);
  }

  const shownRows = () => data.tests.map((_, at) => at).filter((at) => !rows[at].hidden);
  const move = (tests, columns) => {
    const list = shownRows();
    const at = clamp(Math.max(0, list.indexOf(chosen.test)) + tests, 0, list.length - 1);
    if (list.length) show(list[at], clamp(chosen.column + columns, 0, data.columns.length - 1), 0, true);
  };
  onKey(["ArrowDown"], "next test", () => move(1, 0));
  onKey(["ArrowUp"], "previous test", () => move(-1, 0));
  onKey(["ArrowRight"], "next column", () => move(0, 1));
  onKey(["ArrowLeft"], "previous column", () => move(0, -1));
  onKey(["j", "n"], "next state", () => show(chosen.test, chosen.column, chosen.state + 1, true));
  onKey(["k", "p"], "previous state", () => show(chosen.test, chosen.column, chosen.state - 1, true));
  onKey(["/"], "search", () => search.focus());

  mount(
    heading({ tone: data.tone, verdict: data.verdict, title: data.title, subject: "Each cell: how often the condition of the test is met, and by how many of the final states (for the host, runs).", gist: data.gist, text: data.text }),
    h("main", { class: "body litmus" },
      h("div", { class: "card" },
        h("div", { class: "row" }, search, h("label", { class: "small", for: "only-differences" }, onlyDifferences, " only differences"), h("span", { class: "grow" }), shownCount),
        h("div", { class: "scroll" }, h("table", { id: "tests" }, h("thead", null, h("tr", null, h("th", null, "test"), data.columns.map((column) => h("th", null, column)))), h("tbody", null, rows)))),
      side));
  filter();

  function arrive() {
    const wanted = place.read();
    const test = data.tests.findIndex((one) => one.name === wanted.get("test"));
    const column = data.columns.indexOf(wanted.get("column") || "");
    show(Math.max(0, test), Math.max(0, column), Number(wanted.get("state")) || 0, false);
  }
  addEventListener("hashchange", arrive);
  arrive();
})();
