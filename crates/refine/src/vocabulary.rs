//! The vocabulary of a rule: the terms that a lemma for the rule may mention. These are the parameters of
//! the rule, witnesses, and every simple variable that can be reached from a state variable with these as
//! indices.
//!
//! A vocabulary is computed from one checked instance of the concrete program, but refers to variables by
//! name, so that it can be read in states of any instance and of the abstraction ([`super::reader`]).

use murphi::ast::{self, Expression, ExpressionKind, Name};
use murphi::instance::binders;
use murphi::ir::{Domain, Model, Rule, Simple, TypeId, TypeKind};
use murphi::print::print_expression;
use murphi::source::Span;

use super::atoms::Atom;
use super::reader::MOST_VARIABLES;

/// Types with more values than this have no labels for constants, and terms of these types are left
/// out.
const MOST_CONSTANTS: u64 = 32;

/// Arrays with more elements than this are indexed by variables only.
const MOST_ELEMENTS: u64 = 4;

/// The largest number of terms of a vocabulary.
const MOST_TERMS: usize = 400;

/// A variable that a lemma may use.
#[derive(Debug, Clone)]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// Its type, in the model that the vocabulary was made from.
    pub(crate) ty: TypeId,
    /// The name of that type, if it has one.
    pub(crate) type_name: Option<String>,
    /// Whether the lemma quantifies over it, so that it is not a parameter of the rule.
    pub(crate) witness: bool,
    pub(crate) processor: bool,
    /// The number of its values in that model.
    pub(crate) count: u64,
}

/// The sort of a term: the values that it may have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Sort {
    /// Values with names, as written in Murphi.
    pub(crate) constants: Vec<String>,
    /// Scalarsets, by the names of their types.
    pub(crate) sets: Vec<String>,
    /// Whether two terms of this sort may be compared: data, not control states.
    pub(crate) is_data: bool,
    /// The name of the type.
    pub(crate) name: Option<String>,
}

/// One step of the path to a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Field(String),
    /// The element indexed by this variable.
    At(usize),
    /// The element with this number, from 0.
    Element(u64),
}

/// Where the value of a term comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The term is a variable.
    Variable(usize),
    /// A part of a state variable of this name.
    Place { global: String, steps: Vec<Step> },
    /// The value has to be computed.
    Probe,
}

/// A term: an expression with a simple value.
#[derive(Debug, Clone)]
pub(crate) struct Term {
    pub(crate) origin: Origin,
    pub(crate) expression: Expression,
    /// The expression as text; terms with equal texts are equal.
    pub(crate) text: String,
    pub(crate) sort: Sort,
    /// The variables that it uses, as bits.
    pub(crate) uses: u64,
}

/// The terms that a lemma for one rule may use.
#[derive(Debug, Clone)]
pub(crate) struct Vocabulary {
    /// The number of the rule.
    pub(crate) rule: usize,
    /// The parameters of the rule in order, then witnesses.
    pub(crate) variables: Vec<Variable>,
    pub(crate) terms: Vec<Term>,
}

impl Vocabulary {
    /// The vocabulary of a rule of `model`, an instance of the concrete program with the processor
    /// type `processor`; witnesses are added as long as the lemma has at most `most_processors`
    /// processors. `None` if the rule chooses from a multiset or a range.
    pub(crate) fn of(
        model: &Model,
        rule_number: usize,
        processor: &str,
        most_processors: u64,
    ) -> Option<Vocabulary> {
        let rule = &model.rules[rule_number];
        let mut variables = parameters(model, rule, processor)?;
        add_witnesses(model, &mut variables, processor, most_processors);
        if variables.len() > MOST_VARIABLES {
            return None;
        }
        let mut vocabulary = Vocabulary { rule: rule_number, variables, terms: Vec::new() };
        vocabulary.add_variables(model);
        for global in &model.globals {
            let expression = name(&global.name);
            vocabulary.add_places(model, &global.name, global.ty, Vec::new(), expression);
        }
        Some(vocabulary)
    }

    /// Adds a probed expression, if it is new.
    pub(crate) fn add_probe(&mut self, expression: &Expression, sort: Sort) {
        let text = print_expression(expression);
        if self.terms.iter().any(|term| term.text == text) {
            return;
        }
        let uses = self.variables_in(expression);
        let expression = expression.clone();
        self.terms.push(Term { origin: Origin::Probe, expression, text, sort, uses });
    }

    /// The variables that an expression names.
    fn variables_in(&self, expression: &Expression) -> u64 {
        let mut uses = 0;
        super::syntax::each_name(expression, &mut |found| {
            if let Some(at) = self.variables.iter().position(|variable| variable.name == found) {
                uses |= 1 << at;
            }
        });
        uses
    }

