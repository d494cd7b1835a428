// A run as a message-sequence chart: lanes from left to right, steps from top to bottom, messages as
// arrows from the step that sends them to the step that takes them.

const STEP = 44;
const HEAD = 44;

/** The width of the left column (`.two` in the style sheet). */
function roomForChart() {
  const margins = 56, details = 394;
  return innerWidth - margins - (matchMedia("(max-width: 900px)").matches ? 0 : details);
}

/**
 * @param {any} run the run @param {any[]} states each state of it
 * @param {(step: number) => void} choose called with the step that the reader picks
 */
function chartView(run, states, choose) {
  const lanes = run.lanes;
  const left = 46;
  // As wide as the room beside the details allows when the page opens; with many lanes the chart scrolls.
  const LANE = clamp(Math.floor((roomForChart() - left - 10) / lanes.length), 130, 220);
  const width = left + lanes.length * LANE + 10;
  const height = HEAD + (run.steps.length + 1) * STEP + 20;
  const x = (lane) => left + lane * LANE + LANE / 2;
  const y = (step) => HEAD + step * STEP + STEP / 2;
  const svg = s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `${run.steps.length} steps of ${lanes.length} lanes. Each step and each message has a label.` });
  const band = s("rect", { class: "band", x: 0, width, height: STEP, rx: 6 });
  svg.append(band);
  lanes.forEach((lane, at) => svg.append(
    s("line", { class: "life", x1: x(at), y1: HEAD - 8, x2: x(at), y2: height - 8 }),
    s("text", { class: "head", x: x(at), y: 20 }, lane)));

  // The state of each lane as a bar that changes its name where the state does.
  const shades = new Map();
  const shade = (text) => { if (!shades.has(text)) shades.set(text, shades.size % 6); return shades.get(text); };
  const short = (bar, state) => bar.map((place) => state.places.get(place)).filter(Boolean).join(" ");
  lanes.forEach((_, at) => {
    let from = 0, said = short(run.bars[at], states[0]);
    for (let step = 1; step <= states.length; step++) {
      const now = step < states.length ? short(run.bars[at], states[step]) : null;
      if (now === said) continue;
      if (said) {
        const top = y(from) - (from ? 0 : STEP / 2), end = step < states.length ? y(step) : height - 8;
        svg.append(s("g", { class: `bar-${shade(said)}` },
          s("title", null, `${lanes[at]}: ${run.bars[at].map((place) => `${place} = ${states[from].places.get(place)}`).join(", ")}`),
          s("rect", { class: "state", x: x(at) - 5, y: top, width: 10, height: Math.max(4, end - top - 1), rx: 4 }),
          s("text", { class: "state-name", x: x(at) + 10, y: top + 17 }, said)));
      }
      from = step; said = now;
    }
  });

  // Steps: a mark on the lane that acts.
  run.steps.forEach((step, at) => {
    const number = at + 1;
    const says = `Step ${number}, ${lanes[run.actors[at]]}: ${stepText(step)}`;
    const group = s("g", { class: "pick step-row", tabindex: 0, role: "button", "aria-label": says, "data-step": number },
      s("title", null, says),
      s("rect", { class: "reach-row", x: 0, y: y(number) - STEP / 2, width, height: STEP }),
      s("text", { class: "step-number", x: 34, y: y(number) + 4 }, number),
      s("circle", { class: step.error ? "act bad" : "act", cx: x(run.actors[at]), cy: y(number), r: 6 }));
    press(group, () => choose(number));
    svg.append(group);
  });

  // Messages. Several that are sent in one step are set apart.
  const ends = new Map();
  const apart = (key) => { const number = ends.get(key) || 0; ends.set(key, number + 1); return number; };
  run.arrows.forEach((arrow, at) => {
    const flies = arrow.taken === null;
    const fan = apart(arrow.sent) * 9;
    const x1 = x(arrow.from), y1 = y(arrow.sent) + Math.min(fan, 18);
    const to = arrow.to === null ? arrow.from : arrow.to;
    const x2 = x(to), y2 = flies ? y(run.steps.length + .55) : y(arrow.taken);
    const own = to === arrow.from;
    const way = Math.sign(x2 - x1) || 1;
    const [sx, ex] = own ? [x1 + 7, x2 + 7] : [x1 + way * 7, x2 - way * 8];
    const path = own
      ? `M${sx} ${y1}C${sx + 46} ${y1},${sx + 46} ${y2},${ex} ${y2}`
      : `M${sx} ${y1}L${ex} ${y2}`;
    const [dx, dy] = own ? [-1, 0] : unit(ex - sx, y2 - y1);
    const head = `M${ex} ${y2}L${ex - dx * 9 - dy * 4.5} ${y2 - dy * 9 + dx * 4.5}L${ex - dx * 9 + dy * 4.5} ${y2 - dy * 9 - dx * 4.5}Z`;
    const says = `${arrow.label} from ${lanes[arrow.from]} (${arrow.sent ? `step ${arrow.sent}` : "from the start"}) ${flies ? "still under way at the end" : `to ${lanes[to]} (step ${arrow.taken})`}: ${arrow.slot}, ${arrow.detail}`;
    const along = own ? .5 : flies || arrow.taken - arrow.sent > 1 ? .2 : .36;
    const tx = own ? sx + 40 : sx + (ex - sx) * along, ty = y1 + (y2 - y1) * along - 4;
    const group = s("g", { class: `message${flies ? " flies" : ""}`, "data-arrow": at, "data-sent": arrow.sent, "data-taken": arrow.taken ?? "", role: "img", "aria-label": says },
      s("title", null, says),
      s("path", { class: "reach", d: path }), s("path", { class: "message-line", d: path }), s("path", { class: "message-head", d: head }),
      s("text", { class: "message-name", x: tx, y: ty, "text-anchor": own ? "start" : "middle" }, arrow.label));
    group.addEventListener("click", () => choose(flies ? arrow.sent : arrow.taken));
    svg.append(group);
  });

  const root = h("div", { class: "picture chart" }, svg);
  return {
    root,
    show(step) {
      band.setAttribute("y", String(y(step) - STEP / 2));
      svg.querySelectorAll(".now").forEach((element) => element.classList.remove("now"));
      svg.querySelectorAll(`[data-sent="${step}"], [data-taken="${step}"]`).forEach((element) => element.classList.add("now"));
      const at = svg.getBoundingClientRect().top + y(step);
      if (at < 90 || at > innerHeight - 60) scrollTo({ top: scrollY + at - innerHeight / 2 });
    },
  };
}

/** A vector of length 1. */
function unit(dx, dy) {
  const long = Math.hypot(dx, dy) || 1;
  return [dx / long, dy / long];
}
/** A step in words. */
function stepText(step) {
  const bound = step.bindings.map(([name, value]) => `${name} = ${value}`).join(", ");
  return bound ? `${step.rule} (${bound})` : step.rule;
}
