//! Leaves out what is computed for nothing.
//!
//! A rule that computes something in a local variable, and then writes it where it does not show,
//! need not compute it: nothing has to be chosen for what it would be computed from. What such a
//! computation could fail with is found where all is concrete.
//!
//! Transformation T13 of docs/abstraction.md, with p = `Other` and a local variable x:
//!
//! ```text
//! before: x := d[q]; d[p] := x; busy := false;
//! after:  busy := false;
//! ```

use std::collections::HashSet;

use murphi::ast::{Declaration, PropertyKind, Quantifier, Statement, StatementKind};
use murphi::transform::{
    any_statement, bodies_mut, changed, each_statement, local_variables, names, own_expressions,
    root,
};

use super::instance::Instance;

/// The statements of a rule without those that only compute local variables on which no visible
/// effect depends.
pub(super) fn needed(
    instance: &Instance<'_>,
    declarations: &[Declaration],
    statements: &[Statement],
) -> Vec<Statement> {
    let locals: HashSet<&str> =
        local_variables(declarations).map(|(name, _)| name.text.as_str()).collect();
    if locals.is_empty() {
        return statements.to_vec();
    }
    let mut loops = Vec::new();
    each_statement(statements, &mut |statement| {
        if let StatementKind::For { quantifiers, .. } = &statement.kind {
            loops.extend(quantifiers.iter().cloned());
        }
    });
    let mut slice = Slice { instance, locals, loops, needed: HashSet::new() };
    loop {
        let before = slice.needed.len();
        slice.gather(statements);
        if slice.needed.len() == before {
            break;
        }
    }
    slice.kept(statements)
}

struct Slice<'a> {
    instance: &'a Instance<'a>,
    locals: HashSet<&'a str>,
    /// The loops of the rule, with their variables.
    loops: Vec<Quantifier>,
    /// The local variables on which a visible effect depends.
    needed: HashSet<String>,
}

impl Slice<'_> {
    /// Whether a statement itself has a visible effect, or a condition on which one depends.
    fn matters(&self, statement: &Statement) -> bool {
        // A check that is made in other instances has no effect here.
        if let StatementKind::Property(property) = &statement.kind
            && property.kind == PropertyKind::Check
        {
            return self.instance.may_check(&property.condition, &self.loops);
        }
        let Some(target) = changed(statement) else {
            return !matches!(
                statement.kind,
                StatementKind::If { .. } | StatementKind::Switch { .. } | StatementKind::For { .. }
            );
        };
        match root(target) {
            Some(name) if self.locals.contains(name) => self.needed.contains(name),
            _ => !self.instance.belongs_to_other(target),
        }
    }

    fn matters_inside(&self, statement: &Statement) -> bool {
        any_statement(std::slice::from_ref(statement), &|inner| self.matters(inner))
    }

    /// Adds the local variables that statements with a visible effect read.
    fn gather(&mut self, statements: &[Statement]) {
        let mut found = HashSet::new();
        each_statement(statements, &mut |statement| {
            if !self.matters_inside(statement) {
                return;
            }
            let mentioned = own_expressions(statement).into_iter().flat_map(names);
            found.extend(mentioned.filter(|name| self.locals.contains(name.as_str())));
        });
        self.needed.extend(found);
    }

    fn kept(&self, statements: &[Statement]) -> Vec<Statement> {
        let mut kept = Vec::new();
        for statement in statements {
            match self.matters_inside(statement) {
                true => kept.push(self.pruned(statement)),
                false => self.note_writes(statement, &mut kept),
            }
        }
        kept
    }

    /// Records the writes of a removed statement to hidden state, so that later reads do not get
    /// the value from before the rule.
    fn note_writes(&self, whole: &Statement, kept: &mut Vec<Statement>) {
        each_statement(std::slice::from_ref(whole), &mut |statement| {
            if let Some(target) = changed(statement)
                && root(target).is_some_and(|name| !self.locals.contains(name))
            {
                let kind = StatementKind::Undefine(target.clone());
                kept.push(Statement { kind, span: statement.span });
            }
        });
    }

    /// A statement without its parts that have no visible effect.
    fn pruned(&self, statement: &Statement) -> Statement {
        let mut pruned = statement.clone();
        // The number of iterations of a `while` loop depends on its whole body.
        if !matches!(pruned.kind, StatementKind::While { .. }) {
            bodies_mut(&mut pruned).for_each(|body| *body = self.kept(body));
        }
        pruned
    }
}
