//! A random program in parts, printed with the declarations that its parts mention and no others,
//! and made smaller part by part.

/// A rule in parts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rule {
    pub(crate) name: String,
    /// Each as `p: P`, or as `choose i: bag`.
    pub(crate) parameters: Vec<String>,
    /// What must hold, in this order.
    pub(crate) guard: Vec<String>,
    pub(crate) locals: Vec<String>,
    pub(crate) body: Vec<String>,
}

/// A program in parts.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    /// How many slots, levels and elements there are.
    pub(crate) bound: u64,
    /// Whether references and members of the other scalarset have a value at the start.
    pub(crate) defined: bool,
    /// A parameter of the start state and what is done with it, if it has one.
    pub(crate) start: Option<(&'static str, &'static str)>,
    /// States in which one of these does not hold do not count.
    pub(crate) assumptions: Vec<String>,
    pub(crate) rules: Vec<Rule>,
    /// Each a condition, perhaps with `ruleset … do` before the word `invariant`.
    pub(crate) invariants: Vec<Invariant>,
    /// Lemmas that a user gives, as Murphi.
    pub(crate) lemmas: Vec<String>,
}

/// An invariant, perhaps claimed for each value of a parameter.
#[derive(Debug, Clone)]
pub(crate) struct Invariant {
    pub(crate) parameter: Option<String>,
    pub(crate) condition: String,
}

/// The greatest table and the greatest parameter of a procedure.
pub(crate) const LARGEST: u64 = 12;

