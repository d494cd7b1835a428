//! Assertions and assumptions in statements. An assertion is checked where all processors of the
//! rule are concrete and assumed where they are not; either is weakened to what is kept.

use murphi::ast::{Expression, ExpressionKind, Property, PropertyKind, Statement, StatementKind};
use murphi::source::Span;
use murphi::transform::{is_true, parts, statement};

use crate::abstraction::instance::{Instance, Mode, Step, Stop};
use crate::abstraction::places::Where;

impl Instance<'_> {
    pub(super) fn property(&mut self, property: &Property, span: Span) -> Step<Vec<Statement>> {
        match property.kind {
            PropertyKind::Assertion => {
                if !self.checks {
                    return self.assume(&property.condition, span);
                }
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
            PropertyKind::Assumption => self.assume(&property.condition, span),
            PropertyKind::Cover | PropertyKind::Liveness => Ok(Vec::new()),
        }
    }

    fn assume(&mut self, condition: &Expression, span: Span) -> Step<Vec<Statement>> {
        self.choose_indices(condition)?;
        let condition = self.condition(condition, Mode::Weaker)?;
        Ok(if is_true(&condition) { Vec::new() } else { vec![assumed(condition, span)] })
    }

    /// Chooses the processors that a condition finds its places by, where they are not known: most
    /// likely what follows needs them too, and what is assumed of a place that is not known says
    /// nothing.
    fn choose_indices(&mut self, condition: &Expression) -> Step<()> {
        if let ExpressionKind::Index(_, at) = &condition.kind
            && matches!(at.kind, ExpressionKind::Field(..) | ExpressionKind::Index(..))
            && self.is_processor(at)
            && matches!(self.place(at, Mode::Probe), Ok(Where::Hidden))
        {
            // What is different for each value of a variable stays unknown.
            if let Err(Stop::Refuse(problem)) = self.who(at, Mode::Exact) {
                return Err(Stop::Refuse(problem));
            }
        }
        for part in parts(condition) {
            self.choose_indices(part)?;
        }
        Ok(())
    }
}

/// An assumption.
pub(super) fn assumed(condition: Expression, span: Span) -> Statement {
    let property = Property { kind: PropertyKind::Assumption, message: None, condition };
    statement(StatementKind::Property(property), span)
}
