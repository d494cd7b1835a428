//! Conditions and statements at random, about the processors that are bound where they stand.

use chance::Rng;

use crate::copies::Kind;

/// What may be spoken of.
pub(crate) struct Words<'a> {
    pub(crate) rng: &'a mut Rng,
    /// The state variables in use.
    pub(crate) used: Vec<&'static str>,
    /// How many variables have been bound.
    pub(crate) bound: usize,
    /// Whether values that may be undefined are copied.
    pub(crate) copies: bool,
    /// Whether local variables are there.
    pub(crate) in_body: bool,
    /// What this rule has copied.
    pub(crate) recent: Vec<(Kind, String)>,
}

impl Words<'_> {
    pub(crate) fn uses(&self, variable: &str) -> bool {
        self.used.contains(&variable)
    }

    pub(crate) fn one_of(&mut self, texts: &[String]) -> String {
        self.rng.pick(texts).cloned().unwrap_or_else(|| "flag".to_owned())
    }

    pub(crate) fn state(&mut self) -> &'static str {
        self.rng.pick(&["I", "A", "B"]).copied().unwrap_or("I")
    }

    /// A name for a bound variable; now and then one that hides another.
    pub(crate) fn fresh(&mut self, around: &[String]) -> String {
        if self.rng.percent(8)
            && let Some(hidden) = self.rng.pick(around)
        {
            return hidden.clone();
        }
        self.bound += 1;
        format!("r{}", self.bound)
    }

    /// A processor: one that is bound here.
    pub(crate) fn who(&mut self, around: &[String]) -> Option<String> {
        self.rng.pick(around).cloned()
    }

    /// A condition about the processors that are bound here.
    pub(crate) fn condition(&mut self, around: &[String], depth: usize) -> String {
        if self.copies && self.rng.percent(25) {
            return self.lazy(around);
        }
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

    pub(crate) fn atom(&mut self, around: &[String]) -> String {
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
    pub(crate) fn statement(&mut self, around: &[String], depth: usize) -> String {
        if depth > 0 && self.copies {
            match self.rng.below(10) {
                0..=3 => return self.chosen(around, depth),
                4 if self.rng.percent(40) => return self.pairs(around),
                _ => {}
            }
        }
        if self.copies && self.rng.percent(40) {
            return self.copied(around);
        }
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
    pub(crate) fn round(&mut self, name: &str, around: &[String]) -> String {
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

    pub(crate) fn simple(&mut self, around: &[String]) -> String {
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
}
