// Why a trace violates a model: pictures of the cycles, and the argument step by step.
// A node is the number of an event, or -1 minus the number of an address for its initial value.

/**
 * The pictures and the argument.
 * @param {{panels: any[], argument: any[], more_panels: number, name: (node: number) => string}} of
 * @param {{node: Function, link: Function, pair: Function}} choose told of what is picked
 */
function argumentView(of, choose) {
  const links = []; // every link of the argument, with its element
  const steps = new Map(); // label -> element

  const roleNames = {
    cycle: "the cycle: each comes before the next", assumed: "assumed in this case",
    step: "shown by a step", context: "also used",
  };

  /** One picture. */
  function picture(panel, number) {
    const name = of.name;
    const svg = s("svg", {
      width: Math.ceil(panel.width), height: Math.ceil(panel.height), role: "group",
      viewBox: `${panel.x} ${panel.y} ${panel.width} ${panel.height}`,
      "aria-label": `Picture ${number + 1}: ${panel.boxes.filter((box) => box.on).length} events on a cycle, as arrows between threads. The argument below says the same in words.`,
    });
    panel.lanes.forEach((lane) => svg.append(
      s("rect", { class: "lane", x: lane.x, y: lane.y, width: lane.width, height: lane.height, rx: 8 }),
      s("text", { class: "head", x: lane.x + lane.width / 2, y: lane.y + 22 }, lane.title)));
    panel.threads.forEach(([x1, y1, x2, y2]) => svg.append(s("path", { class: "thread", d: `M${x1} ${y1}L${x2} ${y2}` })));
    const arrows = panel.arrows.map((arrow) => {
      const says = `${name(arrow.from)} before ${name(arrow.to)}: ${arrow.label}`;
      const group = s("g", { class: "pick", tabindex: 0, role: "button", "aria-label": says, "data-from": arrow.from, "data-to": arrow.to },
        s("title", null, says),
        s("path", { class: "reach", d: arrow.path }),
        s("path", { class: arrow.role, d: arrow.path }),
        s("path", { class: `${arrow.role}-head`, d: arrow.head }));
      const pick = () => {
        if (arrow.step && arrow.role !== "cycle") openStep(arrow.step);
        const link = links.find((link) => link.from === arrow.from && link.to === arrow.to);
        if (link) chooseLink(link, false);
        else { mark(arrow.from, arrow.to); choose.pair(arrow); }
      };
      press(group, pick);
      return { arrow, group };
    });
    // The most important come first; they are drawn last, on top.
    [...arrows].reverse().forEach(({ group }) => svg.append(group));
    panel.boxes.forEach((box) => svg.append(boxOf(box)));
    arrows.forEach(({ arrow, group }) => {
      if (!arrow.place) return;
      const at = arrow.place;
      /** @type {SVGElement[]} */
      const parts = [s("rect", { class: at.within ? "back-lane" : "back", x: at.x, y: at.y, width: at.width, height: at.height, rx: 4 })];
      let x = at.x + 4;
      if (arrow.step) {
        const width = 8 + 7 * arrow.step.length + 4;
        parts.push(s("rect", { class: "badge", x, y: at.y + at.height / 2 - 8, width, height: 16, rx: 8 }),
          s("text", { class: "badge-text", x: x + width / 2, y: at.y + at.height / 2 + 4 }, arrow.step));
        x += width + 4;
      }
      parts.push(s("text", { class: `label ${arrow.role}-text`, x, y: at.y + at.height / 2 + 4 }, arrow.label));
      const label = s("g", { class: "pick", "aria-hidden": "true" }, parts);
      label.addEventListener("click", () => group.dispatchEvent(new MouseEvent("click")));
      svg.append(label);
    });
    return h("div", { class: "picture" }, svg);
  }

  function boxOf(box) {
    const middle = box.x + box.width / 2;
    if (box.kind === "gap") return s("text", { class: "gap", x: middle, y: box.y + box.height / 2 + 4 }, box.lines[0]);
    if (box.kind === "fence") {
      const group = s("g", { class: "pick", tabindex: 0, role: "button", "aria-label": box.lines[0], "data-node": box.node },
        s("rect", { class: "bar", x: box.x, y: box.y, width: box.width, height: box.height, rx: 3 }),
        s("text", { class: "fence-text", x: middle, y: box.y + box.height / 2 + 4 }, box.lines[0]));
      press(group, () => choose.node(box.node));
      return group;
    }
    const shape = `${box.on ? "box-on" : "box"}${box.kind === "initial" ? " box-initial" : ""}`;
    const says = of.name(box.node) + (box.on ? ", on the cycle" : "");
    const group = s("g", { class: "pick", tabindex: 0, role: "button", "aria-label": says, "data-node": box.node },
      s("title", null, says),
      s("rect", { class: shape, x: box.x, y: box.y, width: box.width, height: box.height, rx: 7 }),
      box.lines.map((line, at) => s("text", { class: "mono", x: middle, y: box.y + 18 + at * 16 }, line)),
      s("text", { class: "place", x: middle, y: box.y + box.height - 8 }, box.place));
    press(group, () => choose.node(box.node));
    return group;
  }

  /** Links of a walk as a list. */
  function walk(items, className) {
    return h("ul", { class: `links ${className || ""}`, role: "list" }, items.map((item) => {
      const element = h("li", { tabindex: 0, role: "button" },
        h("span", { class: "why-kind" }, item.label),
        h("span", { class: "sentence" }, item.text, item.steps.map((step) => [" ", stepButton(step)])));
      const link = { ...item, element, number: links.length };
      links.push(link);
      press(element, () => chooseLink(link, false));
      return element;
    }));
  }
  const stepButton = (label) =>
    h("button", { class: "number-badge", title: `Step ${label}`, onclick: (event) => { event.stopPropagation(); openStep(label); } }, label);

  function fact(step) {
    const element = h("details", { class: "fact", id: `step-${step.label}` },
      h("summary", null, h("span", { class: "number-badge" }, step.label), step.claim),
      h("div", null, h("p", null, step.reason), step.derived.map(fact), step.links.length ? walk(step.links) : null,
        step.closing ? h("p", { class: "closing" }, step.closing) : null));
    steps.set(step.label, element);
    return element;
  }
  function item(one) {
    if (one.kind === "step") return fact(one);
    if (one.kind === "left_out") return h("p", { class: "note" }, `${count(one.count, "earlier step")} left out here: proved like these; the certificate has all of them.`);
    if (one.kind === "cases") {
      return h("div", null, h("p", null, h("strong", null, one.question)), one.cases.map((each) =>
        h("details", { class: "fact", open: true, id: `case-${each.label}` },
          h("summary", null, h("strong", null, `Case ${each.label}: `), each.assumes),
          h("div", null, each.items.map(item)))));
    }
    return h("div", null, one.sentences.map((sentence) => h("p", { class: "note" }, sentence)), one.derived.map(fact),
      one.links.length ? walk(one.links, "main") : null, one.closing ? h("p", { class: "closing" }, one.closing) : null);
  }

  function openStep(label) {
    const element = steps.get(label);
    if (!element) return;
    for (let at = element; at; at = at.parentElement) if (at instanceof HTMLDetailsElement) at.open = true;
    element.scrollIntoView({ block: "center" });
    element.classList.remove("flash");
    void element.offsetWidth; // restart the animation
    element.classList.add("flash");
    element.querySelector("summary").focus({ preventScroll: true });
  }

  /** Marks what belongs to a link in the pictures. */
  function mark(from, to) {
    root.querySelectorAll(".chosen").forEach((element) => element.classList.remove("chosen"));
    root.querySelectorAll(`[data-from="${from}"][data-to="${to}"]`).forEach((element) => element.classList.add("chosen"));
  }
  function chooseLink(link, scroll) {
    mark(link.from, link.to);
    link.element.classList.add("chosen");
    for (let at = link.element; at; at = at.parentElement) if (at instanceof HTMLDetailsElement) at.open = true;
    if (scroll) link.element.scrollIntoView({ block: "nearest" });
    choose.link(link);
  }
  function markNode(node) {
    root.querySelectorAll(".chosen").forEach((element) => element.classList.remove("chosen"));
    root.querySelectorAll(`[data-node="${node}"]`).forEach((element) => element.classList.add("chosen"));
  }

  const used = new Set(of.panels.flatMap((panel) => panel.arrows.map((arrow) => arrow.role)));
  const key = h("div", { class: "key" }, Object.keys(roleNames).filter((role) => used.has(role)).map((role) =>
    h("span", null, s("svg", { width: 38, height: 10, "aria-hidden": "true" },
      s("path", { class: role, d: "M1 5L30 5" }), s("path", { class: `${role}-head`, d: "M37 5L28 1L28 9Z" })), roleNames[role])));
  const pictures = of.panels.map((panel, number) => h("section", null,
    panel.heading ? h("h3", null, panel.heading) : null, picture(panel, number)));
  const argument = h("section", { "aria-label": "The argument" }, of.argument.map(item));
  const root = h("div", null, key, pictures,
    of.more_panels ? h("p", { class: "note" }, `${count(of.more_panels, "more case")} described below and not drawn.`) : null, argument);

  // The links of the cycle that ends the argument, for stepping through it.
  const cycle = () => links.filter((link) => link.element.parentElement.classList.contains("main"));
  return { root, links, cycle, chooseLink, openStep, markNode };
}

/** Makes an element behave as a button. */
function press(element, act) {
  element.addEventListener("click", act);
  element.addEventListener("keydown", (event) => {
    if (event.target !== element || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    act(event);
  });
}
