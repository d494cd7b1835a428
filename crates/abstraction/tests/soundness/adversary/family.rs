//! A family of random programs: the same rules, and one of several claims or failing rules beside
//! them, so that one search decides all.

use chance::Rng;
use tribunal_abstraction::find_processor;

use super::dynamics;
use super::faults::Kind;
use super::program::{Invariant, Program, Rule};
use super::truth::{Broken, MOST, truth};
use super::words::Words;
use crate::judge::read;

/// How many invariants and rules are tried beside the rules of a family.
const INVARIANTS: usize = 8;
const QUESTIONS: usize = 16;

/// How many members are asked about, by what is so: those that only many processors break, those
/// that nobody breaks, and those that few break.
const OF_MANY: usize = 16;
const OF_NONE: usize = 4;
const OF_FEW: usize = 3;

/// A program and the truth about it.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) program: Program,
    pub(crate) kind: Kind,
    /// The claim, or the rule that may fail.
    pub(crate) added: String,
    pub(crate) broken: Broken,
    /// Instances with up to so many processors were searched.
    pub(crate) known_to: u64,
}

/// The members of a family that are worth asking about.
pub(crate) fn random(rng: &mut Rng) -> Vec<Member> {
    let bound = [2, 3, 3, 4, 4, 5, 5, 6, 6, 7][rng.below(10)];
    let rules = dynamics::random(rng, bound);
    let mut base = Program {
        bound,
        defined: rng.percent(40),
        start: None,
        assumptions: Vec::new(),
        rules,
        invariants: Vec::new(),
        lemmas: Vec::new(),
    };
    if rng.percent(12) {
        base.start = dynamics::start(rng, &base.text());
    }
    let about = base.text();
    let (mut invariants, mut questions) = (Vec::new(), Vec::new());
    let mut words = Words { rng, about, bound, names: 0 };
    if words.rng.percent(30) {
        base.rules.push(words.late_rule());
        words.about = base.text();
    }
    if words.rng.percent(5) {
        base.assumptions.push(words.claim(&[], 2));
    }
    for _ in 0..INVARIANTS {
        invariants.push(words.invariant());
    }
    for _ in 0..QUESTIONS {
        questions.push(words.question());
    }
    if words.rng.percent(15) {
        base.rules.iter_mut().for_each(|rule| words.with_fault(rule));
    }
    chosen(rng, judged(&base, invariants, questions))
}

/// All members with the truth about them.
fn judged(base: &Program, invariants: Vec<Invariant>, questions: Vec<(Kind, Rule)>) -> Vec<Member> {
    let own = base.rules.len();
    let mut whole = base.clone();
    whole.rules.extend(questions.iter().map(|(_, rule)| rule.clone()));
    whole.invariants = invariants.clone();
    let program = read(&whole.text());
    let processor = find_processor(&program, Some("P")).expect("there are processors");
    let truth = truth(&program, &processor, own);
    let known_to = truth.known_to;
    let member = |program, kind, added, broken| Member { program, kind, added, broken, known_to };
    let broken = truth.of(0..own, 0..0);
    let mut found = vec![member(base.clone(), Kind::Bare, String::new(), broken)];
    // If the rules alone are broken, nothing is to be learned from what is added to them.
    if broken != Broken::default() {
        return found;
    }
    for (at, invariant) in invariants.into_iter().enumerate() {
        let broken = truth.of(0..own, at..at + 1);
        let added = invariant.text(at);
        let program = Program { invariants: vec![invariant], ..base.clone() };
        found.push(member(program, Kind::Invariant, added, broken));
    }
    for (at, (kind, rule)) in questions.into_iter().enumerate() {
        let broken = truth.of((0..own).chain([own + at]), 0..0);
        let (mut program, added) = (base.clone(), rule.text());
        program.rules.push(rule);
        found.push(member(program, kind, added, broken));
    }
    found
}

/// The members that are asked about, those first that only many processors break.
fn chosen(rng: &mut Rng, mut members: Vec<Member>) -> Vec<Member> {
    rng.shuffle(&mut members);
    // Mostly those first that only many break.
    if rng.percent(70) {
        members.sort_by_key(|member| std::cmp::Reverse(member.broken.least_from(0)));
    }
    let (mut many, mut none, mut few) = (OF_MANY, OF_NONE, OF_FEW);
    members.retain(|member| {
        let left = match member.broken.least_from(0) {
            Some(4..=MOST) => &mut many,
            None if member.known_to >= 4 && member.kind != Kind::Bare => &mut none,
            Some(_) => &mut few,
            None => return false,
        };
        let is_left = *left > 0;
        *left = left.saturating_sub(1);
        is_left
    });
    members
}
