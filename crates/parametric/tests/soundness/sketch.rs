//! Random programs that are symmetric in their processors, small enough to be looked at with four
//! or five of them, in parts that can be taken away.

use chance::Rng;

/// A rule in parts.
#[derive(Debug, Clone)]
pub(crate) struct RuleSketch {
    pub(crate) parameters: Vec<&'static str>,
    pub(crate) guard: Vec<String>,
    pub(crate) body: Vec<String>,
}

/// A program in parts.
#[derive(Debug, Clone)]
pub(crate) struct Sketch {
    pub(crate) start: Vec<String>,
    pub(crate) rules: Vec<RuleSketch>,
    pub(crate) invariants: Vec<String>,
}

const DECLARATIONS: &str = "const N: 3;
type P: scalarset(N); S: enum { I, A, B }; Count: 0..N; Bit: 0..1;
  M: record kind: S; who: P; end;
  D: record head: P; sharers: array [P] of boolean; end;
var st: array [P] of S; set: array [P] of boolean; other: array [P] of boolean;
  owner: P; next: array [P] of P; msg: array [P] of M; dir: D;
  grid: array [P] of array [Bit] of boolean; flag: boolean; level: 0..2; count: Count;
procedure become(var place: S; what: S); begin place := what; end;
procedure give(p: P; q: P); begin next[p] := q; owner := p; end;
procedure note(p: P); begin if set[p] then flag := true; else set[p] := true; end; end;
function busy(p: P): boolean; begin return st[p] != I & !flag; end;
function best(p: P): S; begin if set[p] then return A; end; return st[p]; end;
function take(p: P): S;
  var was: S;
begin was := st[p]; st[p] := I; return was; end;
";

impl Sketch {
    /// The program as Murphi.
    pub(crate) fn text(&self) -> String {
        let mut text = DECLARATIONS.to_owned();
        text += &format!("startstate begin\n  {}\nend;\n", self.start.join("\n  "));
        for (number, rule) in self.rules.iter().enumerate() {
            let guard = match rule.guard.is_empty() {
                true => "true".to_owned(),
                false => rule.guard.join(" & "),
            };
            let body = rule.body.join("\n    ");
            let inner = format!(
                "rule \"r{number}\" {guard} ==>\n  var who: P; was: S;\n  begin\n    {body}\n  end;\n"
            );
            text += &match rule.parameters.is_empty() {
                true => inner,
                false => {
                    let each: Vec<String> =
                        rule.parameters.iter().map(|name| format!("{name}: P")).collect();
                    format!("ruleset {} do {inner}end;\n", each.join("; "))
                }
            };
        }
        for (number, invariant) in self.invariants.iter().enumerate() {
            text += &format!("invariant \"i{number}\" {invariant};\n");
        }
        text
    }

    /// All programs with one part less.
    pub(crate) fn smaller(&self) -> Vec<Sketch> {
        let mut found = Vec::new();
        for number in 0..self.rules.len() {
            let mut less = self.clone();
            less.rules.remove(number);
            if !less.rules.is_empty() {
                found.push(less);
            }
        }
        for number in 0..self.invariants.len() {
            let mut less = self.clone();
            less.invariants.remove(number);
            found.push(less);
        }
        for rule in 0..self.rules.len() {
            for part in 0..self.rules[rule].guard.len() {
                let mut less = self.clone();
                less.rules[rule].guard.remove(part);
                found.push(less);
            }
            for part in 0..self.rules[rule].body.len() {
                let mut less = self.clone();
                less.rules[rule].body.remove(part);
                found.push(less);
            }
        }
        found
    }
}

/// What may be spoken of.
struct Words<'a> {
    rng: &'a mut Rng,
    /// The state variables in use.
    used: Vec<&'static str>,
    /// How many variables have been bound.
    bound: usize,
}

const VARIABLES: &[&str] =
    &["st", "set", "other", "owner", "next", "msg", "dir", "grid", "flag", "level", "count"];

