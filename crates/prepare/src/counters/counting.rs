//! Assignments to counters, as changes of sets, with what must be asserted for a set to have as many
//! elements as the counter says.
//!
//! Which processor is counted is the one of the innermost loop, or else a parameter of the rule. It
//! is asserted that it was not counted before, and that one which is discounted was. A counter that
//! goes up to one less than the number of processors overflows if all are counted; there a further
//! assertion says that one parameter of the rule is not.

use murphi::ast::{
    BinaryOperator, Expression, ExpressionKind, Property, PropertyKind, Statement, StatementKind,
};
use murphi::diagnostic::Diagnostic;
use murphi::print::print_expression;
use murphi::source::Span;
use murphi::transform::{
    and, assign, binary, boolean, implies, index, is_moved, name, names, not, statement, text,
};

use super::recognise::Capacity;
use super::{Context, Result, Sets, refused};

impl Sets<'_> {
    /// `counter := value`.
    pub(super) fn assignment(
        &self,
        context: &mut Context,
        target: &Expression,
        value: &Expression,
        span: Span,
        done: &mut Vec<Statement>,
    ) -> Result<()> {
        match &value.kind {
            ExpressionKind::Integer(0) => done.push(self.for_each(context, span, |each| {
                let element = index(target.clone(), each.clone());
                vec![assign(element, boolean(false, span), span)]
            })),
            ExpressionKind::Binary(operator, left, right)
                if matches!(right.kind, ExpressionKind::Integer(1)) && same(left, target) =>
            {
                match operator {
                    BinaryOperator::Add => self.one_more(context, target, span, done)?,
                    BinaryOperator::Subtract => self.one_less(context, target, span, done)?,
                    _ => return Err(refused(span)),
                }
            }
            ExpressionKind::Binary(BinaryOperator::Subtract, left, right)
                if self.is_counter(context, left) && self.is_counter(context, right) =>
            {
                self.has_room(context, target, left)?;
                done.push(self.difference(context, target, left, right, span));
            }
            ExpressionKind::Undefined => {
                done.push(statement(StatementKind::Undefine(target.clone()), span));
            }
            _ if self.is_counter(context, value) => {
                self.has_room(context, target, value)?;
                done.push(assign(target.clone(), value.clone(), span));
            }
            _ => return Err(refused(value.span)),
        }
        Ok(())
    }

    /// `counter := counter + 1`.
    fn one_more(
        &self,
        context: &mut Context,
        target: &Expression,
        span: Span,
        done: &mut Vec<Statement>,
    ) -> Result<()> {
        let one = self.counted(context, target, span)?;
        if self.room_of(context, target) == Some(Capacity::ForAllButOne) {
            self.one_is_left(context, target, &one, span, done)?;
        }
        let element = index(target.clone(), name(&one, span));
        done.push(asserted(not(element.clone()), "no processor is counted twice", span));
        done.push(assign(element, boolean(true, span), span));
        Ok(())
    }

    /// `counter := counter - 1`.
    fn one_less(
        &self,
        context: &Context,
        target: &Expression,
        span: Span,
        done: &mut Vec<Statement>,
    ) -> Result<()> {
        let one = self.counted(context, target, span)?;
        let element = index(target.clone(), name(&one, span));
        let message = "only a processor that was counted is discounted";
        done.push(asserted(element.clone(), message, span));
        done.push(assign(element, boolean(false, span), span));
        Ok(())
    }

    /// `counter := left - right`.
    fn difference(
        &self,
        context: &Context,
        target: &Expression,
        left: &Expression,
        right: &Expression,
        span: Span,
    ) -> Statement {
        self.for_each(context, span, |each| {
            let at = |set: &Expression| index(set.clone(), each.clone());
            let message = "only processors that were counted are discounted";
            let included = asserted(implies(at(right), at(left)), message, span);
            let difference = and(at(left), not(at(right)));
            vec![included, assign(at(target), difference, span)]
        })
    }

    /// A loop over all processors.
    fn for_each(
        &self,
        context: &Context,
        span: Span,
        body: impl FnOnce(&Expression) -> Vec<Statement>,
    ) -> Statement {
        let each = self.each(context);
        let quantifiers = vec![self.types.processor_quantifier(&each)];
        let body = body(&name(&each, span));
        statement(StatementKind::For { quantifiers, body }, span)
    }

    /// The processor that a statement counts.
    fn counted(&self, context: &Context, target: &Expression, span: Span) -> Result<String> {
        let used = names(target);
        let free = |name: &&String| !used.contains(*name);
        let found = context.loops.last().or_else(|| {
            let others = context.parameters.iter().rev().find(free);
            others.or(context.parameters.last())
        });
        found.cloned().ok_or_else(|| {
            Diagnostic::error(span, "it cannot be determined which processor is counted here")
                .help("count in a rule or a loop of that processor")
        })
    }

    /// Asserts that a processor of the rule is not counted, now or before, so that the counter
    /// cannot overflow. In a loop, "before" is before the loop.
    fn one_is_left(
        &self,
        context: &mut Context,
        target: &Expression,
        counted: &str,
        span: Span,
        done: &mut Vec<Statement>,
    ) -> Result<()> {
        let is_outside = |name: &String| {
            context.outside.contains_key(name) || self.types.declared().any(|other| other == name)
        };
        let stays = !is_moved(target, &context.written_inside);
        let is_movable =
            context.loops.is_empty() || (stays && names(target).iter().all(is_outside));
        let left = context.parameters.iter().find(|name| *name != counted);
        let (Some(left), true) = (left, is_movable) else {
            let message = "this counter cannot count all processors, and it cannot be determined \
                           which processor is never counted";
            let help = "let its range go up to the number of processors";
            return Err(Diagnostic::error(span, message).help(help));
        };
        let message = "one processor is never counted";
        let (left, counted) = (name(left, span), name(counted, span));
        let before = asserted(not(index(target.clone(), left.clone())), message, span);
        match context.loops.is_empty() {
            true => done.push(before),
            false => context.before_loops.push(before),
        }
        done.push(asserted(binary(BinaryOperator::NotEqual, counted, left), message, span));
        Ok(())
    }

    /// Checks that a counter's range includes every value of another counter.
    fn has_room(&self, context: &Context, target: &Expression, from: &Expression) -> Result<()> {
        match (self.room_of(context, target), self.room_of(context, from)) {
            (Some(Capacity::ForAllButOne), Some(Capacity::ForAll)) => Err(refused(from.span)),
            _ => Ok(()),
        }
    }
}

fn same(left: &Expression, right: &Expression) -> bool {
    print_expression(left) == print_expression(right)
}

fn asserted(condition: Expression, message: &str, span: Span) -> Statement {
    let kind = PropertyKind::Assertion;
    let property = Property { kind, message: Some(text(message, span)), condition };
    statement(StatementKind::Property(property), span)
}
