//! One instance of a rule while it is abstracted: which processors are `Other`, what stands for
//! what is not known, and what has been written so far.
//!
//! The choices of transformation T8 of docs/abstraction.md: one for each place of `Other` that is read,
//! shared by all who read it while nothing changes it. With p = `Other`:
//!
//! ```text
//! before: memory := d[p]; x := d[p]; d[p] := 0; y := d[p];
//! after:  memory := d_p; x := d_p; y := d_p_2;
//! ```

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use murphi::ast::{Expression, TypeExpression};
use murphi::diagnostic::Diagnostic;
use murphi::print::print_expression;
use murphi::source::Span;
use murphi::transform::{
    ExpressionId, Interner, Path, Scope, name, names, not_taken, overlap, path, places_read,
    quantified,
};

use crate::types::Types;
use crate::{Choice, Fixed};

/// The name of the abstract processor, which stands for all that are not concrete.
pub const OTHER: &str = prepare::OTHER;

/// The name of the processor that is known by name, of which nothing else is kept.
pub const NAMED: &str = prepare::NAMED;

/// How a processor of a rule appears in the abstraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProcessorKind {
    Concrete,
    /// It is the processor known by name.
    Named,
    /// It is neither concrete nor known by name.
    Other,
    /// It is any processor that is not concrete: the variable of a loop or quantifier over them.
    Outside,
}

/// The ways in which a processor may be abstract, with the names of their constants.
pub(super) fn outside(types: &Types) -> &'static [(ProcessorKind, &'static str)] {
    match types.has_named() {
        true => &[(ProcessorKind::Other, OTHER), (ProcessorKind::Named, NAMED)],
        false => &[(ProcessorKind::Other, OTHER)],
    }
}

/// Why an expression cannot be abstracted directly.
#[derive(Debug, Clone)]
pub(super) enum Obstacle {
    /// It depends on an unknown value.
    Unknown,
    /// It depends on whether this stored processor is concrete.
    Split(Expression),
    /// It reads a value that is known to be undefined: an error, which is claimed in another view.
    Undefined,
    /// It depends on a value that differs for each value of a bound variable.
    Bound(Span),
    /// It cannot be abstracted, for this reason.
    Refuse(Box<Diagnostic>),
}

impl Obstacle {
    pub(super) fn refuse(span: Span, message: &str, help: &str) -> Obstacle {
        Obstacle::Refuse(Box::new(Diagnostic::error(span, message).help(help)))
    }

    /// The diagnostic for an obstacle that was not resolved.
    pub(super) fn diagnostic(self, span: Span) -> Diagnostic {
        let span = match self {
            Obstacle::Refuse(problem) => return *problem,
            Obstacle::Bound(span) | Obstacle::Split(Expression { span, .. }) => span,
            Obstacle::Unknown | Obstacle::Undefined => span,
        };
        Diagnostic::error(span, "this depends on processors in a way that cannot be abstracted")
    }
}

pub(super) type Step<T> = Result<T, Obstacle>;

/// How unknown values are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// A parameter stands for the value.
    Exact,
    /// The value is an obstacle.
    Probe,
    /// The result must follow from the concrete condition.
    Weaker,
    /// The concrete condition must follow from the result.
    Stronger,
}

impl Mode {
    pub(super) fn flipped(self) -> Mode {
        match self {
            Mode::Weaker => Mode::Stronger,
            Mode::Stronger => Mode::Weaker,
            same => same,
        }
    }

    /// The mode for the condition of a decision, which must be known.
    pub(super) fn strict(self) -> Mode {
        match self {
            Mode::Weaker | Mode::Stronger => Mode::Probe,
            same => same,
        }
    }
}

/// The paths of all places that an expression reads.
pub(super) fn reads(expression: &Expression) -> Vec<Path> {
    places_read(expression).into_iter().map(path).collect()
}

/// A choice, and what it depends on.
#[derive(Debug, Clone)]
struct RecordedChoice {
    choice: Choice,
    reads: Vec<Path>,
    /// The number of writes before it.
    at: usize,
}

/// A case distinction that is made by separate instances instead of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    Parameter,
    Named,
    Other,
    Undefined,
}

