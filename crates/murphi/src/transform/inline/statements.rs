//! Statements without calls: each behind what its calls have to do before it. Aliases are written
//! out; that what they stand for is evaluated, and may fail, is kept as a `put`.

use crate::ast::{
    Alias, Branch, Call, Case, Domain, Expression, ExpressionKind, Quantifier, Statement,
    StatementKind, TypeKind,
};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

use super::{Before, Inliner, Place, Result, not_understood, touched};
use crate::transform::declarations::bind;
use crate::transform::effects::{index_names, is_moved, undisturbed, written};
use crate::transform::substitute::Substitution;
use crate::transform::{each_expression, each_part, is_place, name, names};

impl Inliner<'_> {
    pub(super) fn statements(
        &self,
        place: &mut Place,
        statements: &[Statement],
    ) -> Result<Vec<Statement>> {
        let mut done = Vec::new();
        for statement in statements {
            self.statement(place, statement, &mut done)?;
        }
        Ok(done)
    }

    fn statement(
        &self,
        place: &mut Place,
        whole: &Statement,
        done: &mut Vec<Statement>,
    ) -> Result<()> {
        let span = whole.span;
        let mut before = Some(Vec::new());
        let kind = match &whole.kind {
            StatementKind::Call(call) => {
                let arguments = self.arguments(place, call, &mut before)?;
                done.extend(before.unwrap_or_default());
                let call = Call { name: call.name.clone(), arguments };
                done.extend(self.call(place, &call, span)?.0);
                return Ok(());
            }
            StatementKind::Alias { aliases, body } => {
                let substitution = self.aliases(place, aliases, body, &mut before)?;
                done.extend(before.unwrap_or_default());
                done.extend(aliases.iter().filter_map(|alias| {
                    touched(&substitution.expression(&name(&alias.name.text, alias.value.span)))
                }));
                done.extend(self.statements(place, &substitution.statements(body))?);
                return Ok(());
            }
            // It changes nothing and cannot fail.
            StatementKind::PutText(_) => return Ok(()),
            StatementKind::Put(value) => {
                StatementKind::Put(self.evaluated(place, value, &mut before)?)
            }
            StatementKind::Assign { target, value } => {
                self.assignment(place, target, value, span, &mut before)?
            }
            StatementKind::If { branches, otherwise } => StatementKind::If {
                branches: self.branches(place, branches, &mut before)?,
                otherwise: self.otherwise(place, otherwise)?,
            },
            StatementKind::Switch { cases, .. } if cases.iter().any(case_calls) => {
                return Err(not_understood(span));
            }
            StatementKind::Switch { value, cases, otherwise } => {
                let value = self.evaluated(place, value, &mut before)?;
                let mut cases = cases.clone();
                for case in &mut cases {
                    case.body = self.statements(place, &case.body)?;
                }
                let otherwise = self.otherwise(place, otherwise)?;
                StatementKind::Switch { value, cases, otherwise }
            }
            StatementKind::For { quantifiers, .. } if bounds_call(quantifiers) => {
                return Err(not_understood(span));
            }
            StatementKind::For { quantifiers, body } => {
                let outer = place.scope.clone();
                bind(&mut place.scope, quantifiers);
                let body = self.rounds(place, body);
                place.leave(outer)?;
                StatementKind::For { quantifiers: quantifiers.clone(), body: body? }
            }
            StatementKind::While { condition, body } => StatementKind::While {
                condition: self.evaluated(place, condition, &mut None)?,
                body: self.rounds(place, body)?,
            },
            StatementKind::Return(Some(value)) => {
                StatementKind::Return(Some(self.evaluated(place, value, &mut before)?))
            }
            StatementKind::Property(property) => {
                let mut property = property.clone();
                property.condition = self.evaluated(place, &property.condition, &mut None)?;
                StatementKind::Property(property)
            }
            StatementKind::Undefine(target) => {
                StatementKind::Undefine(self.evaluated(place, target, &mut before)?)
            }
            StatementKind::Clear(target) => {
                StatementKind::Clear(self.evaluated(place, target, &mut before)?)
            }
            StatementKind::MultisetAdd { value, multiset } => StatementKind::MultisetAdd {
                value: self.evaluated(place, value, &mut before)?,
                multiset: multiset.clone(),
            },
            _ if has_call(whole) => return Err(not_understood(span)),
            other => other.clone(),
        };
        done.extend(before.unwrap_or_default());
        done.push(Statement { kind, span });
        Ok(())
    }

    fn assignment(
        &self,
        place: &mut Place,
        target: &Expression,
        value: &Expression,
        span: Span,
        before: &mut Before,
    ) -> Result<StatementKind> {
        let target = self.evaluated(place, target, before)?;
        let first = before.as_ref().map_or(0, Vec::len);
        let value = self.evaluated(place, value, before)?;
        let (of_target, of_value) = before.as_deref().unwrap_or_default().split_at(first);
        undisturbed(&index_names(&target), of_value, span)?;
        undisturbed(&names(&value), of_target, span)?;
        Ok(StatementKind::Assign { target, value })
    }

    /// Only the first condition is evaluated in any case.
    fn branches(
        &self,
        place: &mut Place,
        branches: &[Branch],
        before: &mut Before,
    ) -> Result<Vec<Branch>> {
        let mut done = Vec::new();
        for (number, branch) in branches.iter().enumerate() {
            let before = if number == 0 { &mut *before } else { &mut None };
            let condition = self.evaluated(place, &branch.condition, before)?;
            done.push(Branch { condition, body: self.statements(place, &branch.body)? });
        }
        Ok(done)
    }

    fn otherwise(
        &self,
        place: &mut Place,
        otherwise: &Option<Vec<Statement>>,
    ) -> Result<Option<Vec<Statement>>> {
        otherwise.as_ref().map(|body| self.statements(place, body)).transpose()
    }

    /// The body of a loop.
    fn rounds(&self, place: &mut Place, body: &[Statement]) -> Result<Vec<Statement>> {
        let was_in_loop = std::mem::replace(&mut place.in_loop, true);
        let body = self.statements(place, body);
        place.in_loop = was_in_loop;
        body
    }

    /// What aliases stand for. It must be the same place throughout the body.
    fn aliases(
        &self,
        place: &mut Place,
        aliases: &[Alias],
        body: &[Statement],
        before: &mut Before,
    ) -> Result<Substitution> {
        let mut substitution = Substitution::default();
        for alias in aliases {
            let value = substitution.expression(&alias.value);
            let value = self.evaluated(place, &value, before)?;
            let mut trial = Place::within(&place.scope);
            let writes = written(&self.statements(&mut trial, body)?);
            // A place keeps its name, and what is computed keeps its value.
            let (changes, message) = match is_place(&value) {
                true => (
                    is_moved(&value, &writes),
                    "the index of this alias changes while it is in use",
                ),
                false => (
                    names(&value).iter().any(|name| writes.contains(name)),
                    "a variable that this alias is computed from changes while it is in use",
                ),
            };
            if changes {
                return Err(Diagnostic::error(alias.value.span, message)
                    .help("replace its uses by the expression it stands for"));
            }
            substitution.insert(&alias.name.text, value);
        }
        Ok(substitution)
    }
}

fn has_call(whole: &Statement) -> bool {
    let mut found = false;
    each_expression(std::slice::from_ref(whole), &mut |part| found |= is_call(part));
    found
}

fn is_call(part: &Expression) -> bool {
    matches!(part.kind, ExpressionKind::Call(_))
}

fn calls(whole: &Expression) -> bool {
    let mut found = false;
    each_part(whole, &mut |part| found |= is_call(part));
    found
}

/// Whether a call is in what a value is compared with.
fn case_calls(case: &Case) -> bool {
    case.values.iter().any(calls)
}

/// Whether a call is in the bounds of a loop.
fn bounds_call(quantifiers: &[Quantifier]) -> bool {
    quantifiers.iter().any(|quantifier| match &quantifier.domain {
        Domain::Type(ty) => match &ty.kind {
            TypeKind::Range(from, to) => calls(from) || calls(to),
            _ => false,
        },
        Domain::Range { from, to, by } => {
            calls(from) || calls(to) || by.as_ref().is_some_and(calls)
        }
    })
}
