// Plots: lines or bars over linear or logarithmic axes, which answer to the pointer and to the arrow
// keys, with the same numbers as a table for those who read or hear them.

/** A number of three digits with its unit: 999, 1.23k, 45.6M; small ones as they are. */
function brief(number) {
  if (number === 0) return "0";
  const size = Math.abs(number);
  if (size < 0.001) return number.toExponential(1);
  if (size < 1000) return String(Number(number.toPrecision(3)));
  const units = ["k", "M", "G", "T"];
  const at = Math.min(units.length, Math.floor(Math.log10(size * 1.0005) / 3));
  return `${Number((number / 1000 ** at).toPrecision(3))}${units[at - 1]}`;
}
/** Bytes in binary units. */
function briefBytes(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const at = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${Number((bytes / 1024 ** at).toPrecision(3))} ${units[at]}`;
}

/** The least round number that is at least this: 1, 2 or 5 times a power of ten; of bytes, a power of two. */
function stepOf(raw, binary) {
  if (binary) return 2 ** Math.ceil(Math.log2(raw) - 1e-9);
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * [1, 2, 5, 10].find((digit) => raw <= digit * power * 1.0001);
}
/**
 * Where an axis has its lines: round numbers within its range.
 * @param {number} least @param {number} most @param {{log?: boolean, binary?: boolean}} axis @param {number} wanted
 */
function ticks(least, most, { log, binary }, wanted) {
  if (log) {
    const [from, to] = [Math.ceil(Math.log10(least) - 1e-9), Math.floor(Math.log10(most) + 1e-9)];
    const step = Math.max(1, Math.ceil((to - from + 1) / wanted));
    const powers = [];
    for (let power = from; power <= to; power += step) powers.push(10 ** power);
    if (powers.length >= 2) return powers;
    const fine = [];
    for (let power = from - 1; power <= to; power++) for (const digit of [1, 2, 5]) fine.push(digit * 10 ** power);
    return fine.filter((tick) => tick >= least * 0.999 && tick <= most * 1.001);
  }
  const step = stepOf((most - least) / wanted, binary);
  const found = [];
  for (let at = Math.ceil(least / step - 1e-9); at * step <= most + step * 1e-9; at++) found.push(at * step);
  return found;
}

/** The scale of an axis: from numbers to places, which may run backwards. */
function scale(numbers, axis, from, to) {
  const fit = numbers.filter((number) => Number.isFinite(number) && (!axis.log || number > 0));
  let least = fit.length ? Math.min(...fit) : 1, most = fit.length ? Math.max(...fit) : 1;
  if (axis.zero && !axis.log) least = Math.min(0, least);
  if (least === most) { least = axis.log ? least / 2 : least - (axis.zero ? 0 : 0.5); most = axis.log ? most * 2 : most + 0.5; }
  // Room up to the next round number.
  if (axis.round && !axis.log) { const step = stepOf((most - least) / 5, axis.binary); most = Math.ceil(most / step - 1e-9) * step; }
  const of = axis.log ? Math.log : (number) => number;
  const place = (number) => from + (to - from) * (of(number) - of(least)) / (of(most) - of(least));
  return { place, least, most };
}

const MARKS = ["●", "■", "▲", "◆", "▼", "✚"];
const PALETTE = 7;

/**
 * A plot as a card.
 * @param {{title: string, note?: any, height?: number, kind?: "line"|"bars",
 *   width?: number, x: {label: string, log?: boolean, zero?: boolean, show?: (x: number) => string},
 *   y: {label: string, log?: boolean, zero?: boolean, binary?: boolean, show?: (y: number) => string},
 *   series: Array<{name: string, points: Array<[number, number, string?]>, dashed?: boolean}>}} of
 */
function plot(of) {
  const width = of.width || 520, height = of.height || 270, left = 74, right = 16, top = 12, bottom = 46;
  const shown = of.series.map((line) => ({ ...line, points: line.points.filter(([x, y]) => (!of.x.log || x > 0) && (!of.y.log || y > 0)) }));
  const all = shown.flatMap((line) => line.points);
  const showX = of.x.show || brief, showY = of.y.show || brief;
  const x = scale(all.map(([at]) => at), of.x, left, width - right);
  const y = scale(all.map(([, at]) => at), { ...of.y, round: true }, height - bottom, top);
  const bars = of.kind === "bars";
  const wide = bars ? Math.max(1, Math.min(40, (width - left - right) / Math.max(1, all.length) - 1)) : 0;
  if (bars) { const inner = x.place; x.place = (at) => left + wide / 2 + (inner(at) - left) * (width - right - left - wide) / (width - right - left); }

  const grid = ticks(y.least, y.most, of.y, 5).map((tick) => [
    s("line", { class: "plot-grid", x1: left, x2: width - right, y1: y.place(tick), y2: y.place(tick) }),
    s("text", { class: "plot-tick", x: left - 7, y: y.place(tick) + 4, "text-anchor": "end" }, showY(tick))]);
  // A number that would not fit at the right edge ends there.
  const foot = (at, text) => (at + 4 * text.length > width ? s("text", { class: "plot-tick", x: width, y: height - bottom + 19, "text-anchor": "end" }, text)
    : s("text", { class: "plot-tick", x: at, y: height - bottom + 19, "text-anchor": "middle" }, text));
  const feet = ticks(x.least, x.most, of.x, 7).filter((tick) => !bars || Number.isInteger(tick)).map((tick) => [
    s("line", { class: "plot-grid", x1: x.place(tick), x2: x.place(tick), y1: height - bottom, y2: height - bottom + 5 }),
    foot(x.place(tick), showX(tick))]);
  const ground = height - bottom;
  const drawn = shown.map((line, number) => {
    const tint = `plot-${number % PALETTE}`;
    if (bars) return s("g", { class: tint }, line.points.map(([at, much]) => s("rect", { class: "plot-bar", x: x.place(at) - wide / 2, width: wide, y: Math.min(y.place(much), ground - 1), height: Math.max(1, ground - y.place(much)) })));
    const path = line.points.map(([at, much], first) => `${first ? "L" : "M"}${x.place(at).toFixed(1)} ${y.place(much).toFixed(1)}`).join("");
    return s("g", { class: tint }, s("path", { class: `plot-line${line.dashed ? " dashed" : number >= PALETTE ? " dotted" : ""}`, d: path }),
      line.points.length > 60 ? null : line.points.map(([at, much]) => s("circle", { class: "plot-dot", cx: x.place(at), cy: y.place(much), r: 3 })));
  });
  const cross = s("line", { class: "plot-cross", y1: top, y2: ground, x1: -9, x2: -9 });
  const dots = s("g");
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${of.title}: ${of.y.label} by ${of.x.label}`, tabindex: 0 },
    grid, feet, s("line", { class: "plot-axis", x1: left, x2: width - right, y1: ground, y2: ground }), drawn, cross, dots,
    s("text", { class: "plot-label", x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, of.x.label),
    s("text", { class: "plot-label", transform: `translate(13 ${(top + ground) / 2}) rotate(-90)`, "text-anchor": "middle" }, of.y.label));
  const tip = h("div", { class: "plot-tip", hidden: true });
  const places = [...new Set(all.map(([at]) => at))].sort((a, b) => a - b);

  /** Moves the vertical line to a place; -9 is outside the picture. */
  function crossAt(where) { cross.setAttribute("x1", String(where)); cross.setAttribute("x2", String(where)); }

  /** Shows the numbers at one place of the horizontal axis. */
  function point(number) {
    const at = places[number];
    const there = shown.map((line, tint) => ({ line, tint, found: line.points.find(([where]) => where === at) })).filter(({ found }) => found);
    const where = x.place(at);
    crossAt(where);
    fill(dots, there.map(({ tint, found: [, much] }) => s("circle", { class: `plot-hit plot-${tint % PALETTE}`, cx: where, cy: y.place(much), r: 5 })));
    fill(tip, h("div", { class: "small muted" }, `${of.x.label}: ${showX(at)}`),
      there.map(({ line, tint, found: [, much, note] }) => h("div", { class: `plot-${tint % PALETTE}` }, h("span", { class: "plot-mark", "aria-hidden": "true" }, MARKS[tint % MARKS.length]), shown.length > 1 ? ` ${line.name}: ` : " ", h("b", null, showY(much)), note ? h("span", { class: "muted" }, ` ${note}`) : null)));
    tip.hidden = false;
    const share = where / width;
    tip.style.left = share < 0.6 ? `${100 * share}%` : "auto";
    tip.style.right = share < 0.6 ? "auto" : `${100 * (1 - share)}%`;
    return tip.textContent;
  }
  function leave() { tip.hidden = true; crossAt(-9); fill(dots); current = -1; }
  let current = -1;
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const here = (event.clientX - box.left) * width / box.width;
    let best = 0;
    places.forEach((at, number) => { if (Math.abs(x.place(at) - here) < Math.abs(x.place(places[best]) - here)) best = number; });
    if (places.length) { current = best; point(best); }
  });
  svg.addEventListener("pointerleave", leave);
  svg.addEventListener("blur", leave);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step || !places.length || event.ctrlKey || event.metaKey || event.altKey) return;
    current = clamp(current < 0 ? (step > 0 ? 0 : places.length - 1) : current + step, 0, places.length - 1);
    announce(point(current));
    event.preventDefault(); event.stopPropagation();
  });
  const legend = shown.length > 1 ? h("div", { class: "key" }, shown.map((line, number) =>
    h("span", { class: `plot-${number % PALETTE}` }, h("span", { class: "plot-mark", "aria-hidden": "true" }, MARKS[number % MARKS.length]), h("span", { class: "plot-name" }, line.name, line.dashed ? " (dashed)" : number >= PALETTE ? " (dotted)" : "")))) : null;
  const table = () => h("div", { class: "scroll plot-table" }, h("table", null,
    h("thead", null, h("tr", null, h("th", { class: "number" }, of.x.label), of.series.map((line) => h("th", { class: "number" }, of.series.length > 1 ? line.name : of.y.label)))),
    h("tbody", null, places.map((at) => h("tr", null, h("td", { class: "number" }, showX(at)),
      of.series.map((line) => { const found = line.points.find(([where]) => where === at); return h("td", { class: "number" }, found ? showY(found[1]) : ""); }))))));
  const numbers = h("details", { class: "plot-numbers no-print" }, h("summary", { class: "small muted" }, "as a table"));
  numbers.addEventListener("toggle", () => { if (numbers.open && numbers.children.length === 1) numbers.append(table()); });
  return h("figure", { class: "card plot" }, h("figcaption", null, h("h2", null, of.title), of.note ? h("p", { class: "note" }, of.note) : null),
    legend, h("div", { class: "plot-frame" }, svg, tip), numbers);
}