/// A random program.
pub(crate) fn random(rng: &mut Rng, concrete: u64) -> Sketch {
    let mut used: Vec<&'static str> = vec!["st"];
    for _ in 0..1 + rng.below(3) {
        used.extend(rng.pick(VARIABLES).copied());
    }
    used.sort_unstable();
    used.dedup();
    let defined = rng.percent(60);
    let mut words = Words { rng, used, bound: 0 };
    let mut sketch = words.template();
    sketch.start = start(defined);
    let more = if sketch.rules.is_empty() { 4 } else { 2 };
    for _ in 0..words.rng.below(more) {
        let rule = words.rule();
        sketch.rules.push(rule);
    }
    if sketch.rules.is_empty() {
        let rule = words.rule();
        sketch.rules.push(rule);
    }
    if concrete == 1 {
        sketch.invariants.clear();
    }
    // Those at random are mostly wrong.
    if sketch.invariants.is_empty() || words.rng.percent(30) {
        let invariant = words.invariant(concrete);
        sketch.invariants.push(invariant);
    }
    sketch
}

fn start(defined: bool) -> Vec<String> {
    let mut start = vec![
        "for p: P do st[p] := I; set[p] := false; other[p] := false; msg[p].kind := I; end;",
        "for p: P do dir.sharers[p] := false; for b: Bit do grid[p][b] := false; end; end;",
        "flag := false; level := 0; count := 0;",
    ];
    if defined {
        start.push("for p: P do next[p] := p; msg[p].who := p; end;");
    }
    start.into_iter().map(str::to_owned).collect()
}

