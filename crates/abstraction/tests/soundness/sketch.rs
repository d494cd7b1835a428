//! Random programs that are symmetric in their processors, small enough to be looked at with four
//! or five of them, in parts that can be taken away.

use chance::Rng;

use crate::copies::{self, LOCALS};
use crate::words::Words;

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
";

const PROCEDURES: &str = "procedure become(var place: S; what: S); begin place := what; end;
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
        let mut text = DECLARATIONS.to_owned() + copies::DECLARATIONS + PROCEDURES;
        text += &format!("startstate begin\n  {}\nend;\n", self.start.join("\n  "));
        for (number, rule) in self.rules.iter().enumerate() {
            let guard = match rule.guard.is_empty() {
                true => "true".to_owned(),
                false => rule.guard.join(" & "),
            };
            let body = rule.body.join("\n    ");
            let inner = format!(
                "rule \"r{number}\" {guard} ==>\n  {LOCALS}\n  begin\n    {body}\n  end;\n"
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

const VARIABLES: &[&str] =
    &["st", "set", "other", "owner", "next", "msg", "dir", "grid", "flag", "level", "count"];

/// A random program.
pub(crate) fn random(rng: &mut Rng, concrete: u64) -> Sketch {
    let mut used: Vec<&'static str> = vec!["st"];
    for _ in 0..1 + rng.below(3) {
        used.extend(rng.pick(VARIABLES).copied());
    }
    let copies = rng.percent(70);
    if copies {
        used.extend(["val", "last"]);
        for _ in 0..rng.below(3) {
            used.extend(rng.pick(copies::VARIABLES).copied());
        }
    }
    used.sort_unstable();
    used.dedup();
    let defined = rng.percent(60);
    let mut words = Words { rng, used, bound: 0, copies, in_body: false, recent: Vec::new() };
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
        "flag := false; level := 0; count := 0; undefine bag;",
    ];
    if defined {
        start.push("for p: P do next[p] := p; msg[p].who := p; end;");
    }
    start.into_iter().map(str::to_owned).collect()
}

impl Words<'_> {
    fn rule(&mut self) -> RuleSketch {
        let parameters: Vec<&'static str> = match self.rng.below(20) {
            0..2 => Vec::new(),
            2..11 => vec!["p"],
            11..16 => vec!["p", "q"],
            16..19 => vec!["p", "q", "z"],
            _ => vec!["p", "q", "z", "w"],
        };
        let around: Vec<String> = parameters.iter().map(|&name| name.to_owned()).collect();
        let mut guard = Vec::new();
        if parameters.len() > 1 && self.rng.percent(60) {
            guard.push("p != q".to_owned());
        }
        for _ in 0..1 + self.rng.below(2) {
            let depth = self.rng.below(3);
            guard.push(match self.copies && self.rng.percent(40) {
                true => self.lazy(&around),
                false => self.condition(&around, depth),
            });
        }
        self.in_body = true;
        let body = self.body(&around);
        self.in_body = false;
        self.recent.clear();
        RuleSketch { parameters, guard, body }
    }

    /// The statements of a rule. What is looked at was copied before, mostly.
    fn body(&mut self, around: &[String]) -> Vec<String> {
        let mut body = Vec::new();
        if self.copies && self.rng.percent(50) {
            return vec![self.copied_place(around), self.chosen(around, 1)];
        }
        if self.copies && self.rng.percent(70) {
            body.push(self.copied(around));
        }
        for _ in 0..1 + self.rng.below(3) {
            body.push(self.statement(around, 2));
        }
        body
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
        // Now and then it says that the rule never applies.
        let is_never = self.rng.percent(30);
        let condition = if is_never { "false".to_owned() } else { self.condition(&bound, 2) };
        let opened: String = bound.iter().map(|name| format!("forall {name}: P do ")).collect();
        let closed = " end".repeat(bound.len());
        format!("invariant \"lemma for r{number}\" {opened}{condition}{closed};\n")
    }
}

/// Lemmas for a program, as a text.
pub(crate) fn lemmas(rng: &mut Rng, sketch: &Sketch) -> String {
    let used = vec!["st", "set", "owner", "next", "flag"];
    let mut words =
        Words { rng, used, bound: 100, copies: false, in_body: false, recent: Vec::new() };
    let mut text = String::new();
    for _ in 0..1 + words.rng.below(3) {
        let number = words.rng.below(sketch.rules.len());
        text += &words.lemma(number, &sketch.rules[number]);
    }
    text
}
