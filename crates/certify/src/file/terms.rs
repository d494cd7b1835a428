//! A model as terms: names looked up and functions applied, places kept.
//!
//! The kernel reads the syntax tree of a model on its own. A definition is one term however often it
//! is used; what the operators mean is the business of `dense`, `flow` and `links`. Scoping is
//! static, as the language has it: a function sees what was defined where it was written. The
//! language was checked when the file was read, so a name that is not found, which cannot be, is the
//! empty relation's fault and ends the check.

use cat::CatModel;
use cat::syntax::{
    Binary, Binding, Expression, ExpressionKind, Instruction, Name, Place, Test, Unary,
};

use super::events::{BaseRelation, BaseSet};
use crate::rejection::Fault;

/// A term by its number.
pub(crate) type TermId = usize;

/// What a term is: a set or a relation, by its operator and what it is used as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Term {
    Set(BaseSet),
    Relation(BaseRelation),
    /// Nothing, as a set or as a relation.
    Empty,
    /// All events.
    All,
    Union(TermId, TermId),
    Intersection(TermId, TermId),
    Difference(TermId, TermId),
    Complement(TermId),
    Sequence(TermId, TermId),
    Inverse(TermId),
    Plus(TermId),
    Optional(TermId),
    /// `[S]`
    Identity(TermId),
    /// `S * T`
    Product(TermId, TermId),
    Domain(TermId),
    Range(TermId),
    /// A name of a `let rec`: which one, and which of its names.
    Variable(usize, usize),
}

impl Term {
    /// What it is made from.
    fn operands(self) -> [Option<TermId>; 2] {
        match self {
            Term::Union(a, b)
            | Term::Intersection(a, b)
            | Term::Difference(a, b)
            | Term::Sequence(a, b)
            | Term::Product(a, b) => [Some(a), Some(b)],
            Term::Complement(inner)
            | Term::Inverse(inner)
            | Term::Plus(inner)
            | Term::Optional(inner)
            | Term::Identity(inner)
            | Term::Domain(inner)
            | Term::Range(inner) => [Some(inner), None],
            Term::Set(_) | Term::Relation(_) | Term::Empty | Term::All | Term::Variable(..) => {
                [None, None]
            }
        }
    }
}

/// A condition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AxiomTerm {
    pub(crate) test: Test,
    pub(crate) negated: bool,
    pub(crate) body: TermId,
}

/// All terms of a model.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    /// Each with the places of its operands, as far as it has them.
    terms: Vec<(Term, [Place; 2])>,
    /// The bodies of each `let rec`.
    pub(crate) recursions: Vec<Vec<TermId>>,
    pub(crate) axioms: Vec<AxiomTerm>,
}

impl Terms {
    pub(crate) fn of(model: &CatModel) -> Result<Self, Fault> {
        let mut reader = Reader { terms: Terms::default(), names: Vec::new() };
        let mut scope = None;
        for instruction in model.instructions() {
            match instruction {
                Instruction::Let { recursive, bindings } => {
                    scope = reader.bind(*recursive, bindings, scope)?;
                }
                Instruction::Axiom(axiom) => {
                    let body = reader.term(&axiom.body, scope)?;
                    let (test, negated) = (axiom.test, axiom.negated);
                    reader.terms.axioms.push(AxiomTerm { test, negated, body });
                }
            }
        }
        Ok(reader.terms)
    }

    pub(crate) fn get(&self, id: TermId) -> Term {
        self.terms[id].0
    }

    /// Where the operands of a term are written.
    pub(crate) fn places(&self, id: TermId) -> [Place; 2] {
        self.terms[id].1
    }

    pub(crate) fn len(&self) -> usize {
        self.terms.len()
    }