impl Words<'_> {
    fn uses(&self, variable: &str) -> bool {
        self.used.contains(&variable)
    }

    fn one_of(&mut self, texts: &[String]) -> String {
        self.rng.pick(texts).cloned().unwrap_or_else(|| "flag".to_owned())
    }

    fn state(&mut self) -> &'static str {
        self.rng.pick(&["I", "A", "B"]).copied().unwrap_or("I")
    }

    /// A name for a bound variable; now and then one that hides another.
    fn fresh(&mut self, around: &[String]) -> String {
        if self.rng.percent(8)
            && let Some(hidden) = self.rng.pick(around)
        {
            return hidden.clone();
        }
        self.bound += 1;
        format!("r{}", self.bound)
    }

    /// A processor: one that is bound here.
    fn who(&mut self, around: &[String]) -> Option<String> {
        self.rng.pick(around).cloned()
    }

    /// A condition about the processors that are bound here.
    fn condition(&mut self, around: &[String], depth: usize) -> String {
        if depth > 0 {
            let inner = |words: &mut Self| words.condition(around, depth - 1);
            match self.rng.below(12) {
                0 | 1 => return format!("({} & {})", inner(self), inner(self)),
                2 => return format!("({} | {})", inner(self), inner(self)),
                3 => return format!("!({})", inner(self)),
                4 => return format!("({} -> {})", inner(self), inner(self)),
                5..=7 => {
                    let quantifier = if self.rng.percent(50) { "exists" } else { "forall" };
                    let name = self.fresh(around);
                    let mut more = around.to_vec();
                    more.push(name.clone());
                    // Mostly about the new one.
                    let about = if self.rng.percent(60) { vec![name.clone()] } else { more };
                    let condition = self.condition(&about, depth - 1);
                    return format!("({quantifier} {name}: P do {condition} end)");
                }
                8 if self.rng.percent(30) => {
                    return format!("(({}) = ({}))", inner(self), inner(self));
                }
                _ => {}
            }
        }
        self.atom(around)
    }

    fn atom(&mut self, around: &[String]) -> String {
        let mut texts = vec!["flag".to_owned(), "!flag".to_owned()];
        if self.uses("level") {
            texts.extend(["level = 0", "level < 2", "level = 2"].map(str::to_owned));
        }
        if self.uses("count") {
            texts.extend(["count = 0", "count > 0"].map(str::to_owned));
        }
        if self.uses("owner") {
            texts.push("isundefined(owner)".into());
            let state = self.state();
            texts.push(format!("(!isundefined(owner) & st[owner] = {state})"));
            texts.push("(!isundefined(owner) & set[owner])".into());
        }
        if self.uses("dir") {
            texts.push("isundefined(dir.head)".into());
            texts.push("(!isundefined(dir.head) & dir.sharers[dir.head])".into());
            if self.uses("owner") {
                texts.push(
                    "(!isundefined(dir.head) & !isundefined(owner) & owner = dir.head)".into(),
                );
            }
        }
        if self.rng.percent(2) {
            texts.push("owner = dir.head".into());
        }
        let (Some(x), Some(y)) = (self.who(around), self.who(around)) else {
            return self.one_of(&texts);
        };
        if self.rng.percent(30) {
            return self.one_of(&texts);
        }
        let (a, b) = (self.state(), self.state());
        let mut texts = vec![
            format!("st[{x}] = {a}"),
            format!("st[{x}] != {b}"),
            format!("{x} != {y}"),
            format!("st[{x}] = st[{y}]"),
            format!("busy({x})"),
            format!("best({x}) = {a}"),
        ];
        if self.uses("set") {
            texts.extend([
                format!("set[{x}]"),
                format!("!set[{x}]"),
                format!("set[{x}] = set[{y}]"),
            ]);
        }
        if self.uses("other") {
            texts.extend([format!("other[{x}]"), format!("!other[{x}]")]);
        }
        if self.uses("dir") {
            texts.extend([format!("dir.sharers[{x}]"), format!("!dir.sharers[{x}]")]);
            texts.push(format!("(!isundefined(dir.head) & dir.head = {x})"));
        }
        if self.uses("owner") {
            texts.push(format!("(!isundefined(owner) & owner = {x})"));
            texts.push(format!("(!isundefined(owner) & owner != {x})"));
        }
        if self.uses("next") {
            texts.push(format!("isundefined(next[{x}])"));
            texts.push(format!("(!isundefined(next[{x}]) & next[{x}] = {y})"));
            texts.push(format!("(isundefined(next[{x}]) | next[{x}] != {y})"));
            texts.push(format!("(!isundefined(next[{x}]) & st[next[{x}]] = {a})"));
            texts.push(format!(
                "(isundefined(next[{x}]) | isundefined(next[{y}]) | next[{x}] != next[{y}])"
            ));
            if self.uses("owner") {
                texts.push(format!(
                    "(!isundefined(next[{x}]) & !isundefined(owner) & next[{x}] = owner)"
                ));
            }
        }
        if self.uses("msg") {
            texts.push(format!("msg[{x}].kind = {a}"));
            texts.push(format!("(!isundefined(msg[{x}].who) & msg[{x}].who = {y})"));
            texts.push(format!("(!isundefined(msg[{x}].who) & st[msg[{x}].who] = {b})"));
        }
        if self.uses("grid") {
            texts.push(format!("grid[{x}][0]"));
            texts.push(format!("(exists b: Bit do grid[{x}][b] end)"));
            texts.push(format!("grid[{x}] = grid[{y}]"));
        }
        if self.rng.percent(3) {
            texts.push(format!("next[{x}] = owner"));
        }
        self.one_of(&texts)
    }

    /// A statement about the processors that are bound here.
    fn statement(&mut self, around: &[String], depth: usize) -> String {
        if depth > 0 {
            match self.rng.below(11) {
                0 | 1 => {
                    let condition = self.condition(around, 1);
                    let then = self.statement(around, depth - 1);
                    let otherwise = self.statement(around, depth - 1);
                    return match self.rng.percent(40) {
                        true => format!("if {condition} then {then} else {otherwise} end;"),
                        false => format!("if {condition} then {then} end;"),
                    };
                }
                2 | 3 => {
                    let name = self.fresh(around);
                    let mut more = around.to_vec();
                    more.push(name.clone());
                    let body = match self.rng.percent(75) {
                        true => self.round(&name, &more),
                        false => self.statement(&more, depth - 1),
                    };
                    return format!("for {name}: P do {body} end;");
                }
                4 => {
                    if let Some(x) = self.who(around) {
                        let (first, second) =
                            (self.statement(around, depth - 1), self.statement(around, depth - 1));
                        return format!("switch st[{x}] case A: {first} case B, I: {second} end;");
                    }
                }
                5 if self.rng.percent(30) => {
                    let condition = self.condition(around, 1);
                    return format!("assert {condition} \"x\";");
                }
                5 => {
                    let condition = self.condition(around, 1);
                    let more = self.condition(around, 0);
                    return format!("if {condition} & {more} & level = 2 then error \"e\"; end;");
                }
                6 => {
                    let then = self.statement(around, depth - 1);
                    return format!("while level < 2 do level := level + 1; {then} end;");
                }
                _ => {}
            }
        }
        self.simple(around)
    }

    /// What one round of a loop over processors may do.
    fn round(&mut self, name: &str, around: &[String]) -> String {
        let (a, b) = (self.state(), self.state());
        let mut about = vec![name.to_owned()];
        if self.rng.percent(40) {
            about = around.to_vec();
        }
        let condition = self.condition(&about, 1);
        let texts = [
            format!("set[{name}] := false;"),
            format!("set[{name}] := other[{name}];"),
            format!("set[{name}] := ({condition});"),
            format!("other[{name}] := set[{name}]; set[{name}] := false;"),
            format!("if {condition} then set[{name}] := true; end;"),
            format!("if {condition} then st[{name}] := {a}; end;"),
            format!("if st[{name}] = {a} then st[{name}] := {b}; end;"),
            format!("if {condition} then flag := true; end;"),
            format!("if set[{name}] then flag := true; other[{name}] := true; end;"),
            format!(
                "if set[{name}] then set[{name}] := false; elsif other[{name}] then set[{name}] := true; end;"
            ),
            format!("undefine next[{name}];"),
            format!("if {condition} then undefine owner; end;"),
            format!("if {condition} then error \"loop\"; end;"),
            format!("dir.sharers[{name}] := dir.sharers[{name}] & !set[{name}];"),
            format!(
                "if {condition} & !set[{name}] then set[{name}] := true; count := count + 1; end;"
            ),
            format!("for b: Bit do grid[{name}][b] := st[{name}] = {a}; end;"),
            format!("msg[{name}].kind := {a};"),
            "level := 0;".to_owned(),
        ];
        self.one_of(&texts)
    }

    fn simple(&mut self, around: &[String]) -> String {
        let mut texts = vec!["flag := true;".to_owned(), "flag := false;".to_owned()];
        if self.uses("level") {
            texts.push("if level < 2 then level := level + 1; end;".into());
            texts.push("level := 0;".into());
        }
        if self.uses("set") && self.uses("other") {
            texts.push("other := set;".into());
            texts.push("clear set;".into());
        }
        if self.uses("owner") {
            let state = self.state();
            texts.push("undefine owner;".into());
            texts.push(format!("if !isundefined(owner) then st[owner] := {state}; end;"));
            texts.push("if !isundefined(owner) then set[owner] := false; end;".into());
            texts.push("who := owner; if !isundefined(who) then st[who] := I; end;".into());
            if self.uses("dir") {
                texts.push("dir.head := owner;".into());
                texts.push("owner := dir.head;".into());
            }
        }
        let (Some(x), Some(y)) = (self.who(around), self.who(around)) else {
            return self.one_of(&texts);
        };
        if self.rng.percent(20) {
            return self.one_of(&texts);
        }
        let (a, condition) = (self.state(), self.condition(around, 1));
        let mut texts = vec![
            format!("st[{x}] := {a};"),
            format!("st[{x}] := {a};"),
            format!("st[{x}] := st[{y}];"),
            format!("become(st[{x}], {a});"),
            format!("st[{x}] := best({y});"),
            format!("was := take({x}); st[{y}] := was;"),
            format!("flag := {condition};"),
        ];
        if self.uses("set") {
            texts.push(format!("set[{x}] := true;"));
            texts.push(format!("set[{x}] := {condition};"));
            texts.push(format!("set[{x}] := false;"));
            texts.push(format!("set[{x}] := set[{y}];"));
            texts.push(format!("note({x});"));
        }
        if self.uses("other") {
            texts.push(format!("other[{x}] := !other[{x}];"));
            texts.push(format!("other[{x}] := {condition};"));
        }
        if self.uses("count") {
            texts.push(format!("if !set[{x}] then set[{x}] := true; count := count + 1; end;"));
            texts.push(format!("if set[{x}] then set[{x}] := false; count := count - 1; end;"));
            texts.push(format!("count := count + 1; set[{x}] := true;"));
        }
        if self.uses("owner") {
            texts.push(format!("owner := {x};"));
            texts.push(format!("if isundefined(owner) then owner := {x}; end;"));
        }
        if self.uses("dir") {
            texts.push(format!("dir.head := {x};"));
            texts.push(format!("dir.sharers[{x}] := {condition};"));
        }
        if self.uses("next") {
            texts.push(format!("next[{x}] := {y};"));
            texts.push(format!("undefine next[{x}];"));
            texts.push(format!("next[{x}] := next[{y}];"));
            texts.push(format!("if !isundefined(next[{x}]) then st[next[{x}]] := {a}; end;"));
            texts.push(format!("if !isundefined(next[{x}]) then next[next[{x}]] := {y}; end;"));
            if self.uses("owner") {
                texts.push(format!("next[{x}] := owner;"));
                texts.push(format!("owner := next[{x}];"));
                texts.push(format!("give({x}, {y});"));
            }
        }
        if self.uses("msg") {
            texts.push(format!("msg[{x}].kind := {a}; msg[{x}].who := {y};"));
            texts.push(format!("msg[{x}] := msg[{y}];"));
            texts.push(format!("alias m: msg[{x}] do m.kind := {a}; m.who := {y}; end;"));
            texts.push(format!("if !isundefined(msg[{x}].who) then st[msg[{x}].who] := {a}; end;"));
        }
        if self.uses("grid") {
            texts.push(format!("grid[{x}][0] := true;"));
            texts.push(format!("for b: Bit do grid[{x}][b] := !grid[{x}][b]; end;"));
        }
        self.one_of(&texts)
    }

    fn rule(&mut self) -> RuleSketch {
        let parameters: Vec<&'static str> = match self.rng.below(10) {
            0 => Vec::new(),
            1..6 => vec!["p"],
            6..9 => vec!["p", "q"],
            _ => vec!["p", "q", "z"],
        };
        let around: Vec<String> = parameters.iter().map(|&name| name.to_owned()).collect();
        let mut guard = Vec::new();
        if parameters.len() > 1 && self.rng.percent(60) {
            guard.push("p != q".to_owned());
        }
        for _ in 0..1 + self.rng.below(2) {
            let depth = self.rng.below(3);
            guard.push(self.condition(&around, depth));
        }
        let mut body = Vec::new();
        for _ in 0..1 + self.rng.below(3) {
            body.push(self.statement(&around, 2));
        }
        RuleSketch { parameters, guard, body }
    }

    fn invariant(&mut self, concrete: u64) -> String {
        let (one, two) = (["p".to_owned()], ["p".to_owned(), "q".to_owned()]);
        match self.rng.below(if concrete == 1 { 3 } else { 10 }) {
            0 => self.condition(&[], 3),
            1 | 2 => format!("forall p: P do {} end", self.condition(&one, 2)),
            3 if self.rng.percent(20) => {
                let three = ["p".to_owned(), "q".to_owned(), "z".to_owned()];
                let (first, second) = (self.condition(&three, 1), self.condition(&three, 1));
                format!(
                    "forall p: P do forall q: P do forall z: P do p = q | q = z | p = z | {first} | {second} end end end"
                )
            }
            4 => format!("!(exists p: P do {} end)", self.condition(&one, 2)),
            _ => {
                let condition = self.condition(&two, 2);
                format!("forall p: P do forall q: P do p != q -> {condition} end end")
            }
        }
    }

    /// The beginning of a program: nothing, or something that makes sense, with a part of it missing
    /// now and then.
    fn template(&mut self) -> Sketch {
        let rule = |parameters: &[&'static str], guard: &[&str], body: &[&str]| RuleSketch {
            parameters: parameters.to_vec(),
            guard: guard.iter().map(|&text| text.to_owned()).collect(),
            body: body.iter().map(|&text| text.to_owned()).collect(),
        };
        let exclusive =
            "forall p: P do forall q: P do p != q -> !(st[p] = B & st[q] = B) end end".to_owned();
        let (rules, invariants) = match self.rng.below(6) {
            // A lock.
            0 => (
                vec![
                    rule(&["p"], &["st[p] = I"], &["st[p] := A;"]),
                    rule(&["p"], &["st[p] = A", "!flag"], &["st[p] := B;", "flag := true;"]),
                    rule(&["p"], &["st[p] = B"], &["st[p] := I;", "flag := false;"]),
                ],
                vec![exclusive],
            ),
            // An owner.
            1 => (
                vec![
                    rule(&["p"], &["isundefined(owner)"], &["owner := p;", "st[p] := B;"]),
                    rule(
                        &["p", "q"],
                        &["!isundefined(owner)", "owner = p", "p != q"],
                        &["st[p] := I;", "owner := q;", "st[q] := B;"],
                    ),
                ],
                vec![exclusive],
            ),
            // Sharers that are asked to leave before somebody else may have it alone.
            2 => (
                vec![
                    rule(&["p"], &["!flag", "st[p] = I"], &["st[p] := A;", "set[p] := true;"]),
                    rule(&["p"], &["set[p]"], &["st[p] := I;", "set[p] := false;"]),
                    rule(
                        &["p"],
                        &["forall r: P do !set[r] end", "!flag"],
                        &["st[p] := B;", "flag := true;"],
                    ),
                    rule(&["p"], &["st[p] = B"], &["st[p] := I;", "flag := false;"]),
                ],
                vec![
                    exclusive,
                    "forall p: P do forall q: P do p != q -> !(st[p] = B & st[q] = A) end end"
                        .to_owned(),
                ],
            ),
            // A token in a message.
            3 => (
                vec![
                    rule(&["p"], &["level = 0"], &["msg[p].kind := A;", "level := 1;"]),
                    rule(&["p"], &["msg[p].kind = A"], &["msg[p].kind := I;", "st[p] := B;"]),
                    rule(&["p"], &["st[p] = B"], &["st[p] := I;", "level := 0;"]),
                ],
                vec![exclusive],
            ),
            // So many, and no more.
            4 => (
                vec![
                    rule(
                        &["p"],
                        &["st[p] = I", "level < 2"],
                        &["st[p] := A;", "level := level + 1;"],
                    ),
                    rule(
                        &["p", "q"],
                        &["p != q", "st[p] = A", "st[q] = A", "level = 2"],
                        &["st[p] := B;"],
                    ),
                    rule(
                        &["p"],
                        &["st[p] = A", "exists r: P do st[r] = B end"],
                        &["flag := true;"],
                    ),
                    rule(
                        &["p"],
                        &["flag", "forall r: P do st[r] != I end"],
                        &["st[p] := I;", "level := 0;"],
                    ),
                ],
                vec![exclusive],
            ),
            _ => (Vec::new(), Vec::new()),
        };
        let mut sketch = Sketch { start: Vec::new(), rules, invariants };
        if self.rng.percent(40) && !sketch.rules.is_empty() {
            let number = self.rng.below(sketch.rules.len());
            let rule = &mut sketch.rules[number];
            match self.rng.percent(50) {
                true => drop(rule.guard.remove(self.rng.below(rule.guard.len()))),
                false => drop(rule.body.remove(self.rng.below(rule.body.len()))),
            }
        }
        sketch
    }

    /// A condition for a rule with these parameters, as a lemma: mostly wrong.
    fn lemma(&mut self, number: usize, rule: &RuleSketch) -> String {
        let mut bound: Vec<String> = rule.parameters.iter().map(|&name| name.to_owned()).collect();
        if self.rng.percent(50) {
            bound.push("w".to_owned());
        }
        let condition = self.condition(&bound, 2);
        let opened: String = bound.iter().map(|name| format!("forall {name}: P do ")).collect();
        let closed = " end".repeat(bound.len());
        format!("invariant \"lemma for r{number}\" {opened}{condition}{closed};\n")
    }
}

/// Lemmas for a program, as a text.
pub(crate) fn lemmas(rng: &mut Rng, sketch: &Sketch) -> String {
    let used = vec!["st", "set", "owner", "next", "flag"];
    let mut words = Words { rng, used, bound: 100 };
    let mut text = String::new();
    for _ in 0..1 + words.rng.below(3) {
        let number = words.rng.below(sketch.rules.len());
        text += &words.lemma(number, &sketch.rules[number]);
    }
    text
}