/// One instance of a rule.
#[derive(Debug, Clone)]
pub(super) struct Instance<'t> {
    pub(super) types: &'t Types,
    /// The bound names, with their concrete types.
    pub(super) scope: Scope,
    /// How parameters and loop variables of processor type appear.
    pub(super) processor_kinds: HashMap<String, ProcessorKind>,
    /// The variables that quantifiers and loops in the rule bind.
    pub(super) bound: Vec<String>,
    /// Whether this is a claim: `exists` ranges over concrete processors only, and unknown values
    /// count against it.
    pub(super) restricts: bool,
    /// Whether the claim was strengthened by that.
    pub(super) restricted: bool,
    /// Whether some condition is weaker than the concrete one.
    pub(super) weakened: bool,
    /// Whether every processor of the rule is concrete.
    pub(super) all_concrete: bool,
    /// All names in the rule; a new parameter must not be captured.
    pub(super) mentioned: Rc<HashSet<String>>,
    made: Vec<RecordedChoice>,
    /// The numbers of expressions, shared with the instances that are cloned from this one.
    pub(super) ids: Rc<RefCell<Interner>>,
    /// The choices for expressions in the state before the rule fires; the flag says whether it is
    /// a copy.
    initial: HashMap<(ExpressionId, bool), usize>,
    /// The choices for expressions in the current state.
    later: HashMap<(ExpressionId, bool), usize>,
    /// Stored processors that are known to be concrete or not.
    known: HashMap<ExpressionId, (ProcessorKind, Vec<Path>, usize)>,
    pub(super) log: Vec<Path>,
    /// The paths that the enclosing loops write.
    pub(super) loop_writes: Vec<Path>,
    /// The decisions of this instance, and the alternatives to them.
    pub(super) decisions: Vec<(Decision, Vec<Decision>)>,
    pub(super) next_decision: usize,
}

impl<'t> Instance<'t> {
    pub(super) fn new(types: &'t Types, decisions: Vec<(Decision, Vec<Decision>)>) -> Self {
        Instance {
            types,
            scope: Scope::new(),
            processor_kinds: HashMap::new(),
            bound: Vec::new(),
            restricts: false,
            restricted: false,
            weakened: false,
            all_concrete: true,
            mentioned: Rc::default(),
            made: Vec::new(),
            ids: Rc::default(),
            initial: HashMap::new(),
            later: HashMap::new(),
            known: HashMap::new(),
            log: Vec::new(),
            loop_writes: Vec::new(),
            decisions,
            next_decision: 0,
        }
    }

    /// The number of an expression.
    pub(super) fn id(&self, whole: &Expression) -> ExpressionId {
        self.ids.borrow_mut().id(whole)
    }

    /// All choices.
    pub(super) fn choices(&self) -> Vec<Choice> {
        self.made.iter().map(|made| made.choice.clone()).collect()
    }

    pub(super) fn wrote(&mut self, place: &Expression) {
        self.log.push(path(place));
    }

    fn is_fresh(&self, reads: &[Path], since: usize) -> bool {
        let later = self.log.get(since..).unwrap_or_default();
        !later.iter().any(|written| reads.iter().any(|read| overlap(written, read)))
    }

    // Stored processors.

    pub(super) fn learn(&mut self, place: &Expression, processor_kinds: ProcessorKind) {
        let entry = (processor_kinds, reads(place), self.log.len());
        self.known.insert(self.id(place), entry);
    }

    pub(super) fn standing_of(&self, place: &Expression) -> Option<ProcessorKind> {
        let (processor_kinds, reads, since) = self.known.get(&self.id(place))?;
        self.is_fresh(reads, *since).then_some(*processor_kinds)
    }

    /// Returns to the state before the rule fires; the choices for it remain.
    pub(super) fn begin_again(&mut self) {
        self.log.clear();
        self.later.clear();
        self.known.clear();
    }

    // Branches.

    /// Discards what was learned in a branch, before another branch or the code after both.
    pub(super) fn leave_branch(&mut self, before: &Instance<'t>) {
        self.later = before.later.clone();
        self.known = before.known.clone();
    }

    // Choices.

    /// The choice that stands for the current value of this expression, if there is one.
    pub(super) fn chosen(&self, wanted: &Expression, copy: bool) -> Option<&Choice> {
        let id = self.id(wanted);
        let as_copy = [true].into_iter().chain((!copy).then_some(false));
        for key in as_copy.map(|is_copy| (id, is_copy)) {
            if let Some(&number) = self.later.get(&key) {
                let made = &self.made[number];
                if self.is_fresh(&made.reads, made.at) {
                    return Some(&made.choice);
                }
            }
            if let Some(&number) = self.initial.get(&key) {
                let made = &self.made[number];
                if self.is_fresh(&made.reads, 0) {
                    return Some(&made.choice);
                }
            }
        }
        None
    }

