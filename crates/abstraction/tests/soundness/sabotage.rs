//! Mistakes that are made on purpose in an abstraction, to see whether they are noticed.

use murphi::ast::{ExpressionKind, Item, RuleKind, Statement, StatementKind};
use murphi::transform::boolean;
use tribunal_abstraction::Abstraction;

/// A mistake that is made on purpose, to see whether it is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sabotage {
    Nothing,
    /// Lemmas are used and not claimed.
    UncheckedLemmas,
    /// Nothing is asserted in rules, so that no error is seen.
    DroppedAssertions,
    /// What others write where all see it stays as it was.
    SilentOthers,
    /// Rules of others do not happen.
    IdleOthers,
    /// The claims of the program are not looked at.
    UncheckedClaims,
    /// That guards and properties can be evaluated is not looked at.
    UncheckedGuards,
}

impl Sabotage {
    pub(crate) const ALL: [Sabotage; 6] = [
        Sabotage::UncheckedLemmas,
        Sabotage::DroppedAssertions,
        Sabotage::SilentOthers,
        Sabotage::IdleOthers,
        Sabotage::UncheckedClaims,
        Sabotage::UncheckedGuards,
    ];

    pub(crate) fn done(self, made: &mut Abstraction) {
        let mut number = 0;
        for item in &mut made.program.items {
            let Item::Rule(rule) = item else { continue };
            let rule = match &mut rule.kind {
                RuleKind::Ruleset { rules, .. } => &mut rules[0],
                _ => rule,
            };
            match (&mut rule.kind, self) {
                (RuleKind::Property(property), _) => {
                    let name = property.message.as_ref().map_or("", |name| &name.text);
                    let is_among = |names: &[String]| names.iter().any(|each| each == name);
                    let (is_lemma, is_check) = (is_among(&made.claims), is_among(&made.checks));
                    let is_dropped = match self {
                        Sabotage::UncheckedLemmas => is_lemma,
                        Sabotage::UncheckedGuards => is_check,
                        Sabotage::UncheckedClaims => !is_lemma && !is_check,
                        _ => false,
                    };
                    if is_dropped {
                        property.condition.kind = ExpressionKind::Name("true".into());
                    }
                }
                (RuleKind::Simple { body, .. }, Sabotage::DroppedAssertions) => {
                    drop_assertions(&mut body.statements);
                }
                (
                    RuleKind::Simple { guard, body, .. },
                    Sabotage::SilentOthers | Sabotage::IdleOthers,
                ) => {
                    let (_, abstract_rule) = made.origins[number];
                    number += 1;
                    let is_others =
                        abstract_rule.is_some_and(|at| !made.rules[at].others.is_empty());
                    if is_others && self == Sabotage::IdleOthers {
                        *guard = Some(boolean(false, rule.span));
                    } else if is_others {
                        body.statements.retain(|statement| {
                            !matches!(&statement.kind, StatementKind::Assign { target, .. }
                                if matches!(target.kind, ExpressionKind::Name(_)))
                        });
                    }
                }
                _ => {}
            }
        }
    }
}

/// Takes away what is asserted, also inside other statements.
fn drop_assertions(statements: &mut Vec<Statement>) {
    let is_assertion = |statement: &Statement| {
        matches!(statement.kind, StatementKind::Property(_) | StatementKind::Error(_))
    };
    statements.retain(|statement| !is_assertion(statement));
    for statement in statements {
        match &mut statement.kind {
            StatementKind::If { branches, otherwise } => {
                branches.iter_mut().for_each(|branch| drop_assertions(&mut branch.body));
                otherwise.iter_mut().for_each(drop_assertions);
            }
            StatementKind::Switch { cases, otherwise, .. } => {
                cases.iter_mut().for_each(|case| drop_assertions(&mut case.body));
                otherwise.iter_mut().for_each(drop_assertions);
            }
            StatementKind::For { body, .. }
            | StatementKind::While { body, .. }
            | StatementKind::Alias { body, .. } => drop_assertions(body),
            _ => {}
        }
    }
}
