//! Multisets that are kept, and those that are not, of which nothing shows. What is put into one or
//! taken out of it must not depend on what is not kept: its elements have no places by which a choice
//! could be distinguished from another.
//!
//! Transformation T8 of docs/abstraction.md, with p = `Other`:
//!
//! ```text
//! before: multisetadd(m, net); multisetadd(m, inbox[p]);
//! after:  multisetadd(m, net);
//! ```

use murphi::ast::{Expression, MultisetFilter, Statement, StatementKind};
use murphi::source::Span;
use murphi::transform::statement;

use crate::abstraction::instance::{Instance, Mode, Obstacle, Step};
use crate::abstraction::places::Visibility;

impl Instance<'_> {
    pub(super) fn multiset_add(
        &mut self,
        value: &Expression,
        multiset: &Expression,
        span: Span,
    ) -> Step<Vec<Statement>> {
        let Some(multiset) = self.changed_multiset(multiset)? else { return Ok(Vec::new()) };
        let Visibility::Visible(value) = self.place(value, Mode::Exact)? else {
            let message = "a variable of another processor is put into a multiset";
            return Err(Obstacle::refuse(
                value.span,
                message,
                "assign it to an element of an array",
            ));
        };
        Ok(vec![statement(StatementKind::MultisetAdd { value, multiset }, span)])
    }

    pub(super) fn multiset_remove(
        &mut self,
        position: &Expression,
        multiset: &Expression,
        span: Span,
    ) -> Step<Vec<Statement>> {
        let Some(multiset) = self.changed_multiset(multiset)? else { return Ok(Vec::new()) };
        let position = self.value(position, Mode::Probe);
        let position = position.map_err(|stop| dependent(stop, span))?;
        Ok(vec![statement(StatementKind::MultisetRemove { position, multiset }, span)])
    }

    pub(super) fn multiset_filter(
        &mut self,
        filter: &MultisetFilter,
        span: Span,
    ) -> Step<Vec<Statement>> {
        let Some(multiset) = self.changed_multiset(&filter.multiset)? else {
            return Ok(Vec::new());
        };
        let condition = self.condition(&filter.condition, Mode::Probe);
        let filter = MultisetFilter {
            name: filter.name.clone(),
            multiset: Box::new(multiset),
            condition: Box::new(condition.map_err(|stop| dependent(stop, span))?),
        };
        Ok(vec![statement(StatementKind::MultisetRemoveWhere(filter), span)])
    }

    /// The multiset that a statement changes, if it is kept.
    fn changed_multiset(&mut self, multiset: &Expression) -> Step<Option<Expression>> {
        let found = self.place(multiset, Mode::Exact)?;
        self.wrote(multiset);
        Ok(match found {
            Visibility::Visible(multiset) => Some(multiset),
            Visibility::Hidden | Visibility::Member(_) => None,
        })
    }
}

fn dependent(stop: Obstacle, span: Span) -> Obstacle {
    match stop {
        Obstacle::Refuse(problem) => Obstacle::Refuse(problem),
        _ => Obstacle::refuse(
            span,
            "the effect on this multiset depends on processors that are not concrete",
            "keep messages in arrays",
        ),
    }
}
