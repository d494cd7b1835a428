// How a search went: states by depth, states and memory over time, symmetry.

/** The view of a search. */
function searchView() {
  const { depths, growth, totals, symmetry, bytes, order } = data.search;
  const last = growth.length ? growth[growth.length - 1][0] : 0;
  const seconds = (at) => (last < 0.1 ? `${brief(at * 1000)} ms` : `${brief(at)} s`);
  const tiles = [
    [totals.states.toLocaleString("en"), symmetry.most > 1 ? "states, up to symmetry" : "states"],
    [totals.rules_fired.toLocaleString("en"), "rules fired"],
    [totals.depth.toLocaleString("en"), "depth"],
    [seconds(last), "of search"],
    [last > 0 ? brief(totals.states / last) : "–", "states a second"],
    [briefBytes(bytes), `memory, ${totals.bytes_per_state.toLocaleString("en", { maximumFractionDigits: 1 })} bytes a state`],
  ];
  const largest = depths.states.reduce((best, states, at) => (states > depths.states[best] ? at : best), 0);
  const span = (at) => (depths.levels === 1 ? `depth ${at}` : `depths ${at} to ${at + depths.levels - 1}`);
  const at = (entry) => depths.first + entry * depths.levels;
  const byDepth = depths.states.length ? plot({
    title: "States by depth", kind: "bars",
    note: `Largest level: ${span(at(largest))}, with ${depths.states[largest].toLocaleString("en")} states.${depths.first ? ` The search continued from a checkpoint at depth ${depths.first}; ${depths.before.toLocaleString("en")} states are nearer.` : ""}`,
    x: { label: depths.levels === 1 ? "rules from a start state" : `rules from a start state, ${depths.levels} levels a bar` },
    y: { label: "states", zero: true, show: (y) => (y % 1 ? "" : brief(y)) },
    series: [{ name: "states", points: depths.states.map((states, entry) => [at(entry), states]) }],
  }) : h("p", { class: "card note" }, `States have a depth in a breadth-first search only (this one is ${order}).`);
  const time = { label: last < 0.1 ? "milliseconds" : "seconds", zero: true, show: (at) => seconds(at) };
  const overTime = growth.length > 1 ? [
    plot({ title: "States over time", x: time, y: { label: "states", zero: true },
      series: [{ name: "states", points: growth.map(([at, size]) => [at, size.states]) }] }),
    plot({ title: "Memory over time", x: time, y: { label: "memory", zero: true, binary: true, show: briefBytes },
      series: [{ name: "memory", points: growth.map(([at, size]) => [at, size.bytes]) }] }),
  ] : null;
  const sets = symmetry.scalarsets;
  const reduced = h("div", { class: "card" }, h("h2", null, "Symmetry"),
    h("p", { class: "note" }, !sets.length ? "The model has no scalarset, so there is no symmetry reduction." :
      !symmetry.on ? "Symmetry reduction is off: every state is stored." :
        symmetry.most > 1 ? `A stored state stands for all that differ from it by a renaming: at most ${brief(symmetry.most)}, so that the model has at most ${brief(symmetry.most * totals.states)} states.` :
          "No scalarset could be used for symmetry reduction."),
    sets.length ? h("div", { class: "scroll" }, h("table", null, h("thead", null, h("tr", null, h("th", null, "scalarset"), h("th", { class: "number" }, "members"), h("th", null, ""))),
      h("tbody", null, sets.map((set) => h("tr", null, h("td", { class: "mono" }, set.name), h("td", { class: "number" }, set.members),
        h("td", null, set.reduced ? "interchangeable" : symmetry.on ? "not interchangeable: the model depends on the order of its members" : "not reduced (--symmetry off)")))))) : null);
  return h("section", null,
    h("div", { class: "tiles" }, tiles.map(([value, name]) => h("div", { class: "tile" }, h("div", { class: "tile-value" }, value), h("div", { class: "small muted" }, name)))),
    h("div", { class: "plots" }, byDepth, overTime, reduced));
}
