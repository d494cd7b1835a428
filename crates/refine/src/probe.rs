//! Evaluates the expressions of a vocabulary that are not variables.
//!
//! Most terms of a vocabulary are read from the bytes of a state. A condition that the abstraction
//! replaces by a choice is not stored anywhere: it is computed by a separate program with the state of
//! the concrete one and a rule for each such condition, which is enabled exactly where the concrete rule
//! is enabled and the condition holds.

use std::sync::Arc;

use abstraction::FlatRule;
use explore::Engine;
use murphi::ast::{
    BinaryOperator, Body, Expression, Item, Program, Quantifier, Rule, RuleKind, Text,
};
use murphi::check;
use murphi::interpret::Interpreter;
use murphi::machine::{Machine, Outcome, Successors};
use murphi::print::print;
use murphi::source::{Source, Span};
use rustc_hash::FxHashMap;

use super::reader::Raw;
use super::syntax::binary;
use super::vocabulary::{Origin, Vocabulary, constant_expression};

/// A rule of the probing program.
#[derive(Debug, Clone, Copy)]
struct Question {
    vocabulary: usize,
    term: usize,
    /// The number of the constant that it compares with; 1 for a condition.
    constant: u8,
}

/// Evaluates the terms of all vocabularies that are not variables.
pub(crate) struct Probes {
    machine: Box<dyn Machine>,
    questions: Vec<Question>,
    /// The probed terms, as pairs of vocabulary and term.
    probed: Vec<(usize, usize)>,
    out: Successors,
}

/// The values of the probed terms in one state.
pub(crate) struct Probed<'a> {
    probes: &'a [(usize, usize)],
    answers: FxHashMap<(usize, usize, u64), Raw>,
}

impl Probes {
    /// The probes for an instance of the concrete program; `None` if no term needs one. `rules` are
    /// the rules of the concrete program.
    pub(crate) fn new(
        program: &Program,
        rules: &[FlatRule],
        vocabularies: &[Vocabulary],
        options: &check::Options,
    ) -> Option<Probes> {
        let mut probing = Program { items: program.items.clone() };
        probing.items.retain(|item| !matches!(item, Item::Rule(_)));
        let mut questions = Vec::new();
        let mut probed = Vec::new();
        for (number, vocabulary) in vocabularies.iter().enumerate() {
            let rule = &rules[vocabulary.rule];
            for (at, term) in vocabulary.terms.iter().enumerate() {
                if !matches!(term.origin, Origin::Probe) {
                    continue;
                }
                probed.push((number, at));
                for (constant, condition) in conditions(&term.expression, &term.sort.constants) {
                    probing.items.push(Item::Rule(question(rule, condition)));
                    questions.push(Question { vocabulary: number, term: at, constant });
                }
            }
        }
        if questions.is_empty() {
            return None;
        }
        probing.items.push(Item::Rule(empty_start()));
        let source = Source { name: "probes".to_owned(), text: print(&probing) };
        let checked = murphi::load(source, options).ok()?;
        let interpreter = Interpreter::new(Arc::new(checked.model)).ok()?;
        let size = interpreter.layout().size as usize;
        let machine = Engine::new(&interpreter).machine();
        Some(Probes { machine, questions, probed, out: Successors::new(size) })
    }

    /// Evaluates all probes in a state.
    pub(crate) fn look(&mut self, state: &[u8]) -> Probed<'_> {
        self.out.clear();
        self.machine.expand(state, &mut self.out);
        let mut answers = FxHashMap::default();
        for firing in &self.out.firings {
            let question = self.questions[firing.rule as usize];
            let key = (question.vocabulary, question.term, firing.instance);
            let answer = match firing.outcome {
                Outcome::GuardFailed => Raw::Unknown,
                _ => Raw::Constant(question.constant),
            };
            answers.insert(key, answer);
        }
        Probed { probes: &self.probed, answers }
    }
}

impl Probed<'_> {
    /// The values of the probed terms of a vocabulary, for an enabled instance of its rule.
    pub(crate) fn of(&self, vocabulary: usize, instance: u64) -> Vec<(usize, Raw)> {
        let of_it = self.probes.iter().filter(|(number, _)| *number == vocabulary);
        let answer = |&(number, term): &(usize, usize)| {
            let found = self.answers.get(&(number, term, instance));
            // Only conditions that hold are reported.
            (term, found.copied().unwrap_or(Raw::Constant(0)))
        };
        of_it.map(answer).collect()
    }
}

/// The conditions that determine the value of an expression: the expression itself if it is
/// boolean, else a comparison with each constant but the first.
fn conditions(expression: &Expression, constants: &[String]) -> Vec<(u8, Expression)> {
    if constants == ["false", "true"] {
        return vec![(1, expression.clone())];
    }
    let compared = |(number, constant): (usize, &String)| {
        let right = constant_expression(constant);
        (number as u8, binary(BinaryOperator::Equal, expression.clone(), right))
    };
    constants.iter().enumerate().skip(1).map(compared).collect()
}

/// A rule that is enabled where `rule` is enabled and the condition holds.
fn question(rule: &FlatRule, condition: Expression) -> Rule {
    let span = Span::default();
    let guard = match &rule.guard {
        Some(guard) => binary(BinaryOperator::And, guard.clone(), condition),
        None => condition,
    };
    let name = Some(Text { text: "probe".to_owned(), span });
    let kind = RuleKind::Simple { priority: None, name, guard: Some(guard), body: Body::default() };
    let simple = Rule { kind, span };
    let quantifiers: Vec<Quantifier> = rule.quantifiers.clone();
    match quantifiers.is_empty() {
        true => simple,
        false => Rule { kind: RuleKind::Ruleset { quantifiers, rules: vec![simple] }, span },
    }
}

fn empty_start() -> Rule {
    let kind = RuleKind::StartState { name: None, body: Body::default() };
    Rule { kind, span: Span::default() }
}
