// What a proof for any number of processors rests on: lemmas with the step that each excludes, and the
// abstract program of each claim.

/** The lemmas of all claims. */
function lemmasView() {
  const lines = new Map(data.rules.map(([name, first, last]) => [name, [first, last]]));
  let number = 0;
  const lemmaCard = (claim, lemma) => {
    number += 1;
    const rule = lines.get(lemma.rule);
    return h("div", { class: "card lemma", id: `lemma-${number}` },
      h("p", { class: "small muted" }, `Lemma ${number}, for ${claim.name}`),
      h("pre", null, lemma.invariant),
      h("p", null, lemma.called_for ? ["excludes the step ", h("code", { class: "excluded" }, lemma.called_for), " of the abstraction"] : "given by --lemmas"),
      rule ? h("details", { class: "lemma-rule" }, h("summary", { class: "small muted" }, `rule "${lemma.rule}", line ${rule[0]}`), sourceLines(rule[0], rule[1])) : null);
  };
  const cards = data.proof.claims.flatMap((claim) => claim.lemmas.map((lemma) => lemmaCard(claim, lemma)));
  const filter = h("input", { type: "search", id: "lemma-filter", placeholder: "rule, variable …", "aria-label": "Show lemmas with this text" });
  const shown = h("span", { class: "small muted", role: "status" });
  filter.addEventListener("input", () => {
    const wanted = filter.value.trim().toLowerCase();
    cards.forEach((card) => { card.hidden = !card.textContent.toLowerCase().includes(wanted); });
    shown.textContent = wanted ? count(cards.filter((card) => !card.hidden).length, "lemma") : "";
  });
  return h("section", null,
    h("div", { class: "row" }, h("p", { class: "note" }, "Each lemma is an invariant of the protocol, which the proof found and showed. Without it, the abstraction could take the step that stands below it, which no instance of the protocol can."),
      h("span", { class: "grow" }), cards.length > 8 ? [shown, filter] : null),
    cards);
}

/** The abstractions, with what searching them took. */
function abstractionView() {
  const { processor, concrete, claims, abstractions } = data.proof;
  const others = (claim) => (claim.named ? ", 1 known by name" : "");
  const claimCard = (claim) => {
    const program = abstractions.find((abstraction) => abstraction.claim === claim.name);
    const [tone, word] = claim.holds === true ? ["good", "proved"] : claim.holds === false ? ["bad", "violated"] : ["open", "undecided"];
    // What a random walk saw of an instance that was searched says nothing more.
    const isSearched = (processors) => claim.instances.some((other) => other.complete && other.processors === processors);
    const facts = [
      ["abstraction", `${count(concrete, "concrete processor")} of type ${processor}${others(claim)}, Other for the rest`],
      ["states", claim.states.toLocaleString("en")], ["rules fired", claim.rules_fired.toLocaleString("en")], ["depth", claim.depth.toLocaleString("en")],
      ["refinement rounds", claim.rounds.toLocaleString("en")], ["lemmas", `${claim.lemmas.length}${claim.minimal && claim.lemmas.length ? " (minimal)" : ""}`],
      ["last search", `${brief(claim.seconds)} s`],
      ...claim.instances.filter((instance) => instance.complete || !isSearched(instance.processors)).map((instance) => [`instance of ${count(instance.processors, "processor")}`, `${count(instance.states, "state")} (${instance.complete ? "all" : "partial"})`]),
    ];
    const lines = program ? program.text.trimEnd().split("\n") : [];
    const text = h("details", { class: "abstract-program" }, h("summary", null, `The abstract program (${count(lines.length, "line")})`));
    text.addEventListener("toggle", () => { if (text.open && text.children.length === 1) text.append(listing(lines, 1, lines.length)); });
    return h("div", { class: "card claim" }, h("div", { class: "row" }, h("h2", null, claim.name), verdictBadge(tone, word), h("span", { class: "grow" }),
      program ? [h("button", { onclick: () => copyText(program.text, "Program") }, "Copy"), h("button", { onclick: () => saveText("abstraction.m", program.text) }, "⤓ Save")] : null),
    h("dl", { class: "facts" }, facts.map(([name, value]) => [h("dt", null, name), h("dd", null, value)])),
    program ? text : h("p", { class: "note" }, "No abstraction of this claim was searched."));
  };
  return h("section", null,
    h("p", { class: "note" }, "The abstraction over-approximates the protocol with any number of processors. The variables of Other are not kept: where a rule reads one, a parameter of the rule stands for every value that the variable may have. A property that holds in this program holds for any number of processors."),
    claims.map(claimCard));
}
