// The whole trace: a lane for each thread. Only what is seen is drawn; a map shows the rest.

const ROW = 26;

/** The lanes. `choose` is told which event is picked. */
function lanesView(choose) {
  const { text, kind, row, source } = data.events;
  const total = text.length;
  const wide = Math.min(26, Math.max(9, ...data.panels.flatMap((panel) => panel.boxes.map((box) => box.lines[0].length))));
  const least = Math.round(wide * 7.4) + 34;
  let LANE = least; // as wide as the frame allows
  const onCycle = new Set(data.on_cycle);
  // Each lane from top to bottom.
  const lanes = data.threads.map(({ start, end }) => {
    const events = new Uint32Array(end - start);
    for (let at = 0; at < events.length; at++) events[at] = start + at;
    return events.sort((a, b) => row[a] - row[b]);
  });
  const laneOf = new Uint16Array(total);
  data.threads.forEach(({ start, end }, lane) => laneOf.fill(lane, start, end));
  let readers = null; // of each write, made when first asked for
  function readersOf(event) {
    if (!readers) {
      readers = new Map();
      for (let at = 0; at < total; at++) {
        if (source[at] < 0) continue;
        const list = readers.get(source[at]);
        if (list) list.push(at); else readers.set(source[at], [at]);
      }
    }
    return readers.get(event) || [];
  }

  let chosen = -1;
  let hits = new Set();
  const space = h("div", { class: "lanes-space" });
  space.style.height = `${data.rows * ROW + 12}px`;
  const cells = h("div", { role: "presentation" });
  const arrows = s("svg", { width: 1, height: 1, "aria-hidden": "true" });
  space.append(arrows, cells);
  const heads = h("div", { class: "lanes-heads" });
  const frame = h("div", { class: "lanes", tabindex: 0, role: "listbox", "aria-label": "The whole trace, a lane for each thread. Arrow keys move from event to event." }, heads, space);

  /** The first place in a lane at or below a row. */
  function from(lane, wanted) {
    let low = 0, high = lane.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (row[lane[middle]] < wanted) low = middle + 1; else high = middle;
    }
    return low;
  }

  function fit() {
    LANE = Math.max(least, Math.min(230, Math.floor((frame.clientWidth - 16) / lanes.length)));
    space.style.width = heads.style.width = `max(100%, ${lanes.length * LANE + 12}px)`;
  }

  function draw() {
    fit();
    const top = Math.floor(frame.scrollTop / ROW) - 3;
    const bottom = top + Math.ceil(frame.clientHeight / ROW) + 6;
    const left = Math.max(0, Math.floor(frame.scrollLeft / LANE) - 1);
    const right = Math.min(lanes.length, left + Math.ceil(frame.clientWidth / LANE) + 3);
    const near = new Set(chosen >= 0 ? [source[chosen], ...readersOf(chosen)] : []);
    const shown = [];
    const titles = [];
    for (let lane = left; lane < right; lane++) {
      const head = h("div", null, `thread ${data.threads[lane].label}`);
      head.style.left = `${8 + lane * LANE}px`;
      head.style.width = `${LANE - 12}px`;
      titles.push(head);
      const events = lanes[lane];
      for (let at = from(events, top); at < events.length && row[events[at]] <= bottom; at++) {
        const event = events[at];
        const classes = ["event", kind[event]];
        if (onCycle.has(event)) classes.push("on");
        if (hits.has(event)) classes.push("hit");
        if (near.has(event)) classes.push("near");
        if (event === chosen) classes.push("chosen");
        const cell = h("div", { class: classes.join(" "), role: "option", id: `event-${event}`, "data-event": event, "aria-selected": String(event === chosen), title: `${text[event]}${lineText(event)}` }, text[event]);
        cell.style.left = `${8 + lane * LANE}px`;
        cell.style.top = `${4 + row[event] * ROW}px`;
        cell.style.width = `${LANE - 12}px`;
        shown.push(cell);
      }
    }
    cells.replaceChildren(...shown);
    heads.replaceChildren(...titles);
    drawArrows();
    map.follow();
  }

  const centre = (event) => [8 + laneOf[event] * LANE + (LANE - 12) / 2, 4 + row[event] * ROW + 11];
  /** Who read from whom, for the chosen event; and the cycle. */
  function drawArrows() {
    const parts = [];
    const arrow = (a, b, className) => {
      const [x1, y1] = centre(a), [x2, y2] = centre(b);
      const bend = laneOf[a] === laneOf[b] ? LANE * .42 : 0;
      const start = laneOf[a] === laneOf[b] ? 0 : Math.sign(x2 - x1) * (LANE - 12) / 2;
      const [sx, ex] = [x1 + start, x2 - start];
      parts.push(s("path", { class: className, d: bend ? `M${x1 + LANE / 2 - 8} ${y1}C${x1 + LANE / 2 + bend} ${y1},${x1 + LANE / 2 + bend} ${y2},${x2 + LANE / 2 - 8} ${y2}` : `M${sx} ${y1}C${(sx + ex) / 2} ${y1},${(sx + ex) / 2} ${y2},${ex} ${y2}` }),
        s("circle", { class: `${className}-head`, cx: bend ? x2 + LANE / 2 - 8 : ex, cy: y2, r: 4 }));
    };
    for (const [a, b] of data.cycle_pairs) arrow(a, b, "cycle");
    if (chosen >= 0) {
      if (source[chosen] >= 0) arrow(source[chosen], chosen, "step");
      readersOf(chosen).slice(0, 200).forEach((reader) => arrow(chosen, reader, "context"));
    }
    arrows.replaceChildren(...parts);
  }

  let asked = false;
  function drawSoon() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  }
  frame.addEventListener("scroll", drawSoon, { passive: true });
  new ResizeObserver(drawSoon).observe(frame);
  cells.addEventListener("click", (event) => {
    const cell = /** @type {Element} */ (event.target).closest(".event");
    if (cell) choose(Number(cell.getAttribute("data-event")));
  });
  frame.addEventListener("keydown", (event) => {
    const move = { ArrowDown: [0, 1], ArrowUp: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (chosen < 0) { choose(lanes[0][0]); return; }
    const lane = lanes[laneOf[chosen]];
    if (move[1]) {
      const next = lane[from(lane, row[chosen]) + move[1]];
      if (next !== undefined) choose(next);
    } else {
      const other = lanes[laneOf[chosen] + move[0]];
      if (other && other.length) choose(other[Math.min(from(other, row[chosen]), other.length - 1)]);
    }
  });

  /** Shows an event in the middle, unless it is in sight. */
  function reveal(event) {
    const y = row[event] * ROW, x = laneOf[event] * LANE;
    const seen = y >= frame.scrollTop && y + ROW + 34 <= frame.scrollTop + frame.clientHeight
      && x >= frame.scrollLeft && x + LANE <= frame.scrollLeft + frame.clientWidth;
    if (!seen) frame.scrollTo(Math.max(0, x + LANE / 2 - frame.clientWidth / 2), Math.max(0, y - frame.clientHeight / 2));
  }

  const map = minimap(frame, lanes, onCycle, () => hits, (fraction) => {
    frame.scrollTop = fraction * space.offsetHeight - frame.clientHeight / 2;
  }, space);
  return {
    root: h("div", { class: "lanes-frame" }, frame, map.root),
    draw, focus: () => frame.focus(),
    choose(event) { chosen = event; frame.setAttribute("aria-activedescendant", `event-${event}`); if (event >= 0) reveal(event); draw(); },
    setHits(found) { hits = found; map.draw(); draw(); },
    readersOf,
  };
}