    /// The atom of an equation that compares two terms, or a term with a variable, that are members
    /// of scalarsets.
    pub(crate) fn equation(&self, expression: &Expression) -> Option<Atom> {
        let ExpressionKind::Binary(ast::BinaryOperator::Equal, left, right) = &expression.kind
        else {
            return None;
        };
        let (left, right) = (print_expression(left), print_expression(right));
        let variable = |text: &str| self.variables.iter().position(|found| found.name == text);
        match (self.find(&left), self.find(&right), variable(&left), variable(&right)) {
            (Some(term), _, _, Some(variable)) | (_, Some(term), Some(variable), _) => {
                Some(Atom::Is(term, variable))
            }
            (Some(left), Some(right), _, _) => Some(Atom::Same(left.min(right), left.max(right))),
            _ => None,
        }
    }

    /// The number of the term with this text.
    pub(crate) fn find(&self, text: &str) -> Option<usize> {
        self.terms.iter().position(|term| term.text == text)
    }

    fn add_variables(&mut self, model: &Model) {
        for (at, variable) in self.variables.iter().enumerate() {
            // Processors are compared with others, and are not terms of their own.
            let Some(sort) = sort(model, variable.ty).filter(|_| !variable.processor) else {
                continue;
            };
            let expression = name(&variable.name);
            let text = variable.name.clone();
            let origin = Origin::Variable(at);
            self.terms.push(Term { origin, expression, text, sort, uses: 1 << at });
        }
    }

    fn add_places(
        &mut self,
        model: &Model,
        global: &str,
        ty: TypeId,
        steps: Vec<Step>,
        expression: Expression,
    ) {
        if self.terms.len() >= MOST_TERMS {
            return;
        }
        match model.kind(ty) {
            TypeKind::Simple(_) => {
                let Some(sort) = sort(model, ty) else { return };
                let uses = steps.iter().fold(0, |uses, step| match step {
                    Step::At(variable) => uses | 1 << variable,
                    _ => uses,
                });
                let origin = Origin::Place { global: global.to_owned(), steps };
                let text = print_expression(&expression);
                self.terms.push(Term { origin, expression, text, sort, uses });
            }
            TypeKind::Record(fields) => {
                for field in fields {
                    let mut steps = steps.clone();
                    steps.push(Step::Field(field.name.clone()));
                    let named = Name { text: field.name.clone(), span: Span::default() };
                    let inner = plain(ExpressionKind::Field(Box::new(expression.clone()), named));
                    self.add_places(model, global, field.ty, steps, inner);
                }
            }
            TypeKind::Array { index, element } => {
                for (step, at) in self.indices(model, *index) {
                    let mut steps = steps.clone();
                    steps.push(step);
                    let inner = ExpressionKind::Index(Box::new(expression.clone()), Box::new(at));
                    self.add_places(model, global, *element, steps, plain(inner));
                }
            }
            TypeKind::Multiset { .. } => {}
        }
    }

    /// The expressions that can index an array.
    fn indices(&self, model: &Model, index: TypeId) -> Vec<(Step, Expression)> {
        let fitting =
            self.variables.iter().enumerate().filter(|(_, variable)| variable.ty == index);
        let mut indices: Vec<_> =
            fitting.map(|(at, variable)| (Step::At(at), name(&variable.name))).collect();
        let is_symmetric = sort(model, index).is_none_or(|sort| !sort.sets.is_empty());
        if !is_symmetric && model.count(index) <= MOST_ELEMENTS {
            let constants = sort(model, index).map(|sort| sort.constants).unwrap_or_default();
            for (number, constant) in constants.iter().enumerate() {
                indices.push((Step::Element(number as u64), constant_expression(constant)));
            }
        }
        indices
    }
}

/// The parameters of a rule.
fn parameters(model: &Model, rule: &Rule, processor: &str) -> Option<Vec<Variable>> {
    let variable = |binder: &murphi::ir::Binder| {
        let Domain::Type(ty) = binder.domain else { return None };
        let name = rule.frame.locals[binder.local.0 as usize].name.clone();
        Some(new_variable(model, name, ty, processor, false))
    };
    binders(&rule.parameters).map(variable).collect()
}

fn new_variable(
    model: &Model,
    name: String,
    ty: TypeId,
    processor: &str,
    witness: bool,
) -> Variable {
    let type_name = model.types[ty.0 as usize].name.clone();
    let is_processor = type_name.as_deref() == Some(processor);
    Variable { name, ty, type_name, witness, processor: is_processor, count: model.count(ty) }
}