    /// Whether a term relates accesses of one address only, from how it is written.
    pub(crate) fn stays_at_address(&self, term: TermId) -> bool {
        match self.get(term) {
            Term::Relation(relation) => matches!(
                relation,
                BaseRelation::ReadsFrom
                    | BaseRelation::Coherence
                    | BaseRelation::AtomicPair
                    | BaseRelation::ExclusivePair
                    | BaseRelation::SameAddress
            ),
            Term::Inverse(inner) | Term::Plus(inner) => self.stays_at_address(inner),
            Term::Union(a, b) => self.stays_at_address(a) && self.stays_at_address(b),
            // A test relates events to themselves.
            Term::Sequence(a, b) => {
                let stays = |term| self.is_test(term) || self.stays_at_address(term);
                stays(a) && stays(b) && !(self.is_test(a) && self.is_test(b))
            }
            Term::Intersection(a, b) => self.stays_at_address(a) || self.stays_at_address(b),
            Term::Difference(a, _) => self.stays_at_address(a),
            _ => false,
        }
    }

    /// Whether a term relates events of one thread only, from how it is written.
    pub(crate) fn stays_in_thread(&self, term: TermId) -> bool {
        match self.get(term) {
            Term::Relation(relation) => relation == BaseRelation::SameThread,
            Term::Sequence(a, b) => {
                let stays = |term| self.is_test(term) || self.stays_in_thread(term);
                stays(a) && stays(b)
            }
            Term::Intersection(a, b) => self.stays_in_thread(a) || self.stays_in_thread(b),
            Term::Difference(a, _) => self.stays_in_thread(a),
            _ => false,
        }
    }

    /// Whether some term that a term is made from, or the term itself, is of a kind.
    pub(crate) fn is_made_from(&self, term: TermId, is: &impl Fn(TermId) -> bool) -> bool {
        let (mut open, mut seen) = (vec![term], vec![false; self.terms.len()]);
        while let Some(term) = open.pop() {
            if std::mem::replace(&mut seen[term], true) {
                continue;
            }
            if is(term) {
                return true;
            }
            open.extend(self.get(term).operands().into_iter().flatten());
            if let Term::Variable(recursion, _) = self.get(term) {
                open.extend(&self.recursions[recursion]);
            }
        }
        false
    }

    /// `[S]`
    pub(crate) fn is_test(&self, term: TermId) -> bool {
        matches!(self.get(term), Term::Identity(_))
    }

    /// Whether a term is `rf^-1 ; co`, perhaps without what relates an event to itself, which it never
    /// does: `fr`.
    pub(crate) fn is_from_read(&self, term: TermId) -> bool {
        let is = |term, relation| self.get(term) == Term::Relation(relation);
        match self.get(term) {
            Term::Difference(inner, same) => {
                is(same, BaseRelation::Same) && self.is_from_read(inner)
            }
            Term::Sequence(a, b) => {
                is(b, BaseRelation::Coherence)
                    && matches!(self.get(a), Term::Inverse(inner) if is(inner, BaseRelation::ReadsFrom))
            }
            _ => false,
        }
    }

    /// Whether two terms are written alike, names looked up.
    pub(crate) fn same(&self, a: TermId, b: TermId) -> bool {
        if a == b {
            return true;
        }
        use Term::*;
        match (self.get(a), self.get(b)) {
            (Union(a, b), Union(c, d))
            | (Intersection(a, b), Intersection(c, d))
            | (Difference(a, b), Difference(c, d))
            | (Sequence(a, b), Sequence(c, d))
            | (Product(a, b), Product(c, d)) => self.same(a, c) && self.same(b, d),
            (Complement(a), Complement(b))
            | (Inverse(a), Inverse(b))
            | (Plus(a), Plus(b))
            | (Optional(a), Optional(b))
            | (Identity(a), Identity(b))
            | (Domain(a), Domain(b))
            | (Range(a), Range(b)) => self.same(a, b),
            (a, b) => a == b,
        }
    }

    /// Whether a term is a set; what may be either counts as a relation.
    pub(crate) fn is_set(&self, id: TermId) -> bool {
        match self.get(id) {
            Term::Set(_) | Term::All | Term::Domain(_) | Term::Range(_) => true,
            Term::Union(a, b) | Term::Intersection(a, b) | Term::Difference(a, b) => {
                self.is_set(a) || self.is_set(b)
            }
            Term::Complement(inner) => self.is_set(inner),
            Term::Variable(recursion, name) => {
                let body = self.recursions[recursion].get(name);
                body.is_some_and(|&body| !self.is_variable(body) && self.is_set_body(body, 0))
            }
            _ => false,
        }
    }

