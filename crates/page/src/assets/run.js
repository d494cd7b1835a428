// The page of a protocol: the run as a chart to step through, with the state as a tree and the source
// of each rule; the memory trace with its cycle; what a proof rests on; and how the search went.

(function runPage() {
  const run = data.run;

  /** Every state of the run. */
  function statesOf() {
    const places = new Map(run.state);
    const multisets = new Map(run.multisets);
    const states = [{ places, multisets, changed: new Set() }];
    for (const step of run.steps) {
      const last = states[states.length - 1];
      const next = { places: new Map(last.places), multisets: new Map(last.multisets), changed: new Set() };
      for (const change of step.changes) {
        next.changed.add(change.place);
        if (!change.removed && !change.added) { next.places.set(change.place, change.after); continue; }
        const left = [...(next.multisets.get(change.place) || [])];
        for (const gone of change.removed || []) left.splice(left.indexOf(gone), 1);
        next.multisets.set(change.place, left.concat(change.added || []));
      }
      states.push(next);
    }
    return states;
  }

  /** A state as a tree: variables, then indices and fields. */
  function tree(state, previous) {
    const top = new Map();
    const put = (place, value, changed, before) => {
      const parts = place.match(/[^.[\]]+|\[[^\]]*\]/g) || [place];
      let level = top;
      parts.forEach((part, at) => {
        if (!level.has(part)) level.set(part, { children: new Map(), value: null, changed: false });
        const node = level.get(part);
        node.changed = node.changed || changed;
        if (at === parts.length - 1) { node.value = value; node.before = changed ? before : null; }
        level = node.children;
      });
    };
    state.places.forEach((value, name) => put(name, value, state.changed.has(name), previous ? previous.places.get(name) : null));
    state.multisets.forEach((elements, name) => put(name, elements.length ? `{ ${elements.join("; ")} }` : "empty", state.changed.has(name), null));
    const draw = (name, node) => {
      const leaf = node.children.size === 0;
      const label = [h("span", { class: "field" }, name), leaf ? [" = ", h("span", { class: "value" }, node.value), node.changed && node.before !== null && node.before !== undefined ? h("span", { class: "before" }, ` was ${node.before}`) : null] : null];
      if (leaf) return h("div", { class: `leaf${node.changed ? " changed" : ""}` }, node.changed ? h("span", { class: "visually-hidden" }, "changed: ") : null, label);
      const values = [...node.children];
      return h("details", { class: node.changed ? "changed" : null, open: node.changed || state.places.size < 24 }, h("summary", null, label), values.map(([key, child]) => draw(key, child)));
    };
    return h("div", { class: "tree" }, [...top].map(([name, node]) => draw(name, node)));
  }

  const views = [];
  let go = null;
  let step = 0;
  if (run) {
    const states = statesOf();
    const side = h("aside", { class: "side card", "aria-label": "The step" });
    const chart = chartView(run, states, (number) => go(number));
    const slider = h("input", { type: "range", min: 0, max: run.steps.length, value: 0, "aria-label": "Step" });
    const counter = h("span", { class: "mono small" });
    slider.addEventListener("input", () => go(Number(slider.value)));
    const onlyChanged = h("input", { type: "checkbox", id: "only-changed" });
    onlyChanged.addEventListener("change", () => go(step));
    const rules = new Map(data.rules.map(([name, first, last]) => [name, [first, last]]));
    go = (wanted, quiet) => {
      step = clamp(wanted, 0, run.steps.length);
      slider.value = String(step);
      counter.textContent = `${step} / ${run.steps.length}`;
      const now = step ? run.steps[step - 1] : null;
      const lines = now && rules.get(now.rule);
      const sent = run.arrows.filter((arrow) => arrow.sent === step && step), taken = run.arrows.filter((arrow) => arrow.taken === step);
      const message = (arrow) => h("li", null, h("code", null, arrow.label), ` ${arrow.slot}`, arrow.detail && arrow.detail !== arrow.label ? h("div", { class: "small muted" }, arrow.detail) : null);
      const state = onlyChanged.checked
        ? { places: new Map([...states[step].places].filter(([name]) => states[step].changed.has(name))), multisets: new Map([...states[step].multisets].filter(([name]) => states[step].changed.has(name))), changed: states[step].changed }
        : states[step];
      const open = side.scrollTop;
      fill(side,
        h("h2", null, now ? `Step ${step}: ${now.rule}` : `Start: ${run.start}`),
        now ? h("p", { class: "small muted" }, `${run.lanes[run.actors[step - 1]]} acts`, now.bindings.length ? `; ${now.bindings.map(([name, value]) => `${name} = ${value}`).join(", ")}` : "") : null,
        now && now.error ? h("p", { class: "wrong" }, now.error) : null,
        now && now.printed ? h("pre", { class: "small" }, now.printed.join("\n")) : null,
        taken.length ? [h("h3", null, "Takes"), h("ul", { class: "messages" }, taken.map(message))] : null,
        sent.length ? [h("h3", null, "Sends"), h("ul", { class: "messages" }, sent.map(message))] : null,
        step === run.steps.length && data.why ? [h("h3", null, "What is wrong here"), h("pre", { class: "why" }, data.why)] : null,
        h("div", { class: "row" }, h("h3", null, "State"), h("span", { class: "grow" }), h("label", { class: "small muted", for: "only-changed" }, onlyChanged, " only what changed")),
        tree(state, step ? states[step - 1] : null),
        lines ? [h("h3", null, `Source, line ${lines[0]}`), sourceLines(lines[0], lines[1])] : null);
      side.scrollTop = quiet ? 0 : open;
      chart.show(step);
      if (!quiet) place.write({ step });
      announce(now ? `Step ${step}: ${stepText(now)}` : "Start");
    };
    views.push({
      id: "run", name: `The run (${count(run.steps.length, "step")})`,
      element: h("section", null, h("div", { class: "two" }, h("div", null,
        h("div", { class: "controls" }, h("button", { onclick: () => go(0), "aria-label": "To the start" }, "|◀"), h("button", { id: "back", onclick: () => go(step - 1), "aria-label": "One step back" }, "◀"),
          h("button", { id: "on", onclick: () => go(step + 1), "aria-label": "One step on" }, "▶"), h("button", { onclick: () => go(run.steps.length), "aria-label": "To the end" }, "▶|"), slider, counter),
        chart.root,
        data.region ? regionCard() : null,
        h("details", { class: "fact" }, h("summary", null, "How lanes and messages were recognised"), h("div", null, run.notes.map((note) => h("p", { class: "small" }, note))))), side)),
      shown: () => go(step, true),
    });
    onKey(["ArrowRight", "ArrowDown", "j"], "one step on", () => { if (tabs.current === "run") go(step + 1); });
    onKey(["ArrowLeft", "ArrowUp", "k"], "one step back", () => { if (tabs.current === "run") go(step - 1); });
    onKey(["Home"], "to the start", () => go(0));
    onKey(["End"], "to the end", () => go(run.steps.length));
  }

  /** Where a run is caught that breaks a liveness property. */
  function regionCard() {
    const { region } = data;
    return h("div", { class: "card region" }, h("h3", null, "States that can still be reached"),
      h("p", null, `${count(region.states, "state")} can still be reached${region.complete ? "" : " at least"}, and the property holds in none of them.`),
      h("p", { class: "small" }, region.rules.length ? `Rules that still change the state: ${region.rules.join(", ")}.` : "No rule changes the state."),
      region.stays ? h("details", null, h("summary", null, "Variables that keep their value"), h("div", { class: "tree" }, Object.entries(region.stays).map(([name, value]) => h("div", { class: "leaf" }, `${name} = ${value}`)))) : null);
  }

  if (data.memory) {
    const { memory } = data;
    const side = h("aside", { class: "side card" }, h("h2", null, "Details"), h("p", { class: "note" }, "Choose an arrow to see why one event comes before another."));
    const name = (node) => (memory.names || {})[node] || "";
    const argument = memory.panels ? argumentView({ ...memory, name }, {
      node: (node) => fill(side, h("h2", { class: "mono" }, name(node))),
      link: (link) => fill(side, h("h2", null, link.label), h("p", null, link.text)),
      pair: (arrow) => fill(side, h("h2", null, arrow.label), h("p", null, name(arrow.from), " before ", name(arrow.to))),
    }) : null;
    views.push({ id: "memory", name: "The memory trace", element: h("section", null, h("div", { class: "two" }, h("div", null,
      h("p", { class: "note" }, "The loads and stores of the run, with a distinct value for every store, checked by the trace checker with no store order assumed."),
      argument ? argument.root : h("pre", null, memory.judged.join("\n")),
      h("div", { class: "card" }, h("div", { class: "row" }, h("h2", null, "Trace"), h("span", { class: "grow" }), h("button", { onclick: () => copyText(memory.trace, "Trace") }, "Copy"), h("button", { onclick: () => saveText("memory.trace", memory.trace) }, "⤓ Save")), h("pre", { class: "small" }, memory.trace))), side)) });
  }
  if (data.proof) {
    const { claims, abstractions } = data.proof;
    const lemmas = claims.reduce((sum, claim) => sum + claim.lemmas.length, 0);
    if (lemmas) views.push({ id: "lemmas", name: `Lemmas (${lemmas})`, element: lemmasView() });
    if (claims.length) views.push({ id: "abstraction", name: abstractions.length > 1 ? `Abstractions (${abstractions.length})` : "The abstraction", element: abstractionView() });
  }
  if (data.search) views.push({ id: "search", name: "The search", element: searchView() });
  if (data.coverage.length) views.push({ id: "rules", name: "Rules and source", element: coverageView() });
  else views.push({ id: "source", name: "Source", element: h("section", null, h("div", { class: "card whole" }, h("h2", null, data.file), sourceLines(1, sourceText().length))) });

  const tabs = tabbed(views.map((view) => ({ ...view, shown: (byReader) => { view.shown?.(); if (byReader) place.write({ view: view.id, step: view.id === "run" ? step : null }); } })));
  const top = heading({
    tone: data.tone, verdict: data.verdict, title: data.file, gist: data.sentence.slice(data.sentence.indexOf(": ") + 2),
    subject: data.details.join(" · "), text: data.text,
    saves: data.answer ? [{ name: "report.json", label: "JSON", text: JSON.stringify(data.answer) + "\n" }] : [],
  });
  top.append(tabs.bar);
  mount(top, h("main", { class: "body" }, views.map((view) => view.element)));
  views.forEach((view, number) => onKey([String(number + 1)], view.name, () => tabs.show(view.id, true)));

  function arrive() {
    const wanted = place.read();
    if (wanted.has("step")) step = clamp(Number(wanted.get("step")) || 0, 0, run ? run.steps.length : 0);
    tabs.show(wanted.get("view") || views[0].id);
  }
  addEventListener("hashchange", arrive);
  arrive();
})();
