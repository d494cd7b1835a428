//! Random claims: nested quantifiers over processors, ranges, enumerations, truth values and another
//! scalarset, in all polarities.
//!
//! Those of the first half have the shape that needs a processor for each value of something:
//! `exists s forall q` and what is the same by `!`, `->`, `?:`, comparison or a function. The others
//! have no plan.

use super::program::{Invariant, Rule, mentions};
use super::words::{Bound, Sort, Words};

impl Words<'_> {
    /// An invariant.
    pub(crate) fn invariant(&mut self) -> Invariant {
        if self.rng.percent(8) {
            let (name, sort) = (self.fresh(), self.any_sort());
            let around = vec![(name.clone(), sort)];
            let parameter = Some(format!("{name}: {}", type_of(sort)));
            return Invariant { parameter, condition: self.claim(&around, 2) };
        }
        if self.rng.percent(12) {
            return Invariant { parameter: None, condition: self.claim_that_fails() };
        }
        Invariant { parameter: None, condition: self.claim_alone() }
    }

    /// A claim that may fail to be evaluated.
    fn claim_that_fails(&mut self) -> String {
        let mut bound = Vec::new();
        for _ in 0..self.rng.below(4) {
            bound.push((self.fresh(), Sort::Processor));
        }
        let fault = self.fault(&bound);
        let fault = if self.rng.percent(60) { format!("({fault} | true)") } else { fault };
        if bound.is_empty() { fault } else { quantified(true, &bound, &fault) }
    }

    /// A claim that speaks of no processor from outside.
    pub(crate) fn claim_alone(&mut self) -> String {
        match self.rng.below(10) {
            0 if self.uses("flag") => "!flag".to_owned(),
            0..6 => self.for_each_value(&[]),
            6 => self.several_parts(),
            _ => self.claim(&[], 4),
        }
    }

    /// A condition with quantifiers.
    pub(crate) fn claim(&mut self, around: &[Bound], depth: usize) -> String {
        if depth == 0 {
            return self.atom(around);
        }
        if self.rng.percent(55) || around.is_empty() {
            let is_many = self.rng.percent(15);
            let (first, sort) = (self.fresh(), self.any_sort());
            let mut bound = vec![(first, sort)];
            if is_many {
                bound.push((self.fresh(), sort));
            }
            let mut more = around.to_vec();
            more.extend(bound.iter().cloned());
            let inner = self.claim(&more, depth - 1);
            return quantified(self.rng.percent(50), &bound, &inner);
        }
        let inner = |words: &mut Self| words.claim(around, depth - 1);
        match self.rng.below(12) {
            0..=2 => format!("({} & {})", inner(self), inner(self)),
            3..=5 => format!("({} | {})", inner(self), inner(self)),
            6 | 7 => format!("({} -> {})", inner(self), inner(self)),
            8 => format!("({} ? {} : {})", inner(self), inner(self), inner(self)),
            9 => format!("(({}) = ({}))", inner(self), inner(self)),
            _ => format!("!({})", inner(self)),
        }
    }

    fn any_sort(&mut self) -> Sort {
        match self.rng.below(20) {
            0..11 => Sort::Processor,
            11..15 => Sort::Number,
            15..18 if self.uses("st") => Sort::State,
            18 if self.uses("mine") => Sort::Member,
            19 => Sort::Truth,
            _ => Sort::Processor,
        }
    }

    /// The sort of values of which each may have a processor of its own.
    fn value_sort(&mut self) -> Sort {
        let mut sorts = Vec::new();
        if self.uses("l") || self.uses("holder") {
            sorts.extend([Sort::Number; 3]);
        }
        if self.uses("st") {
            sorts.extend([Sort::State; 2]);
        }
        if self.uses("mine") {
            sorts.extend([Sort::Member; 3]);
        }
        if self.uses("done") || self.uses("set") {
            sorts.push(Sort::Truth);
        }
        self.rng.pick(&sorts).copied().unwrap_or(Sort::Number)
    }

    /// What is broken only if every value of a type has a processor that has it.
    fn for_each_value(&mut self, around: &[Bound]) -> String {
        let (values, one, has) = self.value_of_one(around);
        let some = quantified(false, &one, &has);
        let every = quantified(true, &values, &some);
        let none = quantified(true, &one, &format!("!({has})"));
        let missing = quantified(false, &values, &none);
        let beside = self.claim(around, 1);
        match self.rng.below(16) {
            0..3 => missing,
            3..5 => format!("!{every}"),
            5 => format!("({every} -> {beside})"),
            6 => format!("({missing} | {beside})"),
            7 => format!("({every} ? {beside} : true)"),
            8 => format!("({missing} ? true : {beside})"),
            9 => format!("({every} = false)"),
            10 => format!("({missing} = !{every})"),
            11 => format!("({every} -> {missing})"),
            12 => format!("!({every} & {})", self.every_value(around)),
            13 if self.uses("l") => "exists s: 1..K do none(s) end".to_owned(),
            13 | 14 if self.uses("st") => "!(forall e: S do some(e) end)".to_owned(),
            14 => format!("!(({missing}) -> false) | {beside}"),
            _ => self.pairs(),
        }
    }

    /// A rule that applies only if several processors are in different states.
    pub(crate) fn late_rule(&mut self) -> Rule {
        let guard = match self.rng.percent(60) {
            true => self.every_value(&[]),
            false => {
                let parts = self.several_parts();
                format!("!({parts})")
            }
        };
        let parameters = if self.rng.percent(30) { vec!["p: P".to_owned()] } else { Vec::new() };
        let body = vec!["flag := true;".to_owned()];
        Rule { name: "late".to_owned(), parameters, guard: vec![guard], locals: Vec::new(), body }
    }

    fn every_value(&mut self, around: &[Bound]) -> String {
        let (values, one, has) = self.value_of_one(around);
        quantified(true, &values, &quantified(false, &one, &has))
    }

    /// A value, a processor, and a condition that mostly says that the processor has this value.
    fn value_of_one(&mut self, around: &[Bound]) -> ([Bound; 1], [Bound; 1], String) {
        let (value, sort, q) = (self.fresh(), self.value_sort(), self.fresh());
        let mut more = around.to_vec();
        more.extend([(value.clone(), sort), (q.clone(), Sort::Processor)]);
        let mut has = self.atom(&more);
        for _ in 0..6 {
            if mentions(&has, &value) && mentions(&has, &q) {
                break;
            }
            has = self.atom(&more);
        }
        if self.rng.percent(15) {
            has = format!("({has} & {})", self.atom(&more));
        }
        ([(value, sort)], [(q, Sort::Processor)], has)
    }

    /// Two of several values that have to do with each other.
    fn pairs(&mut self) -> String {
        let (one, other, sort) = (self.fresh(), self.fresh(), self.value_sort());
        let sort = if self.uses("holder") { Sort::Number } else { sort };
        let bound = [(one.clone(), sort), (other.clone(), sort)];
        let mut inner = self.atom(&bound);
        if sort != Sort::Number || !self.uses("holder") {
            inner = self.claim(&bound, 2);
        }
        quantified(false, &bound, &format!("{one} != {other} & {inner}"))
    }

    /// Parts that are broken by a processor each.
    fn several_parts(&mut self) -> String {
        let mut parts = Vec::new();
        for _ in 0..2 + self.rng.below(4) {
            let q = vec![(self.fresh(), Sort::Processor)];
            let mut inner = self.atom(&q);
            if self.rng.percent(50) {
                inner = format!("({inner} & {})", self.atom(&q));
            }
            parts.push(quantified(false, &q, &inner));
        }
        match self.rng.below(3) {
            0 => format!("!({})", parts.join(" & ")),
            1 => parts.iter().map(|part| format!("!{part}")).collect::<Vec<_>>().join(" | "),
            _ => {
                let last = parts.pop().unwrap_or_default();
                format!("(({}) -> !{last})", parts.join(" & "))
            }
        }
    }
}

/// A quantifier over these, in one word or nested.
pub(crate) fn quantified(all: bool, bound: &[Bound], inner: &str) -> String {
    let word = if all { "forall" } else { "exists" };
    let each = bound.iter().map(|(name, sort)| format!("{name}: {}", type_of(*sort)));
    format!("({word} {} do {inner} end)", each.collect::<Vec<_>>().join("; "))
}

/// How a sort is written.
pub(crate) fn type_of(sort: Sort) -> &'static str {
    match sort {
        Sort::Processor => "P",
        Sort::Number => "1..K",
        Sort::State => "S",
        Sort::Truth => "boolean",
        Sort::Member => "Q",
    }
}
