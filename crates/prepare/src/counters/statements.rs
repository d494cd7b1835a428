//! Statements with counters as sets: each as it was, but for those that change a counter, and for
//! the conditions in it. What counting asserts about a whole loop goes before that loop.

use murphi::ast::{ExpressionKind, Quantifier, Statement, StatementKind};
use murphi::transform::{bind, expression, try_rebuilt_statement, written};

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

    fn otherwise(
        &self,
        context: &mut Context,
        otherwise: &Option<Vec<Statement>>,
    ) -> Result<Option<Vec<Statement>>> {
        otherwise.as_ref().map(|body| self.statements(context, body)).transpose()
    }

    fn statement(
        &self,
        context: &mut Context,
        whole: &Statement,
        done: &mut Vec<Statement>,
    ) -> Result<()> {
        let span = whole.span;
        let kind = match &whole.kind {
            StatementKind::Assign { target, value } if self.is_counter(context, target) => {
                return self.assignment(context, target, value, span, done);
            }
            StatementKind::Clear(place) if self.is_counter(context, place) => {
                let zero = expression(ExpressionKind::Integer(0), span);
                return self.assignment(context, place, &zero, span, done);
            }
            StatementKind::Undefine(_) => whole.kind.clone(),
            StatementKind::Put(value) if self.is_counter(context, value) => whole.kind.clone(),
            StatementKind::If { branches, otherwise } => {
                let mut branches = branches.clone();
                for branch in &mut branches {
                    branch.condition = self.condition(context, &branch.condition)?;
                    branch.body = self.statements(context, &branch.body)?;
                }
                StatementKind::If { branches, otherwise: self.otherwise(context, otherwise)? }
            }
            StatementKind::Switch { value, cases, otherwise } => {
                let value = self.condition(context, value)?;
                let mut cases = cases.clone();
                for case in &mut cases {
                    case.body = self.statements(context, &case.body)?;
                }
                let otherwise = self.otherwise(context, otherwise)?;
                StatementKind::Switch { value, cases, otherwise }
            }
            StatementKind::For { quantifiers, body } => {
                let body = self.rounds(context, quantifiers, body, done)?;
                StatementKind::For { quantifiers: quantifiers.clone(), body }
            }
            StatementKind::While { condition, body } => StatementKind::While {
                condition: self.condition(context, condition)?,
                body: self.statements(context, body)?,
            },
            _ => {
                let mut condition = |part: &_| self.condition(context, part);
                try_rebuilt_statement(whole, &mut condition)?.kind
            }
        };
        done.push(Statement { kind, span });
        Ok(())
    }

    /// The body of a loop. What has to be asserted before the outermost loop over processors is
    /// added to what is done before it.
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
