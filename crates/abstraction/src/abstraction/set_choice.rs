//! A set of processors that belongs to one that is not concrete, copied or looked into: any set.
//!
//! Transformation T10 of docs/abstraction.md, with p = `Other`: `pending := sharers[p]` assigns any set,
//! by parameters that say who is in it.

use murphi::ast::{
    BinaryOperator, Domain, Expression, ExpressionKind, Quantifier, Statement, StatementKind,
};
use murphi::source::Span;
use murphi::transform::{
    and, assign, binary, boolean, identifier, index, name, named_type, not, or, quantifier,
    statement, when,
};

use super::instance::{Instance, Mode, OTHER, Obstacle, Step};
use super::processors::ProcessorValue;
use crate::types::Types;
use crate::{Choice, Chosen, ChosenSet, Fixed};

impl Choice {
    /// The types of its parameters.
    pub(super) fn quantifiers(&self, types: &Types) -> Vec<Quantifier> {
        let span = self.stands_for.span;
        let boolean = |name: &String| quantifier(name, named_type("boolean", span));
        let named = self.name.iter().map(|name| {
            let domain = Domain::Type(self.ty.clone());
            Quantifier { name: identifier(name, span), domain, span }
        });
        let mut found: Vec<Quantifier> = named.collect();
        if let Some(set) = &self.set {
            for chosen in std::iter::once(&set.members).chain(&set.gaps) {
                found.push(boolean(&chosen.none));
                found.extend(chosen.each.iter().map(|name| types.processor_quantifier(name)));
            }
            found.push(boolean(&set.others));
        }
        found
    }

    /// The names of its parameters.
    pub fn parameters(&self) -> Vec<&str> {
        let chosen = self.set.iter().flat_map(|set| [&set.members].into_iter().chain(&set.gaps));
        let sets = chosen.flat_map(|chosen| [&chosen.none].into_iter().chain(&chosen.each));
        let others = self.set.iter().map(|set| &set.others);
        self.name.iter().chain(sets).chain(others).map(String::as_str).collect()
    }
}

impl Chosen {
    /// Whether a concrete processor is among the chosen ones.
    fn has(&self, processor: &Expression) -> Expression {
        let span = processor.span;
        let is = |each: &String| binary(BinaryOperator::Equal, processor.clone(), name(each, span));
        let any = self.each.iter().map(is).reduce(or).unwrap_or_else(|| boolean(false, span));
        and(not(name(&self.none, span)), any)
    }
}

impl Instance<'_> {
    /// Fresh names for the parameters of a set.
    pub(super) fn fresh_set(
        &self,
        stands_for: &Expression,
        ty: &murphi::ast::TypeExpression,
    ) -> ChosenSet {
        let stem = self.fresh(stands_for);
        let chosen = |what: &str| Chosen {
            none: self.not_taken(&format!("{stem}_no_{what}")),
            each: (1..=self.types.concrete())
                .map(|number| self.not_taken(&format!("{stem}_{what}_{number}")))
                .collect(),
        };
        ChosenSet {
            members: chosen("member"),
            others: self.not_taken(&format!("{stem}_has_others")),
            gaps: (!self.types.is_counted(ty)).then(|| chosen("gap")),
        }
    }

    /// Copies an unknown set.
    pub(super) fn set_copied(
        &mut self,
        target: &Expression,
        value: &Expression,
        span: Span,
    ) -> Step<Vec<Statement>> {
        let choice = self.choice(value, Mode::Exact, true)?;
        let Some(ChosenSet { members, others, gaps }) = choice.set else {
            return Ok(vec![statement(StatementKind::Undefine(target.clone()), span)]);
        };
        let variable = self.not_taken("each_processor");
        let each = name(&variable, span);
        let element = index(target.clone(), each.clone());
        let mut body = vec![assign(element.clone(), members.has(&each), span)];
        if let Some(gaps) = gaps {
            let undefined = statement(StatementKind::Undefine(element), span);
            body = when(gaps.has(&each), vec![undefined], body, span);
        }
        let quantifiers = vec![self.types.processor_quantifier(&variable)];
        let any = index(target.clone(), name(OTHER, span));
        Ok(vec![
            statement(StatementKind::For { quantifiers, body }, span),
            assign(any, name(&others, span), span),
        ])
    }

    /// Whether a processor is in a chosen set; `None` if the place is not an element of one.
    pub(super) fn chosen_member(
        &mut self,
        whole: &Expression,
        mode: Mode,
    ) -> Option<Step<Expression>> {
        let ExpressionKind::Index(set, at) = &whole.kind else { return None };
        let choice = self.chosen(set, true)?.clone();
        if choice.fixed == Some(Fixed::Undefined) {
            return Some(Err(Obstacle::Undefined));
        }
        let set = choice.set?;
        Some(match self.processor_value(at, mode) {
            Ok(ProcessorValue::Concrete(at)) => {
                let member = set.members.has(&at);
                Ok(match &set.gaps {
                    // Reading an undefined element is an error, which is claimed in another view.
                    Some(gaps) => and(not(gaps.has(&at)), member),
                    None => member,
                })
            }
            Ok(ProcessorValue::Named | ProcessorValue::Other | ProcessorValue::Outside) => {
                match mode {
                    Mode::Exact => {
                        let known = self.chosen_truth(whole);
                        known.map(|known| and(name(&set.others, whole.span), known))
                    }
                    _ => Err(Obstacle::Unknown),
                }
            }
            Ok(ProcessorValue::Stored(at)) => Err(Obstacle::Split(at)),
            Ok(ProcessorValue::Undefined) => Err(Obstacle::Undefined),
            Err(stop) => Err(stop),
        })
    }
}