    fn is_variable(&self, id: TermId) -> bool {
        matches!(self.get(id), Term::Variable(..))
    }

    /// Of the body of a recursion, without going round in circles.
    fn is_set_body(&self, id: TermId, depth: usize) -> bool {
        match self.get(id) {
            Term::Set(_) | Term::All | Term::Domain(_) | Term::Range(_) => true,
            Term::Union(a, b) | Term::Intersection(a, b) | Term::Difference(a, b) => {
                depth < 64 && (self.is_set_body(a, depth + 1) || self.is_set_body(b, depth + 1))
            }
            Term::Complement(inner) => depth < 64 && self.is_set_body(inner, depth + 1),
            _ => false,
        }
    }

    /// For each term, whether it is made from a name of a recursion.
    pub(crate) fn depend_on(&self, recursion: usize) -> Vec<bool> {
        let mut depends = Vec::with_capacity(self.terms.len());
        for &(term, _) in &self.terms {
            let is_name = matches!(term, Term::Variable(number, _) if number == recursion);
            let mut operands = term.operands().into_iter().flatten();
            depends.push(is_name || operands.any(|operand: TermId| depends[operand]));
        }
        depends
    }

    fn add(&mut self, term: Term) -> TermId {
        self.add_at(term, [Place::default(); 2])
    }

    fn add_at(&mut self, term: Term, places: [Place; 2]) -> TermId {
        self.terms.push((term, places));
        self.terms.len() - 1
    }
}

/// What a name stands for.
#[derive(Clone, Copy)]
enum Meaning<'a> {
    Term(TermId),
    Function { parameters: &'a [Name], body: &'a Expression, scope: Scope },
}

/// The names that can be seen: the latest of them, which knows the one before it.
type Scope = Option<usize>;

struct Reader<'a> {
    terms: Terms,
    names: Vec<(&'a str, Meaning<'a>, Scope)>,
}

impl<'a> Reader<'a> {
    fn define(&mut self, name: &'a str, meaning: Meaning<'a>, before: Scope) -> Scope {
        self.names.push((name, meaning, before));
        Some(self.names.len() - 1)
    }

    fn bind(
        &mut self,
        recursive: bool,
        bindings: &'a [Binding],
        scope: Scope,
    ) -> Result<Scope, Fault> {
        let mut inner = scope;
        if recursive {
            let number = self.terms.recursions.len();
            self.terms.recursions.push(Vec::new());
            for (at, binding) in bindings.iter().enumerate() {
                let term = self.terms.add(Term::Variable(number, at));
                inner = self.define(&binding.name.text, Meaning::Term(term), inner);
            }
            for binding in bindings {
                let body = self.term(&binding.body, inner)?;
                self.terms.recursions[number].push(body);
            }
            return Ok(inner);
        }
        for binding in bindings {
            let meaning = match &binding.parameters {
                Some(parameters) => Meaning::Function { parameters, body: &binding.body, scope },
                None => Meaning::Term(self.term(&binding.body, scope)?),
            };
            inner = self.define(&binding.name.text, meaning, inner);
        }
        Ok(inner)
    }