/// Adds a witness of every scalarset that indexes an array, if there is a member that is not a
/// parameter.
fn add_witnesses(
    model: &Model,
    variables: &mut Vec<Variable>,
    processor: &str,
    most_processors: u64,
) {
    let mut indexing: Vec<TypeId> = Vec::new();
    for global in &model.globals {
        index_types(model, global.ty, &mut indexing);
    }
    for ty in indexing {
        let is_scalarset = matches!(model.simple(ty), Some(Simple::Scalarset(_)));
        let Some(type_name) = model.types[ty.0 as usize].name.clone() else { continue };
        if !is_scalarset {
            continue;
        }
        let is_processor = type_name == processor;
        let used = variables.iter().filter(|variable| variable.ty == ty).count() as u64;
        let most = if is_processor { most_processors } else { used + 1 };
        for _ in used..most.min(model.count(ty)) {
            let name = fresh_name(model, variables, &type_name);
            variables.push(new_variable(model, name, ty, processor, true));
        }
    }
}

/// A short name that is not used in the program.
fn fresh_name(model: &Model, variables: &[Variable], type_name: &str) -> String {
    let is_used = |name: &str| {
        variables.iter().any(|variable| variable.name == name)
            || model.globals.iter().any(|global| global.name == name)
            || model.functions.iter().any(|function| function.name == name)
            || model.types.iter().any(|ty| match &ty.kind {
                TypeKind::Simple(Simple::Enumeration(members)) => {
                    members.iter().any(|member| member == name)
                }
                _ => ty.name.as_deref() == Some(name),
            })
    };
    let stem = format!("other_{}", type_name.to_lowercase());
    let numbered = (2..).map(|number| format!("{stem}{number}"));
    let mut names = std::iter::once(stem.clone()).chain(numbered);
    names.find(|name| !is_used(name)).expect("there are more names than are used")
}

/// The index types of all arrays in a type, without duplicates, in order.
fn index_types(model: &Model, ty: TypeId, found: &mut Vec<TypeId>) {
    match model.kind(ty) {
        TypeKind::Simple(_) | TypeKind::Multiset { .. } => {}
        TypeKind::Record(fields) => {
            for field in fields {
                index_types(model, field.ty, found);
            }
        }
        TypeKind::Array { index, element } => {
            if !found.contains(index) {
                found.push(*index);
            }
            index_types(model, *element, found);
        }
    }
}

/// The sort of a simple type; `None` if its values cannot be used in a lemma.
pub(crate) fn sort(model: &Model, ty: TypeId) -> Option<Sort> {
    let name = model.types[ty.0 as usize].name.clone();
    let constants = |constants: Vec<String>, is_data: bool| {
        Some(Sort { constants, sets: Vec::new(), is_data, name: name.clone() })
    };
    match model.simple(ty)? {
        Simple::Boolean => constants(vec!["false".to_owned(), "true".to_owned()], false),
        Simple::Enumeration(members) if members.len() < super::reader::MOST_CONSTANTS => {
            constants(members.clone(), false)
        }
        Simple::Range { low, high } if model.count(ty) <= MOST_CONSTANTS => {
            constants((*low..=*high).map(|value| value.to_string()).collect(), true)
        }
        Simple::Scalarset(_) => {
            let sets = vec![name.clone()?];
            Some(Sort { constants: Vec::new(), sets, is_data: true, name })
        }
        Simple::Union(members) => {
            let mut whole = Sort { is_data: true, name: name.clone(), ..Sort::default() };
            for &member in members {
                let part = sort(model, member)?;
                whole.constants.extend(part.constants);
                whole.sets.extend(part.sets);
            }
            Some(whole)
        }
        Simple::Enumeration(_)
        | Simple::Range { .. }
        | Simple::Integer
        | Simple::Position { .. } => None,
    }
}

/// An expression without a place in a source.
pub(crate) fn plain(kind: ExpressionKind) -> Expression {
    Expression { kind, span: Span::default() }
}

/// A name as an expression.
pub(crate) fn name(text: &str) -> Expression {
    plain(ExpressionKind::Name(text.to_owned()))
}

/// A named value or a number as an expression.
pub(crate) fn constant_expression(text: &str) -> Expression {
    match text.parse::<i64>() {
        Ok(value) if value < 0 => {
            let size = plain(ExpressionKind::Integer(value.wrapping_neg()));
            plain(ExpressionKind::Unary(ast::UnaryOperator::Negate, Box::new(size)))
        }
        Ok(value) => plain(ExpressionKind::Integer(value)),
        Err(_) => name(text),
    }
}
