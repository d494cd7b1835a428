//! Assertions and assumptions in statements.
//!
//! An assertion is checked where all processors of its rule and of the loops around it are concrete,
//! if a view is wide enough for them and for those that it speaks of besides. Otherwise it is checked
//! wherever the ones are concrete that it names itself. Either way, whatever processors make it fail,
//! there is a view of them in which it is checked, and there it fails. In all other instances it is
//! assumed. A check of what the next statement may fail by is not: the statement is still there.
//!
//! Lemma L3 of docs/abstraction.md. In a rule of p and q:
//!
//! ```text
//! p and q concrete:      assert c[p] = M | c[q] = I;
//! q = Other:             assume c[p] = M | …, as far as it is known: nothing
//! ```

use murphi::ast::{
    Expression, ExpressionKind, Property, PropertyKind, Quantifier, Statement, StatementKind, Text,
};
use murphi::source::Span;
use murphi::transform::{bind, boolean, is_true, name, names, parts, statement};

use crate::abstraction::instance::{Instance, Mode, Obstacle, ProcessorKind, Step};
use crate::abstraction::places::Visibility;
use crate::abstraction::width;

impl Instance<'_> {
    pub(in crate::abstraction) fn property(
        &mut self,
        property: &Property,
        span: Span,
    ) -> Step<Vec<Statement>> {
        match property.kind {
            PropertyKind::Assertion | PropertyKind::Check => {
                match (self.is_checked(&property.condition)?, property.kind) {
                    (true, _) => self.claimed(property, span),
                    (false, PropertyKind::Check) => Ok(Vec::new()),
                    (false, _) => self.assume(&property.condition, span),
                }
            }
            PropertyKind::Assumption => self.assume(&property.condition, span),
            PropertyKind::Cover | PropertyKind::Liveness => Ok(Vec::new()),
        }
    }

    /// `error` is an assertion of `false`.
    pub(in crate::abstraction) fn error(
        &mut self,
        message: &Text,
        span: Span,
    ) -> Step<Vec<Statement>> {
        Ok(match self.is_checked(&boolean(false, span))? {
            true => vec![statement(StatementKind::Error(message.clone()), span)],
            false => vec![assumed(boolean(false, span), span)],
        })
    }

    /// Whether an assertion is checked in this instance.
    fn is_checked(&self, condition: &Expression) -> Step<bool> {
        if self.all_concrete {
            return Ok(true);
        }
        let is_concrete = |name: &String| {
            self.processor_kinds
                .get(name)
                .is_none_or(|processor_kinds| *processor_kinds == ProcessorKind::Concrete)
        };
        Ok(self.is_wide(condition)? && names(condition).iter().all(is_concrete))
    }

    /// Whether an assertion may be checked in this instance, inside these loops.
    pub(in crate::abstraction) fn may_check(
        &self,
        condition: &Expression,
        loops: &[Quantifier],
    ) -> bool {
        let mut inside = self.clone();
        bind(&mut inside.scope, loops);
        for each in loops.iter().filter(|each| self.types.over_processors(each)) {
            inside.processor_kinds.insert(each.name.text.clone(), ProcessorKind::Concrete);
        }
        inside.is_checked(condition).unwrap_or(true)
    }

    /// Whether the processors of a claim, its rule and the enclosing loops are too many for every
    /// view.
    pub(in crate::abstraction) fn is_wide(&self, condition: &Expression) -> Step<bool> {
        let ids = &mut *self.ids.borrow_mut();
        let needs = width::needs(ids, self.types, &self.scope, condition);
        let needs = needs.map_err(|problem| Obstacle::Refuse(Box::new(problem)))?;
        let around = self.processor_kinds.keys().map(|each| ids.id(&name(each, Span::default())));
        let view = self.types.view();
        Ok(width::beyond(&width::with_state(&needs, around), view).is_some())
    }

    fn claimed(&mut self, property: &Property, span: Span) -> Step<Vec<Statement>> {
        let outer = std::mem::replace(&mut self.restricts, true);
        let condition = self.condition(&property.condition, Mode::Weaker);
        self.restricts = outer;
        let condition = condition?;
        if is_true(&condition) {
            return Ok(Vec::new());
        }
        let property = Property { condition, ..property.clone() };
        Ok(vec![statement(StatementKind::Property(property), span)])
    }

    fn assume(&mut self, condition: &Expression, span: Span) -> Step<Vec<Statement>> {
        self.choose_indices(condition)?;
        let condition = self.condition(condition, Mode::Weaker)?;
        Ok(if is_true(&condition) { Vec::new() } else { vec![assumed(condition, span)] })
    }

    /// Adds choices for the indices of a condition if they are unknown: later statements usually
    /// need them, and an assumption about an unknown place excludes nothing.
    fn choose_indices(&mut self, condition: &Expression) -> Step<()> {
        if let ExpressionKind::Index(_, at) = &condition.kind
            && matches!(at.kind, ExpressionKind::Field(..) | ExpressionKind::Index(..))
            && self.is_processor(at)
            && matches!(self.place(at, Mode::Probe), Ok(Visibility::Hidden))
        {
            // An index that differs for each value of a variable stays unknown.
            if let Err(Obstacle::Refuse(problem)) = self.processor_value(at, Mode::Exact) {
                return Err(Obstacle::Refuse(problem));
            }
        }
        for part in parts(condition) {
            self.choose_indices(part)?;
        }
        Ok(())
    }
}

/// The statement `assume condition`.
pub(super) fn assumed(condition: Expression, span: Span) -> Statement {
    let property = Property { kind: PropertyKind::Assumption, message: None, condition };
    statement(StatementKind::Property(property), span)
}
