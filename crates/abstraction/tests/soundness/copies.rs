//! Values that may be undefined: where they are copied to, and how they are looked at only if
//! something else says so.

use crate::words::Words;

/// The types and variables that are spoken of here.
pub(crate) const DECLARATIONS: &str = "type V: enum { X, Y };
  L: record mark: V; goal: P; seen: boolean; end;
var val: array [P] of V; last: V; line: array [P] of L; latest: L; bag: multiset [2] of V;
";

/// The local variables of every rule.
pub(crate) const LOCALS: &str = "var who: P; was: S; copy: V; kept: L; fact: boolean;";

pub(crate) const VARIABLES: &[&str] = &["val", "last", "line", "latest", "bag"];

/// What is in a place that may be undefined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Mark,
    Reference,
    Fact,
}

impl Words<'_> {
    /// Places of values that may be undefined. Those of the processors come twice: they matter most.
    fn marks(&mut self, around: &[String]) -> Vec<String> {
        let mut texts = vec!["last".to_owned()];
        if self.uses("latest") {
            texts.push("latest.mark".into());
        }
        if self.in_body {
            texts.extend(["copy", "copy", "kept.mark"].map(str::to_owned));
        }
        if let Some(x) = self.who(around) {
            texts.extend([format!("val[{x}]"), format!("val[{x}]")]);
            if self.uses("line") {
                texts.push(format!("line[{x}].mark"));
            }
        }
        if self.rng.percent(3) {
            texts.push("val[owner]".into());
        }
        texts
    }

    /// Places of processors that may be undefined.
    fn references(&mut self, around: &[String]) -> Vec<String> {
        let mut texts = vec!["owner".to_owned()];
        if self.uses("latest") {
            texts.push("latest.goal".into());
        }
        if self.in_body {
            texts.extend(["who", "who", "kept.goal"].map(str::to_owned));
        }
        if let Some(x) = self.who(around) {
            texts.push(format!("next[{x}]"));
            if self.uses("line") {
                texts.push(format!("line[{x}].goal"));
            }
        }
        texts
    }

    /// Places of truths that may be undefined.
    fn facts(&mut self, around: &[String]) -> Vec<String> {
        let mut texts = vec!["latest.seen".to_owned()];
        if self.in_body {
            texts.extend(["fact", "fact", "kept.seen"].map(str::to_owned));
        }
        if let Some(x) = self.who(around) {
            texts.push(format!("line[{x}].seen"));
        }
        texts
    }

    fn mark(&mut self, around: &[String]) -> String {
        let texts = self.marks(around);
        self.one_of(&texts)
    }

    fn reference(&mut self, around: &[String]) -> String {
        let texts = self.references(around);
        self.one_of(&texts)
    }

    fn fact(&mut self, around: &[String]) -> String {
        let texts = self.facts(around);
        self.one_of(&texts)
    }

    /// A place to look at: mostly one that was copied before, because only there it is known to be
    /// undefined.
    fn place(&mut self, around: &[String]) -> (Kind, String) {
        let is_here = |(_, place): &&(Kind, String)| {
            !place.contains('[') || around.iter().any(|x| place.contains(&format!("[{x}]")))
        };
        let recent: Vec<(Kind, String)> = self.recent.iter().filter(is_here).cloned().collect();
        if self.rng.percent(75)
            && let Some(recent) = self.rng.pick(&recent)
        {
            return recent.clone();
        }
        match self.rng.below(10) {
            0..5 => (Kind::Mark, self.mark(around)),
            5..8 => (Kind::Reference, self.reference(around)),
            _ => (Kind::Fact, self.fact(around)),
        }
    }

    fn value(&mut self) -> &'static str {
        self.rng.pick(&["X", "Y"]).copied().unwrap_or("X")
    }

    /// A place that may be undefined, and a condition that is an error then.
    fn look(&mut self, around: &[String]) -> (String, String) {
        let (kind, place) = self.place(around);
        let (state, value) = (self.state(), self.value());
        let condition = match kind {
            Kind::Mark => match self.rng.below(8) {
                0 | 1 => format!("{place} != {value}"),
                2 => format!("{place} = {}", self.mark(around)),
                _ => format!("{place} = {value}"),
            },
            Kind::Reference => match (self.who(around), self.rng.below(5)) {
                (Some(x), 0..=1) => format!("{place} = {x}"),
                (Some(x), 2) => format!("{place} != {x}"),
                (_, 3) => format!("val[{place}] = {value}"),
                _ => format!("st[{place}] = {state}"),
            },
            Kind::Fact => place.clone(),
        };
        (place, condition)
    }

    /// A condition that looks at something that may be undefined, mostly only if something else says
    /// so.
    pub(crate) fn lazy(&mut self, around: &[String]) -> String {
        let (place, look) = self.look(around);
        let when = self.atom(around);
        let value = self.value();
        match self.rng.below(20) {
            0 | 1 => format!("({when} & {look})"),
            2 => format!("({when} | {look})"),
            3 => format!("({when} -> {look})"),
            4 => format!("({when} ? {look} : flag)"),
            5 => format!("({when} ? !flag : {look})"),
            6 => format!("({look} & {when})"),
            7 | 8 => format!("(!isundefined({place}) & {look})"),
            9 => format!("(isundefined({place}) | {look})"),
            10 => format!("(isundefined({place}) ? {when} : {look})"),
            11 => format!("isundefined({place})"),
            12 => format!("(forall i := 1 to level do {look} end)"),
            13 => format!("(exists i := level to 1 do {look} end)"),
            14 | 15 => {
                let other = match self.place(around) {
                    (Kind::Mark, place) => place,
                    _ => self.mark(around),
                };
                format!("(({when} ? {value} : {other}) = X)")
            }
            16 => format!("((isundefined({place}) | {look}) -> {when})"),
            17 | 18 if self.uses("bag") => self.counted(around),
            _ => look,
        }
    }

    /// How many elements of a multiset are such and such.
    fn counted(&mut self, around: &[String]) -> String {
        let (_, look) = self.look(around);
        let (when, mark, value) = (self.atom(around), self.mark(around), self.value());
        let texts = [
            format!("bag[e] = {mark}"),
            format!("bag[e] = {value} & {look}"),
            format!("bag[e] = {value} & {when}"),
            look,
            when,
            format!("bag[e] = {value}"),
        ];
        let condition = self.one_of(&texts);
        let many = self.rng.pick(&["= 0", "> 0", "= 1"]).copied().unwrap_or("= 0");
        format!("(multisetcount(e: bag, {condition}) {many})")
    }

    /// Copies something that may be undefined, or makes it so.
    pub(crate) fn copied(&mut self, around: &[String]) -> String {
        match self.rng.below(20) {
            0..10 => self.copied_place(around),
            10..12 if self.uses("line") => self.copied_record(around),
            12..14 if self.uses("bag") => self.collected(around),
            _ => self.changed(around),
        }
    }

    /// Copies a value, a processor or a truth; both places may be looked at later.
    pub(crate) fn copied_place(&mut self, around: &[String]) -> String {
        let kind = match self.rng.below(10) {
            0..6 => Kind::Mark,
            6..9 => Kind::Reference,
            _ => Kind::Fact,
        };
        let places = match kind {
            Kind::Mark => self.marks(around),
            Kind::Reference => self.references(around),
            Kind::Fact => self.facts(around),
        };
        let own: Vec<String> = places.iter().filter(|place| place.contains('[')).cloned().collect();
        let from = if own.is_empty() || self.rng.percent(20) { &places } else { &own };
        let (mut to, from) = (self.one_of(&places), self.one_of(from));
        // A copy that shows: only there it matters whether there was anything.
        if self.rng.percent(50) {
            to = match kind {
                Kind::Mark => "last".to_owned(),
                Kind::Reference => "owner".to_owned(),
                Kind::Fact => "latest.seen".to_owned(),
            };
        }
        self.recent.push((kind, from.clone()));
        if self.rng.percent(40) {
            self.recent.push((kind, to.clone()));
        }
        let when = self.atom(around);
        match self.rng.below(6) {
            0 => format!("if {when} then {to} := {from}; end;"),
            1 if kind == Kind::Mark => format!("{to} := ({when} ? {} : {from});", self.value()),
            _ => format!("{to} := {from};"),
        }
    }

    /// Copies a record as a whole.
    fn copied_record(&mut self, around: &[String]) -> String {
        let mut places = vec!["kept".to_owned(), "latest".to_owned()];
        for _ in 0..2 {
            places.extend(self.who(around).map(|x| format!("line[{x}]")));
        }
        let (to, from) = (self.one_of(&places), self.one_of(&places));
        for place in [&to, &from] {
            self.recent.push((Kind::Mark, format!("{place}.mark")));
            self.recent.push((Kind::Reference, format!("{place}.goal")));
            self.recent.push((Kind::Fact, format!("{place}.seen")));
        }
        match self.rng.below(6) {
            0 => format!("undefine {to};"),
            1 => format!("kept := {from}; {to} := kept;"),
            _ => format!("{to} := {from};"),
        }
    }

    /// Changes what is in the multiset.
    fn collected(&mut self, around: &[String]) -> String {
        let (mark, when, value) = (self.mark(around), self.atom(around), self.value());
        let has_room = "multisetcount(e: bag, true) < 2";
        let texts = [
            format!("if {has_room} then multisetadd({value}, bag); end;"),
            format!("if {when} & {has_room} then multisetadd({mark}, bag); end;"),
            format!("multisetremovepred(e: bag, bag[e] = {value});"),
            format!("if {when} then multisetremovepred(e: bag, bag[e] = {mark}); end;"),
            format!("multisetremovepred(e: bag, bag[e] = {value} & {when});"),
        ];
        self.one_of(&texts)
    }

    /// Gives a place a value, or takes it away.
    fn changed(&mut self, around: &[String]) -> String {
        let (mark, reference, fact) =
            (self.mark(around), self.reference(around), self.fact(around));
        let (value, lazy) = (self.value(), self.lazy(around));
        let mut texts = vec![
            format!("{mark} := {value};"),
            format!("{mark} := {value};"),
            format!("undefine {mark};"),
            format!("clear {mark};"),
            format!("undefine {reference};"),
            format!("if !isundefined({reference}) then st[{reference}] := A; end;"),
            format!("if !isundefined({reference}) then val[{reference}] := {value}; end;"),
            format!("{fact} := {lazy};"),
            format!("flag := {lazy};"),
        ];
        texts.extend(self.who(around).map(|x| format!("{reference} := {x};")));
        self.one_of(&texts)
    }

    /// A statement that shows in every view.
    fn shown(&mut self) -> String {
        let texts = [
            "if level < 2 then level := level + 1; end;",
            "if level < 2 then level := level + 1; end;",
            "flag := !flag;",
            "last := X;",
            "last := Y;",
        ];
        self.rng.pick(&texts).copied().unwrap_or("flag := true;").to_owned()
    }

    /// Does one thing or another, by what may be undefined.
    pub(crate) fn chosen(&mut self, around: &[String], depth: usize) -> String {
        let (condition, lazy) = (self.atom(around), self.lazy(around));
        let mark = match self.place(around) {
            (Kind::Mark, place) => place,
            _ => self.mark(around),
        };
        let mut inner = || match self.rng.percent(50) {
            true => self.shown(),
            false => self.statement(around, depth.saturating_sub(1)),
        };
        let (first, second, third) = (inner(), inner(), inner());
        match self.rng.below(9) {
            0 | 1 => format!("if {lazy} then {first} end;"),
            2 => format!("if {lazy} then {first} else {second} end;"),
            3 | 4 => format!("if {condition} then {first} elsif {lazy} then {second} end;"),
            5 => {
                format!("if {lazy} then {first} elsif {condition} then {second} else {third} end;")
            }
            6 => format!(
                "if {condition} then switch {mark} case X: {first} case Y: {second} end; end;"
            ),
            7 => {
                let other = self.mark(around);
                format!("switch {other} case X, {mark}: {first} case Y: {second} else {third} end;")
            }
            _ => format!("switch {mark} case X: {first} else {second} end;"),
        }
    }

    /// A loop in a loop.
    pub(crate) fn pairs(&mut self, around: &[String]) -> String {
        let (one, two) = (self.fresh(around), self.fresh(&[]));
        let both = [one.clone(), two.clone()];
        let (lazy, condition) = (self.lazy(&both), self.condition(&both, 1));
        let texts = [
            format!("if {lazy} then set[{one}] := true; end;"),
            format!("if {condition} then st[{one}] := A; end;"),
            format!("if {lazy} then flag := true; end;"),
            format!("if {one} != {two} & {lazy} then undefine val[{one}]; end;"),
        ];
        let body = self.one_of(&texts);
        format!("for {one}: P do for {two}: P do {body} end; end;")
    }
}
