// The order that explains a consistent trace, played on its machine: each thread with its program
// and its store buffer, and memory. A write enters the buffer when a later event of its thread is
// performed before it, and reaches memory where the order says; a read takes its value from the
// buffer of its own thread, or else from memory.

/** The player, or null if there is no single order to play. */
function playView(choose) {
  if (!data.order) return null;
  const { text, kind, address, written, read } = data.events;
  const threadOf = new Uint16Array(text.length);
  data.threads.forEach(({ start, end }, thread) => threadOf.fill(thread, start, end));
  const order = data.order;
  const when = new Int32Array(text.length).fill(-1); // fences are not in the order
  order.forEach((event, at) => { when[event] = at; });

  // What the machine does, in turn: [event, enters] where a write enters the buffer.
  const actions = [];
  const issued = new Uint8Array(text.length);
  const next = data.threads.map(({ start }) => start);
  for (const event of order) {
    const thread = threadOf[event];
    for (; next[thread] < event; next[thread]++) {
      const before = next[thread];
      if (kind[before] === "w" && when[before] > when[event] && !issued[before]) { issued[before] = 1; actions.push([before, true]); }
    }
    if (next[thread] === event) next[thread]++;
    actions.push([event, false]);
  }

  // The machine, which goes forward and back.
  const memory = data.initial.slice();
  const buffers = data.threads.map(() => []);
  const done = new Uint8Array(text.length);
  const trail = []; // how to undo each action
  let unexplained = 0;
  function takes(event) {
    const own = buffers[threadOf[event]].filter((write) => address[write] === address[event] && write < event);
    return own.length ? { value: written[own[own.length - 1]], from: own[own.length - 1] } : { value: memory[address[event]], from: -1 };
  }
  function forward() {
    const [event, enters] = actions[trail.length];
    const buffer = buffers[threadOf[event]];
    const undo = { event, enters, buffer: null, old: undefined, took: null };
    if (enters) { buffer.push(event); }
    else {
      done[event] = 1;
      if (kind[event] === "r" || kind[event] === "a") undo.took = takes(event);
      if (kind[event] === "w" || kind[event] === "a") {
        undo.buffer = buffer.indexOf(event);
        if (undo.buffer >= 0) buffer.splice(undo.buffer, 1);
        undo.old = memory[address[event]];
        memory[address[event]] = written[event];
      }
    }
    trail.push(undo);
  }
  function back() {
    const undo = trail.pop();
    const buffer = buffers[threadOf[undo.event]];
    if (undo.enters) { buffer.pop(); return; }
    done[undo.event] = 0;
    if (undo.buffer !== null) {
      memory[address[undo.event]] = undo.old;
      if (undo.buffer >= 0) buffer.splice(undo.buffer, 0, undo.event);
    }
  }
  if (data.memory) {
    while (trail.length < actions.length) {
      forward();
      const { event, took } = trail[trail.length - 1];
      if (took && took.value !== read[event]) unexplained++;
    }
    while (trail.length) back();
  }

  const slider = h("input", { type: "range", min: 0, max: actions.length, value: 0, "aria-label": "Step" });
  const counter = h("span", { class: "mono small" });
  const nowLine = h("p", { class: "now-line", "aria-live": "polite" });
  const players = h("div", { class: "players" });
  const cells = h("div", { class: "memory" });
  const playButton = h("button", { onclick: toggle, "aria-pressed": "false" }, "▶ Play");
  const root = h("div", { "data-unexplained": unexplained },
    h("p", { class: "note" }, data.play_note),
    h("div", { class: "controls" },
      h("button", { onclick: () => go(0), "aria-label": "To the start" }, "|◀"), h("button", { id: "play-back", onclick: () => go(trail.length - 1), "aria-label": "One step back" }, "◀"),
      playButton,
      h("button", { id: "play-on", onclick: () => go(trail.length + 1), "aria-label": "One step on" }, "▶"), h("button", { onclick: () => go(actions.length), "aria-label": "To the end" }, "▶|"),
      slider, counter),
    nowLine, players,
    h("div", { class: "card memory-card" }, h("h3", null, "Memory"), data.memory ? cells : h("p", { class: "note" }, "Accesses of several sizes overlap in this trace: memory is not drawn.")));
  slider.addEventListener("input", () => go(Number(slider.value)));

  let timer = 0;
  function toggle() {
    if (timer) { clearInterval(timer); timer = 0; }
    else {
      if (trail.length === actions.length) go(0);
      timer = setInterval(() => { if (trail.length === actions.length) toggle(); else go(trail.length + 1); }, 900);
    }
    playButton.setAttribute("aria-pressed", String(Boolean(timer)));
    playButton.textContent = timer ? "❚❚ Pause" : "▶ Play";
  }

  function go(step) {
    const wanted = clamp(step, 0, actions.length);
    while (trail.length < wanted) forward();
    while (trail.length > wanted) back();
    slider.value = String(wanted);
    counter.textContent = `${wanted} / ${actions.length}`;
    draw();
    place.write({ view: "play", step: wanted });
  }

  function sentence(last) {
    if (!last) return "Before the first event: memory has its initial values.";
    const who = `Thread ${data.threads[threadOf[last.event]].label}`;
    if (last.enters) return `${who}: ${text[last.event]} waits in the store buffer.`;
    if (last.took && data.memory) {
      const where = last.took.from >= 0 ? "from its own store buffer" : "from memory";
      return `${who}: ${text[last.event]}, taken ${where}.`;
    }
    if (kind[last.event] === "w") return `${who}: ${text[last.event]} reaches memory.`;
    return `${who}: ${text[last.event]}.`;
  }

  function draw() {
    const last = trail[trail.length - 1];
    nowLine.textContent = sentence(last);
    const shown = threadsToShow();
    fill(players, shown.map((thread) => {
      const { start, end, label } = data.threads[thread];
      let focus = start;
      while (focus < end && (done[focus] || kind[focus] === "f" && focus + 1 < end && (done[focus + 1] || issued[focus + 1]))) focus++;
      if (last && threadOf[last.event] === thread) focus = last.event;
      const first = clamp(focus - 3, start, Math.max(start, end - 7));
      const lines = [];
      for (let event = first; event < Math.min(end, first + 7); event++) {
        const waits = buffers[thread].includes(event);
        const now = last && last.event === event;
        lines.push(h("li", { class: `${done[event] ? "done" : waits ? "wait" : "next"}${now ? " now" : ""}`, title: text[event] }, text[event]));
      }
      return h("section", { class: "player", "aria-label": `Thread ${label}` }, h("h3", null, `thread ${label}`), h("ol", null, lines),
        data.buffers ? h("div", { class: "buffer" }, h("span", { class: "muted" }, "buffer"), buffers[thread].map((write) => h("span", { class: "slot" }, text[write]))) : null);
    }));
    if (data.memory) {
      fill(cells, addressesToShow().map((at) => h("span", {
        class: `cell${last && !last.enters && address[last.event] === at ? (kind[last.event] === "r" ? " read" : " changed") : ""}`,
      }, `${data.addresses[at]} = ${memory[at]}`)));
    }
  }
  // Many threads or addresses: those that just acted.
  const recent = (count, of) => {
    const found = new Set();
    for (let at = trail.length - 1; at >= 0 && found.size < count; at--) found.add(of(trail[at].event));
    for (let at = trail.length; at < actions.length && found.size < count; at++) found.add(of(actions[at][0]));
    found.delete(-1);
    return [...found].sort((a, b) => a - b);
  };
  const threadsToShow = () => data.threads.length <= 8 ? data.threads.map((_, at) => at) : recent(8, (event) => threadOf[event]);
  const addressesToShow = () => data.addresses.length <= 48 ? data.addresses.map((_, at) => at) : recent(24, (event) => address[event]);

  return { root, go, toggle, forward: () => go(trail.length + 1), back: () => go(trail.length - 1), get step() { return trail.length; } };
}
