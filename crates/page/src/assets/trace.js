// The page of a trace: why it violates a model, or the order that explains it; the whole trace; what
// is known about an event, with its line of the trace and the lines around it.

/** `, line 12`, if the trace came from a file. */
function lineText(event) {
  const line = data.events.line[event];
  return line ? `, line ${line}` : "";
}
/** A node in words. */
function nodeText(node) {
  if (node < 0) return `initial M[${data.addresses[-1 - node]}] = ${data.initial[-1 - node]}`;
  return `${data.events.text[node]} (thread ${data.threads[threadOf(node)].label}${lineText(node)})`;
}
function threadOf(event) {
  let low = 0, high = data.threads.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (data.threads[middle].end <= event) low = middle + 1; else high = middle;
  }
  return low;
}

(function tracePage() {
  const { text, line, kind, address, source } = data.events;
  const violates = data.verdict === "violation";
  let chosen = -1;

  // The lines of the trace in their order, for the listing.
  let byLine = null;
  function lines() {
    if (!byLine) byLine = Uint32Array.from(text.keys()).sort((a, b) => line[a] - line[b] || a - b);
    return byLine;
  }

  const side = h("aside", { class: "side card", "aria-label": "Details" });
  const noneChosen = () => fill(side, h("h2", null, "Details"), h("p", { class: "note" }, violates
    ? "Choose an arrow to see why one event comes before another, or an event to see its line of the trace."
    : "Choose an event to see its line of the trace."));

  const eventLink = (event) => h("button", { class: "textlink mono", onclick: () => chooseEvent(event) }, nodeText(event));
  function eventDetails(event) {
    const facts = [["thread", data.threads[threadOf(event)].label], ["index", event - data.threads[threadOf(event)].start]];
    if (line[event]) facts.push(["line", `${line[event]} of ${data.file}`]);
    facts.push(["what", { r: "read", w: "write", a: "atomic read and write", f: "fence" }[kind[event]]]);
    if (source[event] >= 0) facts.push(["read from", eventLink(source[event])]);
    if (source[event] === -1) facts.push(["read from", `the initial value of ${data.addresses[address[event]]}`]);
    if (source[event] === -2) facts.push(["read from", "one of several writes of this value, or parts of several"]);
    const readers = lanes.readersOf(event);
    if (readers.length) facts.push(["read by", [readers.slice(0, 6).map((reader) => h("div", null, eventLink(reader))), readers.length > 6 ? `and ${readers.length - 6} more` : null]]);
    return [
      h("h2", { class: "mono" }, text[event]),
      h("dl", { class: "facts" }, facts.map(([name, value]) => [h("dt", null, name), h("dd", null, value)])),
      listing(event),
      h("p", { class: "row no-print" }, h("button", { onclick: () => copyText(`${data.threads[threadOf(event)].label}: ${text[event]}`, "Line") }, "Copy line"),
        tabs.current === "trace" ? null : h("button", { onclick: () => { tabs.show("trace", true); lanes.choose(event); } }, "Show in the whole trace")),
    ];
  }
  function listing(event) {
    const all = lines();
    const at = all.indexOf(event);
    const around = [];
    for (let to = Math.max(0, at - 5); to < Math.min(all.length, at + 6); to++) {
      const other = all[to];
      const row = h("div", { class: other === event ? "on" : null, role: "button", tabindex: 0 },
        h("span", { class: "at" }, line[other] || ""), h("span", null, `${data.threads[threadOf(other)].label}: ${text[other]}`));
      press(row, () => chooseEvent(other));
      around.push(row);
    }
    return h("div", { class: "listing", "aria-label": "The trace around this line" }, around);
  }
  function chooseEvent(event) {
    chosen = event;
    fill(side, eventDetails(event));
    if (tabs.current === "trace") lanes.choose(event);
    else argument?.markNode(event);
    place.write({ view: tabs.current, event: `${data.threads[threadOf(event)].label}.${event - data.threads[threadOf(event)].start}` });
    announce(nodeText(event));
  }
  function chooseNode(node) {
    if (node >= 0) { chooseEvent(node); return; }
    argument?.markNode(node);
    fill(side, h("h2", { class: "mono" }, nodeText(node)), h("p", { class: "note" }, "What memory held before the trace began."));
  }
  function chooseLink(link) {
    fill(side, h("h2", null, link.label), h("p", null, link.text),
      link.steps.length ? h("p", { class: "note" }, "It rests on ", link.steps.map((step) => h("button", { class: "number-badge", onclick: () => argument.openStep(step) }, step))) : null,
      [link.from, link.to].map((node, at) => h("div", null, h("p", { class: "small muted" }, at ? "then" : "first"),
        node >= 0 ? [eventLink(node), line[node] ? listing(node) : null] : h("span", { class: "mono" }, nodeText(node)))));
    place.write({ view: "why", edge: link.number });
    announce(link.text);
  }

  const lanes = lanesView((event) => chooseEvent(event));
  const argument = violates ? argumentView({ ...data, name: nodeText }, {
    node: chooseNode, link: chooseLink,
    pair: (arrow) => fill(side, h("h2", null, arrow.label), h("p", null, nodeText(arrow.from), " before ", nodeText(arrow.to))),
  }) : null;
  const player = violates ? null : playView();

  // Searching: a number is a line, an address or a value; anything else is looked for in the text.
  const found = h("span", { class: "small muted", role: "status" });
  const box = h("input", { type: "search", id: "search", placeholder: "address, value, line …", "aria-label": "Search by address, value or line" });
  let hits = [];
  let at = -1;
  function matches(wanted) {
    const [, field, term] = /^\s*(?:(line|value|address|thread)\s*[:=]?\s+)?(.*?)\s*$/i.exec(wanted);
    if (!term) return [];
    const low = term.toLowerCase();
    const number = /^(0x[0-9a-f]+|\d+)$/i.test(low);
    const values = new RegExp(`(==|:=) ${low.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}($|[ ;>])`, "i");
    const by = {
      line: (event) => String(line[event]) === low,
      thread: (event) => String(data.threads[threadOf(event)].label) === low,
      address: (event) => address[event] >= 0 && data.addresses[address[event]].toLowerCase() === low,
      value: (event) => values.test(text[event]),
      text: (event) => text[event].toLowerCase().includes(low),
    };
    const asked = field ? [by[field.toLowerCase()]] : number ? [by.line, by.address, by.value] : [by.text];
    const result = [];
    for (let event = 0; event < text.length; event++) if (asked.some((test) => test(event))) result.push(event);
    return result;
  }
  function search() {
    hits = matches(box.value);
    at = -1;
    found.textContent = box.value.trim() ? count(hits.length, "event") : "";
    lanes.setHits(new Set(hits));
    if (hits.length) step(1);
  }
  function step(by) {
    if (!hits.length) return;
    at = (at + by + hits.length) % hits.length;
    found.textContent = `${at + 1} of ${count(hits.length, "event")}`;
    if (tabs.current !== "trace") tabs.show("trace");
    chooseEvent(hits[at]);
  }
  let waiting = 0;
  box.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(search, 120); });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); clearTimeout(waiting); if (at < 0) search(); else step(event.shiftKey ? -1 : 1); }
    if (event.key === "Escape") { box.value = ""; search(); box.blur(); lanes.focus(); }
  });

  const whole = h("section", null,
    h("div", { class: "row no-print" }, box, h("button", { onclick: () => step(-1), "aria-label": "Previous match" }, "↑"), h("button", { onclick: () => step(1), "aria-label": "Next match" }, "↓"), found),
    h("p", { class: "note" }, data.rows_note), lanes.root);
  const views = [];
  if (argument) views.push({ id: "why", name: "Why", element: h("section", null, argument.root) });
  if (player) views.push({ id: "play", name: "Play the order", element: h("section", null, player.root), shown: () => player.go(player.step) });
  views.push({ id: "trace", name: `The whole trace (${count(text.length, "event")})`, element: whole, shown: (byReader) => { lanes.draw(); if (byReader) place.write({ view: "trace" }); } });
  const tabs = tabbed(views);

  const tone = violates ? "bad" : "good";
  const top = heading({
    tone, verdict: data.verdict, title: `${data.file}, trace ${data.trace}: ${data.model.name}`,
    subject: [`${data.model.title}: ${data.model.summary}`, ` · ${count(text.length, "event")}, ${count(data.threads.length, "thread")}, ${count(data.addresses.length, "address")}`],
    gist: data.gist, text: data.text, saves: data.saves,
  });
  top.append(tabs.bar);
  mount(top, h("main", { class: "body two" }, h("div", null, views.map((view) => view.element)), side));
  noneChosen();

  /** Goes where the address says. */
  function arrive() {
    const wanted = place.read();
    const view = wanted.get("view") || (wanted.has("event") || wanted.has("line") ? "trace" : wanted.has("step") && player ? "play" : views[0].id);
    tabs.show(view);
    if (wanted.has("edge") && argument) { const link = argument.links[Number(wanted.get("edge"))]; if (link) argument.chooseLink(link, true); }
    if (wanted.has("step")) { if (player) player.go(Number(wanted.get("step")) || 0); else argument?.openStep(wanted.get("step")); }
    if (wanted.has("line")) { const event = line.indexOf(Number(wanted.get("line"))); if (event >= 0) chooseEvent(event); }
    if (wanted.has("event")) {
      const [thread, index] = wanted.get("event").split(".").map(Number);
      const lane = data.threads.find((one) => one.label === thread);
      if (lane && lane.start + index < lane.end) chooseEvent(lane.start + index);
    }
  }
  addEventListener("hashchange", arrive);

  const stepCycle = (by) => {
    if (tabs.current === "play") { if (by > 0) player.forward(); else player.back(); return; }
    if (!argument || tabs.current !== "why") return;
    const cycle = argument.cycle();
    if (!cycle.length) return;
    const now = cycle.findIndex((link) => link.element.classList.contains("chosen"));
    argument.chooseLink(cycle[(now + by + cycle.length) % cycle.length], true);
  };
  onKey(["ArrowRight", "j"], violates ? "the next link of the cycle" : "one step on", () => stepCycle(1));
  onKey(["ArrowLeft", "k"], violates ? "the link before" : "one step back", () => stepCycle(-1));
  if (player) onKey([" "], "play and pause", () => { if (tabs.current === "play") player.toggle(); });
  views.forEach((view, number) => onKey([String(number + 1)], view.name, () => tabs.show(view.id, true)));
  onKey(["/"], "search", () => { tabs.show("trace", true); box.focus(); });
  onKey(["n"], "the next match", () => step(1));
  onKey(["p"], "the match before", () => step(-1));
  arrive();
})();