/** The map: a pixel for each event, the cycle larger, and a frame around what is seen. */
function minimap(frame, lanes, onCycle, hits, jump, space) {
  const { row } = data.events;
  const canvas = h("canvas", { "aria-hidden": "true" });
  const view = h("div", { class: "window" });
  const root = h("div", { class: "minimap", title: "Map of the trace; click or drag to go there", "aria-hidden": "true" }, canvas, view);
  function draw() {
    const width = 72, height = Math.max(1, root.clientHeight);
    if (!root.clientHeight) return;
    canvas.width = width; canvas.height = height;
    const pen = canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    const image = pen.createImageData(width, height);
    const [r, g, b] = rgb(style.getPropertyValue("--strong-line"));
    const scale = height / Math.max(1, data.rows);
    const step = width / lanes.length;
    lanes.forEach((lane, at) => {
      const x = Math.floor(at * step), end = Math.max(x + 1, Math.floor((at + 1) * step) - (step > 3 ? 1 : 0));
      for (const event of lane) {
        const y = Math.floor(row[event] * scale);
        const low = Math.max(y + 1, Math.min(height, Math.floor((row[event] + 1) * scale) - (scale > 3 ? 1 : 0)));
        for (let pixel = 4 * (y * width + x), to = x, line = y; line < low; to + 1 < end ? (to++, pixel += 4) : (line++, to = x, pixel = 4 * (line * width + x))) {
          image.data[pixel] = r; image.data[pixel + 1] = g; image.data[pixel + 2] = b;
          image.data[pixel + 3] = Math.min(255, image.data[pixel + 3] + 70);
        }
      }
    });
    pen.putImageData(image, 0, 0);
    const dot = (event, colour) => {
      const lane = lanes.findIndex((_, at) => event >= data.threads[at].start && event < data.threads[at].end);
      pen.fillStyle = colour;
      pen.fillRect(Math.floor(lane * step) - 1, Math.floor(row[event] * scale) - 1, Math.max(4, step + 1), 3);
    };
    let marks = 0;
    for (const event of hits()) { if (marks++ > 2000) break; dot(event, style.getPropertyValue("--open")); }
    onCycle.forEach((event) => dot(event, style.getPropertyValue("--bad")));
  }
  function follow() {
    const whole = Math.max(space.offsetHeight, frame.clientHeight, 1);
    view.style.top = `${100 * frame.scrollTop / whole}%`;
    view.style.height = `${100 * Math.min(1, frame.clientHeight / whole)}%`;
  }
  const go = (event) => jump((event.clientY - root.getBoundingClientRect().top) / root.clientHeight);
  root.addEventListener("pointerdown", (event) => { root.setPointerCapture(event.pointerId); go(event); });
  root.addEventListener("pointermove", (event) => { if (event.buttons) go(event); });
  new ResizeObserver(() => { draw(); follow(); }).observe(root);
  document.addEventListener("theme", draw);
  return { root, draw, follow };
}

/** `#818b98` as three numbers. */
function rgb(colour) {
  const digits = colour.trim().slice(1);
  return [0, 2, 4].map((at) => parseInt(digits.slice(at, at + 2), 16));
}