/// A name, what is declared if it is mentioned, and how it starts.
type Entry = (&'static str, &'static str, &'static str);

/// The state. `K` is the bound.
const VARIABLES: &[Entry] = &[
    ("l", "array [P] of 0..K", "for p: P do l[p] := 0; end;"),
    ("st", "array [P] of S", "for p: P do st[p] := I; end;"),
    ("done", "array [P] of boolean", "for p: P do done[p] := false; end;"),
    ("set", "array [P] of boolean", "for p: P do set[p] := false; end;"),
    ("mark", "array [P] of boolean", "for p: P do mark[p] := false; end;"),
    ("ref", "array [P] of P", "for p: P do REF end;"),
    ("mine", "array [P] of Q", "for p: P do undefine mine[p]; end;"),
    ("w", "array [P] of U", "for p: P do w[p] := X; end;"),
    ("val", "array [P] of V", "for p: P do undefine val[p]; end;"),
    ("rec", "array [P] of R", "for p: P do rec[p].v := 0; undefine rec[p].who; end;"),
    ("n", "0..K", "n := 0;"),
    ("count", "0..N", "count := 0;"),
    ("flag", "boolean", "flag := false;"),
    ("noted", "boolean", "noted := false;"),
    ("owner", "P", "undefine owner;"),
    ("second", "P", "undefine second;"),
    ("holder", "array [1..K] of P", "for s: 1..K do undefine holder[s]; end;"),
    ("free", "array [1..K] of boolean", "for s: 1..K do free[s] := true; end;"),
    ("seen", "array [Q] of boolean", "for m: Q do seen[m] := true; end;"),
    ("vt", "array [V] of boolean", "for v: V do vt[v] := true; end;"),
    ("box", "multiset [2] of V", "undefine box; multisetadd(X, box);"),
    ("bag", "multiset [K] of V", "undefine bag;"),
    (
        "grid",
        "array [P] of array [P] of boolean",
        "for p: P do for q: P do grid[p][q] := false; end; end;",
    ),
    ("dir", "D", "for p: P do dir.sharers[p] := false; end; undefine dir.head; dir.level := 0;"),
    ("team", "Set", "for p: P do team[p] := false; end;"),
    ("spare", "Set", "for p: P do spare[p] := false; end;"),
    ("dest", "array [P] of W", "for p: P do dest[p] := X; end;"),
];

/// The types besides processors. Those that refer to others come behind them.
const TYPES: &[Entry] = &[
    ("S", "enum { I, A, B, C }", ""),
    ("V", "enum { X, Y }", ""),
    ("Q", "scalarset(3)", ""),
    ("U", "union { V, Q }", ""),
    ("R", "record v: 0..2; who: P; end", ""),
    ("D", "record sharers: array [P] of boolean; head: P; level: 0..K; end", ""),
    ("Set", "array [P] of boolean", ""),
    ("W", "union { V, P }", ""),
];

/// Procedures and functions. Those with a digit exist for every bound up to [`LARGEST`].
const FUNCTIONS: &[(&str, &str)] = &[
    ("none", "function none(s: 0..K): boolean; begin return forall q: P do l[q] != s end; end;"),
    ("some", "function some(e: S): boolean; begin return exists q: P do st[q] = e end; end;"),
    ("look", "procedure look(e: V); begin end;"),
    ("meet", "procedure meet(x: P); begin end;"),
    ("isa", "function isa(x: Q): boolean; begin return seen[x]; end;"),
    ("keep", "procedure keep(x: Q); begin end;"),
    ("bump", "procedure bump(var x: 0..K); begin if x = (K) then return; end; x := x + 1; end;"),
    (
        "anyone",
        "function anyone(e: S): boolean; begin for q: P do if st[q] = e then return true; end; end; return false; end;",
    ),
    ("full", "function full(s: Set): boolean; begin return forall q: P do s[q] end; end;"),
    ("wipe", "procedure wipe(var s: Set); begin for q: P do s[q] := false; end; end;"),
    (
        "give",
        "procedure give(var s: Set; x: P); begin if s[x] then return; end; s[x] := true; end;",
    ),
];

impl Program {
    /// The program as Murphi.
    pub(crate) fn text(&self) -> String {
        let rules: String = self.rules.iter().map(Rule::text).collect();
        let invariants = self.invariants.iter().enumerate();
        let invariants: String = invariants.map(|(at, each)| each.text(at)).collect();
        let assumptions = self.assumptions.iter().map(|each| format!("assume \"a\" {each};\n"));
        let first = self.start.map_or("", |(_, first)| first);
        let parts = rules + &invariants + &assumptions.collect::<String>();
        let functions = functions(&parts);
        let mentioned = format!("{parts}{functions}{first}");
        let (mut variables, mut start) = (String::new(), Vec::new());
        for (name, ty, first) in VARIABLES {
            if mentions(&mentioned, name) {
                variables += &format!("{name}: {ty}; ");
                start.push((*first).to_owned());
            }
        }
        for bound in 0..=LARGEST {
            if mentions(&mentioned, &format!("t{bound}")) {
                variables += &format!("t{bound}: array [0..{bound}] of boolean; ");
                start.push(format!("for i: 0..{bound} do t{bound}[i] := true; end;"));
            }
        }
        let reference = if self.defined { "ref[p] := p;" } else { "undefine ref[p];" };
        start.push(first.to_owned());
        let start = start.join("\n  ").replace("REF", reference);
        let start = match self.start {
            None => format!("startstate begin\n  {start}\nend;\n"),
            Some((parameter, _)) => {
                format!("ruleset {parameter} do startstate begin\n  {start}\nend; end;\n")
            }
        };
        let all = format!("{variables}\n{functions}\n{start}\n{parts}");
        let text = format!(
            "const N: 3;\ntype P: scalarset(N);{}\nvar {variables}\n{functions}{start}{parts}",
            types(&all)
        );
        text.replace("0..K", &format!("0..{}", self.bound))
            .replace("1..K", &format!("1..{}", self.bound))
            .replace("[K]", &format!("[{}]", self.bound))
            .replace("(K)", &self.bound.to_string())
    }

    /// All programs with one part less.
    pub(crate) fn smaller(&self) -> Vec<Program> {
        let mut found = Vec::new();
        let mut without = |change: &dyn Fn(&mut Program)| {
            let mut less = self.clone();
            change(&mut less);
            found.push(less);
        };
        for at in 0..self.rules.len() {
            if self.rules.len() > 1 {
                without(&|less| drop(less.rules.remove(at)));
            }
        }
        for at in 0..self.invariants.len() {
            without(&|less| drop(less.invariants.remove(at)));
        }
        for at in 0..self.assumptions.len() {
            without(&|less| drop(less.assumptions.remove(at)));
        }
        if self.start.is_some() {
            without(&|less| less.start = None);
        }
        for at in 0..self.lemmas.len() {
            without(&|less| drop(less.lemmas.remove(at)));
        }
        for (at, rule) in self.rules.iter().enumerate() {
            for part in 0..rule.guard.len() {
                without(&|less| drop(less.rules[at].guard.remove(part)));
            }
            for part in 0..rule.body.len() {
                without(&|less| drop(less.rules[at].body.remove(part)));
            }
            for part in 0..rule.locals.len() {
                without(&|less| drop(less.rules[at].locals.remove(part)));
            }
            for part in 0..rule.parameters.len() {
                without(&|less| drop(less.rules[at].parameters.remove(part)));
            }
        }
        found
    }
}

impl Rule {
    pub(crate) fn text(&self) -> String {
        let guard = match self.guard.is_empty() {
            true => "true".to_owned(),
            false => self.guard.join(" & "),
        };
        let locals = match self.locals.is_empty() {
            true => String::new(),
            false => format!("var {} ", self.locals.join(" ")),
        };
        let (name, body) = (&self.name, self.body.join(" "));
        let mut inner = format!("rule \"{name}\" {guard} ==> {locals}begin {body} end;");
        let (chosen, each): (Vec<&String>, Vec<&String>) =
            self.parameters.iter().partition(|parameter| parameter.starts_with("choose "));
        for choice in chosen {
            inner = format!("{choice} do {inner} end;");
        }
        let each: Vec<&str> = each.iter().map(|each| each.as_str()).collect();
        match each.is_empty() {
            true => inner + "\n",
            false => format!("ruleset {} do {inner} end;\n", each.join("; ")),
        }
    }
}

impl Invariant {
    pub(crate) fn text(&self, number: usize) -> String {
        let inner = format!("invariant \"i{number}\" {};", self.condition);
        match &self.parameter {
            None => inner + "\n",
            Some(parameter) => format!("ruleset {parameter} do {inner} end;\n"),
        }
    }
}

/// Whether a text has this word.
pub(crate) fn mentions(text: &str, word: &str) -> bool {
    let is_part = |each: char| each.is_alphanumeric() || each == '_';
    text.split(|each: char| !is_part(each)).any(|each| each == word)
}

/// The functions that a text calls.
fn functions(text: &str) -> String {
    let mut found = String::new();
    for (name, body) in FUNCTIONS {
        if mentions(text, name) {
            found += &format!("{body}\n");
        }
    }
    for bound in 0..=LARGEST {
        if mentions(text, &format!("note{bound}")) {
            found += &format!("procedure note{bound}(x: 0..{bound}); begin end;\n");
        }
        if mentions(text, &format!("cap{bound}")) {
            found += &format!("function cap{bound}(x: 0..99): 0..{bound}; begin return x; end;\n");
        }
        if mentions(text, &format!("alt{bound}")) {
            found += &format!(
                "function alt{bound}(b: boolean): 0..{bound}; begin return b ? {} : 0; end;\n",
                bound + 1
            );
        }
        if mentions(text, &format!("partial{bound}")) {
            found += &format!(
                "function partial{bound}(x: 0..99): boolean; begin if x <= {bound} then return true; end; end;\n"
            );
        }
        if mentions(text, &format!("within{bound}")) {
            found += &format!(
                "function within{bound}(x: 0..{bound}): boolean; begin return true; end;\n"
            );
        }
    }
    found
}

/// The types that a text mentions, directly or by a value of them.
fn types(text: &str) -> String {
    let mut found = String::new();
    let uses = |name: &str| mentions(text, name);
    let (is_union, with_processors) = (uses("U"), uses("W"));
    for (name, definition, _) in TYPES {
        let is_used = match *name {
            "V" => uses("V") || uses("X") || uses("Y") || is_union || with_processors,
            "S" => uses("S") || ["I", "A", "B", "C"].iter().any(|value| uses(value)),
            "Q" => uses("Q") || is_union,
            name => uses(name),
        };
        if is_used {
            found += &format!(" {name}: {definition};");
        }
    }
    found
}
