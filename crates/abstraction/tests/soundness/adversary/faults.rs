//! Rules that go wrong: by an assertion, by an error in the body that has no other effect, by an
//! error in the guard.
//!
//! They ask a question of a state and change nothing that another rule reads, so that several of
//! them can be asked in one search. What they write, if anything, is `noted` and `mark`.

use super::program::{LARGEST, Rule};
use super::words::{Bound, Sort, Words};

/// In which way a program may go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    /// An invariant.
    Invariant,
    /// An assertion in a rule, or `error`.
    Assertion,
    /// An error in a statement that does nothing else.
    EffectlessError,
    /// An error in a statement that writes something as well.
    ErrorWithEffect,
    /// An error in a guard about up to two processors.
    GuardOfFew,
    /// An error in a guard about three or four.
    GuardOfMany,
    /// An error in the rules themselves, with nothing added.
    Bare,
}

impl Words<'_> {
    /// A rule that may go wrong, and how.
    pub(crate) fn question(&mut self) -> (Kind, Rule) {
        match self.rng.below(10) {
            0..2 => (Kind::Assertion, self.asserting()),
            2..5 => (Kind::EffectlessError, self.failing(false)),
            5 => (Kind::ErrorWithEffect, self.failing(true)),
            _ => self.failing_guard(),
        }
    }

    fn parameters(&mut self, weights: [usize; 5]) -> Vec<Bound> {
        let mut at = self.rng.below(weights.iter().sum());
        let mut count = 0;
        while at >= weights[count] {
            at -= weights[count];
            count += 1;
        }
        ["p", "q", "r", "z"][..count]
            .iter()
            .map(|name| ((*name).to_owned(), Sort::Processor))
            .collect()
    }

    fn rule(&mut self, parameters: &[Bound], guard: Vec<String>, body: Vec<String>) -> Rule {
        let parameters = parameters.iter().map(|(name, _)| format!("{name}: P")).collect();
        Rule { name: "x".to_owned(), parameters, guard, locals: Vec::new(), body }
    }

    /// What is written where nobody reads it.
    fn effect(&mut self, parameters: &[Bound]) -> String {
        match parameters.first() {
            Some((name, _)) if self.rng.percent(60) => format!("mark[{name}] := true;"),
            _ => "noted := true;".to_owned(),
        }
    }

    /// That these are different, now and then not all of them.
    fn different(&mut self, parameters: &[Bound]) -> Vec<String> {
        let mut found = Vec::new();
        for (at, (left, _)) in parameters.iter().enumerate() {
            for (right, _) in &parameters[at + 1..] {
                if self.rng.percent(92) {
                    found.push(format!("{left} != {right}"));
                }
            }
        }
        self.rng.shuffle(&mut found);
        found
    }

    /// A rule that asserts a claim, or says `error` if it does not hold.
    fn asserting(&mut self) -> Rule {
        let parameters = self.parameters([6, 3, 2, 0, 0]);
        let claim = match parameters.is_empty() || self.rng.percent(30) {
            true => self.claim_alone(),
            false => self.claim(&parameters, 3),
        };
        let guard = if self.rng.percent(30) { vec![self.atom(&parameters)] } else { Vec::new() };
        let mut body = match self.rng.below(6) {
            0 => vec![format!("if !({claim}) then error \"e\"; end;")],
            1 => vec![format!("if {claim} then noted := false; else error \"e\"; end;")],
            2 => vec![format!("for y: P do assert {claim} \"a\"; end;")],
            _ => vec![format!("assert {claim} \"a\";")],
        };
        if self.rng.percent(30) {
            let effect = self.effect(&parameters);
            body.insert(self.rng.below(2), effect);
        }
        self.rule(&parameters, guard, body)
    }

    /// A rule with a statement that may fail.
    fn failing(&mut self, with_effect: bool) -> Rule {
        let parameters = self.parameters([4, 4, 3, 2, 0]);
        let mut guard = self.different(&parameters);
        if self.rng.percent(25) {
            guard.push(self.atom(&parameters));
        }
        let statement = self.failing_statement(&parameters);
        let mut rule = self.rule(&parameters, guard, vec![statement.0]);
        rule.locals.extend(statement.1);
        if with_effect {
            let effect = self.effect(&parameters);
            rule.body.insert(self.rng.below(2), effect);
        }
        rule
    }

    /// A rule with a guard that may fail.
    fn failing_guard(&mut self) -> (Kind, Rule) {
        let parameters = self.parameters([2, 3, 4, 8, 2]);
        let mut guard = self.different(&parameters);
        let fault = self.fault(&parameters);
        guard.push(fault);
        match self.rng.below(8) {
            0 => guard.push("false".to_owned()),
            1 if !parameters.is_empty() => guard.push("p != p".to_owned()),
            2 => guard.push(self.atom(&parameters)),
            3 => {
                let at = self.rng.below(guard.len());
                let atom = self.atom(&parameters);
                guard.insert(at, atom);
            }
            _ => {}
        }
        let body = match self.rng.percent(70) {
            true => vec![self.effect(&parameters)],
            false => Vec::new(),
        };
        let kind = if parameters.len() > 2 { Kind::GuardOfMany } else { Kind::GuardOfFew };
        (kind, self.rule(&parameters, guard, body))
    }

    /// Adds something that may fail to a rule.
    pub(crate) fn with_fault(&mut self, rule: &mut Rule) {
        if self.rng.percent(50) {
            return;
        }
        let parameters: Vec<Bound> = rule
            .parameters
            .iter()
            .filter_map(|each| each.strip_suffix(": P"))
            .map(|name| (name.to_owned(), Sort::Processor))
            .collect();
        if self.rng.percent(40) {
            let fault = self.fault(&parameters);
            let at = self.rng.below(rule.guard.len() + 1);
            rule.guard.insert(at, fault);
            return;
        }
        let (statement, local) = self.failing_statement(&parameters);
        let at = self.rng.below(rule.body.len() + 1);
        rule.body.insert(at, statement);
        rule.locals.extend(local);
    }

    /// A number that a sum of so many terms may exceed.
    fn limit(&mut self, number: &str) -> u64 {
        let terms = number.matches(" + ").count() as u64 + 1;
        let most = (terms * self.bound).min(LARGEST + 1) - 1;
        let below = self.rng.below(most.min(4) as usize) as u64;
        (most - below).max(1)
    }

    /// A statement that does nothing but fail, and the local variable that it needs.
    fn failing_statement(&mut self, around: &[Bound]) -> (String, Option<String>) {
        let number = self.large(around);
        let limit = self.limit(&number);
        let fault = self.fault(around);
        let text = match self.rng.below(20) {
            0..3 => format!("note{limit}({number});"),
            3..5 => format!("if {fault} then end;"),
            5 => format!("if {fault} | true then end;"),
            6 => format!("switch {fault} case true: end;"),
            7 => format!("switch {number} / ({limit} - {number}) case 77: end;"),
            8 => format!("alias a: t{limit}[{number}] do end;"),
            9 => format!("for i: 0..1 do if {fault} then end; end;"),
            10 => format!("for i := 0 to 3 / ({limit} - ({number})) do end;"),
            11 => format!("put {number} / ({limit} - ({number}));"),
            12 => format!("put {fault};"),
            13 => format!("assert ({fault}) | true \"a\";"),
            14 => format!("while ({fault}) & false do end;"),
            15 => format!("clear t{limit}[{number}]; t{limit}[{number}] := true;"),
            16 => return (format!("h := {number};"), Some(format!("h: 0..{limit};"))),
            17 => return (format!("b := {fault};"), Some("b: boolean;".to_owned())),
            18 => self.failing_loop(around),
            _ => self.undefined_argument(around),
        };
        (text, None)
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
        let bare = match self.rng.below(10) {
            0..5 => format!("t{limit}[{number}]"),
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
                super::claims::quantified(
                    all,
                    &[(name, Sort::Processor)],
                    &format!("t{limit}[{inner}]"),
                )
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
            }
            if self.uses("w") {
                texts.push(format!("seen[w[{x}]]"));
                texts.push(format!("(ismember(w[{x}], V) | seen[w[{x}]])"));
            }
            if self.uses("rec") {
                texts.push(format!("rec[{x}].who = {y}"));
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
