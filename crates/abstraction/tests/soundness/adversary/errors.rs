//! Statements and conditions that may fail at run time: ranges, indices, divisions, arguments,
//! undefined values, members of unions, loops without end, functions without a result; bare, behind
//! what is evaluated before them, and before what makes them not matter.

use super::claims::quantified;
use super::program::LARGEST;
use super::words::{Bound, Sort, Words};

/// One more processor.
fn with(around: &[Bound], name: &str) -> Vec<Bound> {
    let mut more = around.to_vec();
    more.push((name.to_owned(), Sort::Processor));
    more
}

impl Words<'_> {
    /// A number that a sum of so many terms may exceed.
    fn limit(&mut self, number: &str) -> u64 {
        let terms = number.matches(" + ").count() as u64 + 1;
        let most = (terms * self.bound).min(LARGEST + 1) - 1;
        let below = self.rng.below(most.min(4) as usize) as u64;
        (most - below).max(1)
    }

    /// A statement that does nothing but fail, and the local variable that it needs. It may stand
    /// in another one.
    pub(crate) fn failing_statement(&mut self, around: &[Bound]) -> (String, Option<String>) {
        let (inner, local) = match self.rng.percent(25) {
            true => self.failing_at_a_limit(around),
            false => self.failing_condition(around),
        };
        let when = self.atom(around);
        let text = match self.rng.below(16) {
            0 => format!("if {when} then {inner} end;"),
            1 => format!("if {when} then noted := true; else {inner} end;"),
            2 => format!("for y: P do if {} then {inner} end; end;", self.atom(&with(around, "y"))),
            3 => format!("switch {when} case true: {inner} else noted := true; end;"),
            4 => format!("noted := true; {inner} noted := false;"),
            5 => format!("if {when} then return; end; {inner}"),
            6 => match self.bound_one(around, Sort::Processor) {
                Some(x) if self.uses("owner") => format!(
                    "if !isundefined(owner) then switch owner case {x}: {inner} else noted := true; end; end;"
                ),
                _ => inner,
            },
            _ => inner,
        };
        (text, local)
    }

    fn failing_condition(&mut self, around: &[Bound]) -> (String, Option<String>) {
        let number = self.large(around);
        let limit = self.limit(&number);
        let fault = self.fault(around);
        let text = match self.rng.below(28) {
            20 => format!("note{limit}(flag ? 0 : {number});"),
            21 => format!("switch 3 case 9 / ({limit} - ({number})): end;"),
            22 => {
                let late = self.late();
                return (format!("if {late} then if b then end; end;"), Some("b: boolean;".into()));
            }
            23 => format!("multisetremovepred(i: box, {fault});"),
            24 => format!("if multisetcount(i: box, {fault}) > 0 then end;"),
            25 | 26 => return self.local_set(around),
            27 => return self.local_reference(around),
            0..2 => format!("note{limit}({number});"),
            2..4 => format!("if {fault} then end;"),
            4 => format!("if {fault} | true then end;"),
            5 => format!("switch {fault} case true: end;"),
            6 => format!("alias a: t{limit}[{number}] do end;"),
            7 => format!("for i: 0..1 do if {fault} then end; end;"),
            8 => format!("put {fault};"),
            9 => format!("assert ({fault}) | true \"a\";"),
            10 => format!("while ({fault}) & false do end;"),
            11 => format!("clear t{limit}[{number}]; t{limit}[{number}] := true;"),
            12 => return (format!("h := {number};"), Some(format!("h: 0..{limit};"))),
            13 => return (format!("b := {fault};"), Some("b: boolean;".to_owned())),
            14 => format!("noted := {fault};"),
            15 => format!("if {fault} then noted := true; end;"),
            16 | 17 => self.failing_loop(around),
            18 => self.stored(around),
            _ => self.undefined_argument(around),
        };
        (text, None)
    }

    /// A set of processors in a local variable, and an assertion about it.
    fn local_set(&mut self, around: &[Bound]) -> (String, Option<String>) {
        let (name, other) = (self.fresh(), self.fresh());
        let filled = self.atom(&with(around, &name));
        let all = if self.rng.percent(50) { "forall" } else { "exists" };
        let late = self.late();
        let text = format!(
            "for {name}: P do own[{name}] := {filled}; end; \
             assert {late} -> !({all} {other}: P do own[{other}] end) \"a\";"
        );
        (text, Some("own: array [P] of boolean;".to_owned()))
    }

    /// A reference in a local variable that is looked into.
    fn local_reference(&mut self, around: &[Bound]) -> (String, Option<String>) {
        let place = match self.bound_one(around, Sort::Processor) {
            Some(x) if self.uses("ref") => format!("ref[{x}]"),
            Some(x) => x,
            None if self.uses("holder") => format!("holder[{}]", self.number(around)),
            None if self.uses("owner") => "owner".to_owned(),
            None => return (self.failing_loop(around), None),
        };
        let number = self.large(&with(around, "who"));
        let limit = self.limit(&number);
        let text = format!("who := {place}; if !isundefined(who) then note{limit}({number}); end;");
        (text, Some("who: P;".to_owned()))
    }

    /// What fails where a number is exactly, or from, a limit.
    fn failing_at_a_limit(&mut self, around: &[Bound]) -> (String, Option<String>) {
        let number = self.large(around);
        let limit = self.limit(&number);
        let text = match self.rng.below(8) {
            0 => format!("switch 9 / ({limit} - ({number})) case 77: end;"),
            1 => format!("for i := 0 to 3 / ({limit} - ({number})) do end;"),
            2 => format!("put {number} / ({limit} - ({number}));"),
            3 => format!("if 9 % ({limit} - ({number})) > 9 then end;"),
            // It does not end, and has a limit of rounds.
            4 => format!("while {number} > {limit} do end;"),
            5 => format!("for i := 0 to 3 by {limit} - ({number}) do end;"),
            6 => format!("put {} + ({number}) > 0;", i64::MAX - limit as i64),
            _ => format!("if partial{limit}({number}) then end;"),
        };
        (text, None)
    }

    /// A stored reference that is looked into by a local variable.
    fn stored(&mut self, around: &[Bound]) -> String {
        let mut places = Vec::new();
        if self.uses("owner") {
            places.push("owner".to_owned());
        }
        if self.uses("holder") {
            places.push(format!("holder[{}]", self.number(around)));
        }
        if self.uses("ref")
            && let Some(x) = self.bound_one(around, Sort::Processor)
        {
            places.push(format!("ref[{x}]"));
        }
        let place = self.one_of(&places);
        if place == "true" {
            return self.failing_loop(around);
        }
        let mut inner = around.to_vec();
        inner.push((place.clone(), Sort::Processor));
        let number = self.large(&inner);
        let limit = self.limit(&number);
        format!("if !isundefined({place}) then note{limit}({number}); end;")
    }

    /// A loop over processors in which something may fail.
    fn failing_loop(&mut self, around: &[Bound]) -> String {
        let mut more = around.to_vec();
        let name = self.fresh();
        more.push((name.clone(), Sort::Processor));
        let (number, fault) = (self.large(&more), self.fault(&more));
        let limit = self.limit(&number);
        let texts = [
            format!("for {name}: P do note{limit}({number}); end;"),
            format!("for {name}: P do if {fault} then end; end;"),
            format!("for {name}: P do mark[{name}] := {fault}; end;"),
            format!("for {name}: P do if {fault} then noted := true; end; end;"),
        ];
        self.one_of(&texts)
    }

    /// A call with a value that may not be of the type of the parameter, or undefined (which is no
    /// error by itself).
    fn undefined_argument(&mut self, around: &[Bound]) -> String {
        let mut texts = vec!["if flag then end;".to_owned()];
        if let Some(x) = self.bound_one(around, Sort::Processor) {
            for (variable, procedure) in
                [("ref", "meet"), ("mine", "keep"), ("w", "keep"), ("val", "look"), ("w", "look")]
            {
                if self.uses(variable) {
                    texts.push(format!("{procedure}({variable}[{x}]);"));
                }
            }
        }
        if self.uses("holder") {
            texts.push(format!("meet(holder[{}]);", self.bound));
        }
        if self.uses("second") {
            texts.push("meet(second);".to_owned());
        }
        if texts.len() > 1 {
            texts.remove(0);
        }
        let late = self.late();
        format!("if {late} then {} end;", self.one_of(&texts))
    }

    /// A condition that may fail.
    pub(crate) fn fault(&mut self, around: &[Bound]) -> String {
        let number = self.large(around);
        let limit = self.limit(&number);
        let bare = match self.rng.below(19) {
            16 => format!("cap{limit}({number}) > 99"),
            17 => format!("alt{limit}({number} > {limit}) > 99"),
            18 => format!("within{limit}({number} > {limit} ? {} : 0)", limit + 1),
            0..5 => format!("t{limit}[{number}]"),
            10 => format!("isundefined(t{limit}[{number}])"),
            11 => format!("(forall i := 0 to 3 / ({limit} - ({number})) do true end)"),
            12 => format!("(exists i := 0 to 1 by {limit} - ({number}) do false end)"),
            13 => format!("-({} + ({number})) < 0", i64::MAX - limit as i64),
            14 => format!("partial{limit}({number})"),
            15 => format!("(flag ? t{limit}[0] : t{limit}[{number}])"),
            5 => format!("9 / ({limit} - ({number})) > 9"),
            6 => format!("within{limit}({number})"),
            7 => {
                let limit = limit.min(self.bound);
                format!("({number} > {limit} -> t{limit}[{number}])")
            }
            _ => self.undefined(around),
        };
        match self.rng.below(16) {
            0 => format!("({bare} | true)"),
            1 => format!("({bare} & false)"),
            2 => format!("({bare} -> true)"),
            3 => format!("({bare} ? true : true)"),
            4 => format!("(({bare}) = ({bare}))"),
            5 => format!("(exists i: 0..1 do {bare} end)"),
            6 => {
                let mut more = around.to_vec();
                let name = self.fresh();
                more.push((name.clone(), Sort::Processor));
                let inner = self.large(&more);
                let limit = self.limit(&inner);
                let all = self.rng.percent(50);
                quantified(all, &[(name, Sort::Processor)], &format!("t{limit}[{inner}]"))
            }
            7 => format!("({} | {bare})", self.late()),
            8 => format!("({} -> {bare})", self.late()),
            9 => format!("({bare} | {})", self.atom(around)),
            _ => bare,
        }
    }

    /// A condition that holds late, if at all.
    fn late(&mut self) -> String {
        let mut texts = vec!["true".to_owned()];
        if self.uses("n") {
            let limit = 1 + self.rng.below(self.bound as usize);
            texts = vec![format!("n >= {limit}"), format!("n = {}", self.bound)];
        }
        if self.uses("l") || self.uses("st") {
            texts.push(self.claim(&[], 3));
        }
        if self.uses("flag") {
            texts.push("flag".to_owned());
        }
        self.one_of(&texts)
    }

    /// A condition that reads what may be undefined, or not of the type that is asked for.
    fn undefined(&mut self, around: &[Bound]) -> String {
        let mut texts = Vec::new();
        let (x, y) =
            (self.bound_one(around, Sort::Processor), self.bound_one(around, Sort::Processor));
        if let (Some(x), Some(y)) = (x, y) {
            if self.uses("ref") {
                texts.push(format!("ref[{x}] = ref[{y}]"));
                texts.push(format!("ref[{x}] = {y}"));
                texts.push(format!("ref[ref[{x}]] = {y}"));
            }
            if self.uses("mine") {
                texts.push(format!("mine[{x}] = mine[{y}]"));
            }
            if self.uses("val") {
                texts.push(format!("val[{x}] = val[{y}]"));
                texts.push(format!("val[{x}] = X"));
                texts.push(format!("vt[val[{x}]]"));
            }
            if self.uses("w") {
                texts.push(format!("seen[w[{x}]]"));
                texts.push(format!("vt[w[{x}]]"));
                texts.push(format!("isa(w[{x}])"));
                texts.push(format!("isa(flag ? w[{x}] : w[{y}])"));
                texts.push(format!("(ismember(w[{x}], V) | seen[w[{x}]])"));
            }
            if self.uses("rec") {
                texts.push(format!("rec[{x}].who = {y}"));
                texts.push(format!("rec[{x}].who = rec[{y}].who"));
            }
            if self.uses("dir") {
                texts.push(format!("dir.head = {x}"));
                texts.push("dir.sharers[dir.head]".to_owned());
            }
            if self.uses("dest") {
                texts.push(format!("set[dest[{x}]]"));
            }
            if self.uses("owner") {
                texts.push(format!("owner = {x}"));
            }
        }
        if self.uses("holder") {
            texts.push(format!("holder[{}] = holder[1]", self.bound));
        }
        if self.uses("second") {
            texts.push("owner = second".to_owned());
        }
        if texts.is_empty() {
            let number = self.large(around);
            let limit = self.limit(&number);
            return format!("t{limit}[{number}]");
        }
        let text = self.one_of(&texts);
        match self.rng.percent(50) {
            true => format!("({} -> {text})", self.late()),
            false => text,
        }
    }
}
