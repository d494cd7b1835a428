//! Rewrites statements with counters: only assignments to counters and the conditions in statements
//! change. Assertions about a whole loop go before that loop.

use murphi::ast::{ExpressionKind, Quantifier, Statement, StatementKind};
use murphi::transform::{Part, bind, expression, try_rebuilt_statement, written};

use super::{Context, Result, Sets};

impl Sets<'_> {
    pub(super) fn statements(
        &self,
        context: &mut Context,
        statements: &[Statement],
    ) -> Result<Vec<Statement>> {
        let mut done = Vec::new();
        for statement in statements {
            self.statement(context, statement, &mut done)?;
        }
        Ok(done)
    }

    fn statement(
        &self,
        context: &mut Context,
        whole: &Statement,
        done: &mut Vec<Statement>,
    ) -> Result<()> {
        let span = whole.span;
        let rebuilt = match &whole.kind {
            StatementKind::Assign { target, value } if self.is_counter(context, target) => {
                return self.assignment(context, target, value, span, done);
            }
            StatementKind::Clear(place) if self.is_counter(context, place) => {
                let zero = expression(ExpressionKind::Integer(0), span);
                return self.assignment(context, place, &zero, span, done);
            }
            StatementKind::Undefine(_) => whole.clone(),
            StatementKind::Put(value) if self.is_counter(context, value) => whole.clone(),
            StatementKind::For { quantifiers, body } => {
                let body = self.rounds(context, quantifiers, body, done)?;
                let quantifiers = quantifiers.clone();
                Statement { kind: StatementKind::For { quantifiers, body }, span }
            }
            _ => {
                let mut rebuild = |part: Part<'_>| -> Result<()> {
                    match part {
                        Part::Expression(own) => *own = self.condition(context, own)?,
                        Part::Body(body) => *body = self.statements(context, body)?,
                    }
                    Ok(())
                };
                try_rebuilt_statement(whole, &mut rebuild)?
            }
        };
        done.push(rebuilt);
        Ok(())
    }

    /// The body of a loop. Assertions for before the outermost loop over processors are collected.
    fn rounds(
        &self,
        context: &mut Context,
        quantifiers: &[Quantifier],
        body: &[Statement],
        done: &mut Vec<Statement>,
    ) -> Result<Vec<Statement>> {
        self.no_counters(quantifiers)?;
        let (scope, loops) = (context.scope.clone(), context.loops.clone());
        if loops.is_empty() {
            context.outside = scope.clone();
            context.written_inside = written(body);
        }
        bind(&mut context.scope, quantifiers);
        let over = quantifiers.iter().filter(|each| self.types.over_processors(each));
        context.loops.extend(over.map(|each| each.name.text.clone()));
        let body = self.statements(context, body);
        (context.scope, context.loops) = (scope, loops);
        if context.loops.is_empty() {
            done.append(&mut context.before_loops);
        }
        body
    }
}
