//! `return` before the end of a rule or procedure, as `if` and `else`.
//!
//! What comes behind a statement that may return is put into those of its branches that do not. A
//! `return` with a value, or in a loop, stays.

use crate::ast::{Branch, Case, Statement, StatementKind};
use crate::transform::each_statement;

/// The most statements with a `return` in them that are taken apart: what follows is repeated for
/// each of their branches.
const MOST: usize = 6;

/// Statements that do the same and do not return before their end, if that can be.
pub(super) fn without_returns(statements: &[Statement]) -> Vec<Statement> {
    let mut returns = 0;
    each_statement(statements, &mut |each| returns += usize::from(is_return(each)));
    match returns {
        0 => statements.to_vec(),
        1..=MOST => rewritten(statements),
        _ => statements.to_vec(),
    }
}

fn is_return(statement: &Statement) -> bool {
    matches!(statement.kind, StatementKind::Return(None))
}

/// Whether some branch of a statement returns.
fn may_return(statement: &Statement) -> bool {
    let any = |body: &[Statement]| body.iter().any(|each| is_return(each) || may_return(each));
    match &statement.kind {
        StatementKind::If { branches, otherwise } => {
            branches.iter().any(|branch| any(&branch.body)) || otherwise.as_deref().is_some_and(any)
        }
        StatementKind::Switch { cases, otherwise, .. } => {
            cases.iter().any(|case| any(&case.body)) || otherwise.as_deref().is_some_and(any)
        }
        _ => false,
    }
}

fn rewritten(statements: &[Statement]) -> Vec<Statement> {
    let mut done = Vec::new();
    for (at, statement) in statements.iter().enumerate() {
        if is_return(statement) {
            break;
        }
        if !may_return(statement) {
            done.push(statement.clone());
            continue;
        }
        let rest = &statements[at + 1..];
        let followed = |body: &[Statement]| rewritten(&[body, rest].concat());
        let last = |otherwise: &Option<Vec<Statement>>| {
            Some(followed(otherwise.as_deref().unwrap_or_default()))
        };
        let kind = match &statement.kind {
            StatementKind::If { branches, otherwise } => StatementKind::If {
                branches: branches
                    .iter()
                    .map(|branch| Branch {
                        condition: branch.condition.clone(),
                        body: followed(&branch.body),
                    })
                    .collect(),
                otherwise: last(otherwise),
            },
            StatementKind::Switch { value, cases, otherwise } => StatementKind::Switch {
                value: value.clone(),
                cases: cases
                    .iter()
                    .map(|case| Case {
                        values: case.values.clone(),
                        body: followed(&case.body),
                        span: case.span,
                    })
                    .collect(),
                otherwise: last(otherwise),
            },
            other => other.clone(),
        };
        done.push(Statement { kind, span: statement.span });
        break;
    }
    done
}