    fn look_up(&self, name: &str, scope: Scope) -> Option<Meaning<'a>> {
        let mut at = scope;
        while let Some(index) = at {
            let (known, meaning, before) = self.names[index];
            if known == name {
                return Some(meaning);
            }
            at = before;
        }
        None
    }

    fn term(&mut self, expression: &'a Expression, scope: Scope) -> Result<TermId, Fault> {
        let term = match &expression.kind {
            ExpressionKind::Empty => Term::Empty,
            ExpressionKind::Universe => Term::All,
            ExpressionKind::Name(name) => return self.name(name, scope),
            ExpressionKind::Identity(inner) => {
                let inner = self.term(inner, scope)?;
                let is_empty = self.terms.get(inner) == Term::Empty;
                if is_empty { Term::Empty } else { Term::Identity(inner) }
            }
            ExpressionKind::Unary(operator, inner) => {
                let inner = self.term(inner, scope)?;
                match operator {
                    Unary::Complement => Term::Complement(inner),
                    Unary::Inverse => Term::Inverse(inner),
                    Unary::Plus => Term::Plus(inner),
                    Unary::Star => Term::Optional(self.terms.add(Term::Plus(inner))),
                    Unary::Optional => Term::Optional(inner),
                }
            }
            ExpressionKind::Binary(operator, operands) => {
                return self.binary(*operator, operands, scope);
            }
            ExpressionKind::Apply { function, arguments } => {
                return self.apply(function, arguments, scope);
            }
            ExpressionKind::Let { recursive, bindings, body } => {
                let inner = self.bind(*recursive, bindings, scope)?;
                return self.term(body, inner);
            }
            ExpressionKind::Try { first, otherwise } => {
                return match self.term(first, scope) {
                    Err(Fault::UnknownName { .. }) => self.term(otherwise, scope),
                    other => other,
                };
            }
        };
        Ok(self.terms.add(term))
    }

    fn name(&mut self, name: &str, scope: Scope) -> Result<TermId, Fault> {
        match self.look_up(name, scope) {
            Some(Meaning::Term(term)) => return Ok(term),
            Some(Meaning::Function { .. }) => {}
            None => {
                let set = BaseSet::named(name).map(Term::Set);
                let term = set.or_else(|| BaseRelation::named(name).map(Term::Relation));
                if let Some(term) = term {
                    return Ok(self.terms.add(term));
                }
            }
        }
        Err(Fault::UnknownName { name: name.into() })
    }

    fn binary(
        &mut self,
        operator: Binary,
        operands: &'a [Expression],
        scope: Scope,
    ) -> Result<TermId, Fault> {
        let mut all = Vec::new();
        for operand in operands {
            all.push(self.term(operand, scope)?);
        }
        let mut all = all.into_iter().zip(operands);
        let Some((mut left, first)) = all.next() else { return Ok(self.terms.add(Term::Empty)) };
        let same = Term::Relation(BaseRelation::Same);
        for (right, operand) in all {
            // `r ; id` is `r`, and nothing comes of the empty relation.
            let [first_term, second_term] = [left, right].map(|term| self.terms.get(term));
            let is_empty = first_term == Term::Empty || second_term == Term::Empty;
            match operator {
                Binary::Sequence if second_term == same => continue,
                Binary::Sequence if first_term == same => {
                    left = right;
                    continue;
                }
                Binary::Sequence | Binary::Intersection if is_empty => {
                    left = self.terms.add(Term::Empty);
                    continue;
                }
                Binary::Union if second_term == Term::Empty => continue,
                Binary::Union if first_term == Term::Empty => {
                    left = right;
                    continue;
                }
                _ => {}
            }
            let term = match operator {
                Binary::Union => Term::Union(left, right),
                Binary::Intersection => Term::Intersection(left, right),
                Binary::Difference => Term::Difference(left, right),
                Binary::Sequence => Term::Sequence(left, right),
                Binary::Product => Term::Product(left, right),
            };
            left = self.terms.add_at(term, [first.place, operand.place]);
        }
        Ok(left)
    }

    fn apply(
        &mut self,
        function: &'a Name,
        arguments: &'a [Expression],
        scope: Scope,
    ) -> Result<TermId, Fault> {
        if let ("domain" | "range", [argument]) = (function.text.as_str(), arguments) {
            let inner = self.term(argument, scope)?;
            let is_domain = function.text == "domain";
            let term = if is_domain { Term::Domain(inner) } else { Term::Range(inner) };
            return Ok(self.terms.add(term));
        }
        match self.look_up(&function.text, scope) {
            Some(Meaning::Function { parameters, body, scope: mut inner })
                if parameters.len() == arguments.len() =>
            {
                for (parameter, argument) in parameters.iter().zip(arguments) {
                    let value = self.term(argument, scope)?;
                    inner = self.define(&parameter.text, Meaning::Term(value), inner);
                }
                self.term(body, inner)
            }
            _ => Err(Fault::UnknownName { name: function.text.as_str().into() }),
        }
    }
}