    /// Adds a choice for the value of an expression.
    pub(super) fn choose(
        &mut self,
        stands_for: &Expression,
        ty: TypeExpression,
        copy: bool,
        alternatives: &[Decision],
    ) -> Step<Choice> {
        let reads = reads(stands_for);
        let mentioned = names(stands_for);
        if self.bound.iter().any(|bound| mentioned.contains(bound)) {
            return Err(Obstacle::Bound(stands_for.span));
        }
        if self.loop_writes.iter().any(|written| reads.iter().any(|read| overlap(written, read))) {
            let message = "a loop changes a variable of another processor that is read here";
            return Err(Obstacle::refuse(stands_for.span, message, "write it without a loop"));
        }
        let decision = self.decide(alternatives);
        let fixed = match decision {
            Decision::Parameter => None,
            Decision::Named => Some(Fixed::Named),
            Decision::Other => Some(Fixed::Other),
            Decision::Undefined => Some(Fixed::Undefined),
        };
        let initial = self.is_fresh(&reads, 0);
        let set = match fixed {
            None if self.types.is_set(&ty) => Some(self.fresh_set(stands_for, &ty)),
            _ => None,
        };
        let parameter = (fixed.is_none() && set.is_none()).then(|| self.fresh(stands_for));
        let key = (self.id(stands_for), copy);
        let stands_for = stands_for.clone();
        let choice = Choice { name: parameter, ty, stands_for, initial, fixed, set };
        let number = self.made.len();
        self.made.push(RecordedChoice { choice: choice.clone(), reads, at: self.log.len() });
        let table = if initial { &mut self.initial } else { &mut self.later };
        table.insert(key, number);
        Ok(choice)
    }

    /// Adds a boolean choice that is not shared, for all iterations of the loop over `own`
    /// together. Within another loop it would have to differ in each iteration.
    pub(super) fn choose_anew(
        &mut self,
        stands_for: Expression,
        own: Option<&str>,
    ) -> Step<Expression> {
        if self.bound.iter().any(|bound| own != Some(bound)) {
            return Err(Obstacle::Bound(stands_for.span));
        }
        let parameter = self.fresh(&stands_for);
        let span = stands_for.span;
        let ty = murphi::transform::named_type("boolean", span);
        let choice = Choice {
            name: Some(parameter.clone()),
            ty,
            stands_for,
            initial: self.log.is_empty(),
            fixed: None,
            set: None,
        };
        self.made.push(RecordedChoice { choice, reads: Vec::new(), at: self.log.len() });
        Ok(name(&parameter, span))
    }

    fn decide(&mut self, alternatives: &[Decision]) -> Decision {
        if alternatives.is_empty() {
            return Decision::Parameter;
        }
        if self.next_decision == self.decisions.len() {
            self.decisions.push((Decision::Parameter, alternatives.to_vec()));
        }
        let decision = self.decisions[self.next_decision].0;
        self.next_decision += 1;
        decision
    }

    /// A name for a choice, derived from the expression that it stands for.
    pub(super) fn fresh(&self, stands_for: &Expression) -> String {
        let stem: String = print_expression(stands_for)
            .replace("isundefined", "no ")
            .replace("!=", " is not ")
            .replace('=', " is ")
            .replace('!', "not ")
            .split(|character: char| !character.is_ascii_alphanumeric() && character != '_')
            .filter(|word| !word.is_empty() && !matches!(*word, "do" | "end"))
            .collect::<Vec<_>>()
            .join("_");
        let stem = match stem.chars().next() {
            Some(first) if first.is_ascii_alphabetic() && stem.len() <= 60 => stem,
            _ => "choice".to_owned(),
        };
        // A single word may be reserved: `false`, or a keyword.
        let stem = if stem.contains('_') { stem } else { format!("chosen_{stem}") };
        self.not_taken(&stem)
    }

    /// An unused name with this stem.
    pub(super) fn not_taken(&self, stem: &str) -> String {
        not_taken(stem, |wish| {
            self.scope.contains_key(wish)
                || self.mentioned.contains(wish)
                || self.types.declared().any(|name| name == wish)
                || self.made.iter().any(|made| made.choice.parameters().contains(&wish))
        })
    }

    /// `exists q: condition` for the abstract processors that a loop variable stands for.
    pub(super) fn some_other(&self, variable: &str, condition: &Expression) -> Expression {
        let quantifiers = vec![self.types.processor_quantifier(variable)];
        quantified(false, quantifiers, condition.clone())
    }
}
