//! Mutation testing: changes a protocol in one place at a time, and asks whether the checks detect
//! each change.
//!
//! [`mutants`] enumerates the changes of the syntax tree in the order of the source. They are
//! mistakes that people make in protocols: a message not sent, an update forgotten, a wrong next
//! state, a weaker guard, a missing case, the wrong cache. Rules, functions and procedures are
//! changed; start states, properties, types and the procedures that mark memory events are not.
//! [`run`] classifies every mutant. A mutant that passes every check although it behaves
//! differently is a survivor: either the change is harmless, or the checks have a gap, and a person
//! must decide which.
//!
//! Each mutant costs a few searches, each within the budget of the options. The results do not
//! depend on the number of mutants that are tried at the same time, unless a time limit is reached.

mod answer;
mod claims;
mod edits;
mod fate;
mod interpret_first;
mod report;
mod trial;
mod vocabulary;

use std::collections::HashSet;

use murphi::ast::Program;
use murphi::print::print;
use murphi::source::{Source, Span};

use crate::events::EventNames;

pub use answer::Answer;
pub use claims::without_claims;
pub use fate::{Fate, Findings};
pub use report::{Entry, Report, Totals};
pub use trial::{Options, Progress, classify, run};

/// A protocol with one change.
#[derive(Debug, Clone)]
pub struct Mutant {
    /// Its number among the mutants of the protocol, from 1.
    pub number: usize,
    /// The kind of change.
    pub operator: Operator,
    /// The changed part of the source.
    pub span: Span,
    /// The changed rule, function or procedure, as in `rule "evict"`.
    pub place: String,
    /// For a replaced name: the name and its replacement.
    pub replacement: Option<Replacement>,
    /// The changed program.
    pub program: Program,
}

/// The kinds of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// A statement that changes the state or sends a message is deleted.
    DeleteStatement,
    /// A branch of an `if` is dropped.
    DropBranch,
    /// A case of a `switch` is dropped.
    DropCase,
    /// The body of an `else` is dropped.
    DropElse,
    /// Another constant of the same enumeration is assigned or passed.
    ReplaceConstant,
    /// A conjunct of a guard is dropped.
    WeakenGuard,
    /// The condition of a branch is negated.
    NegateCondition,
    /// Another parameter of the same type is used as an index or passed.
    ReplaceParameter,
}

/// A name that replaces another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The name in the source.
    pub from: String,
    /// The name in the mutant.
    pub to: String,
}

/// The mutants of a program, in the order of its text, without duplicates.
pub fn mutants(program: &Program, events: &EventNames) -> Vec<Mutant> {
    let mut seen = HashSet::from([print(program)]);
    let mut found = Vec::new();
    edits::enumerate(program, events, &mut |edit, changed| {
        if seen.insert(print(&changed)) {
            let edits::Edit { operator, span, place, replacement } = edit;
            let number = found.len() + 1;
            found.push(Mutant { number, operator, span, place, replacement, program: changed });
        }
    });
    found
}

impl Mutant {
    /// The changed line of the source.
    pub fn line(&self, source: &Source) -> usize {
        source.position(self.span.start).0
    }

    /// The change and its place, in one line.
    pub fn describe(&self, source: &Source) -> String {
        let (line, place) = (self.line(source), &self.place);
        format!("line {line}, {place}: {}", self.change(source))
    }

    /// The change without its place.
    pub fn change(&self, source: &Source) -> String {
        let text = on_one_line(source.slice(self.span));
        match (self.operator, &self.replacement) {
            (Operator::DeleteStatement, _) => format!("`{text}` deleted"),
            (Operator::DropBranch, _) => format!("branch `{text}` dropped"),
            (Operator::DropCase, _) => format!("case `{text}` dropped"),
            (Operator::DropElse, _) => format!("`else` with `{text}` dropped"),
            (Operator::WeakenGuard, _) => format!("guard without `{text}`"),
            (Operator::NegateCondition, _) => format!("`{text}` negated"),
            (Operator::ReplaceConstant | Operator::ReplaceParameter, Some(names)) => {
                format!("`{text}` with `{}` → `{}`", names.from, names.to)
            }
            (Operator::ReplaceConstant | Operator::ReplaceParameter, None) => text,
        }
    }
}

/// A piece of source with single blanks, cut to a maximum length.
fn on_one_line(text: &str) -> String {
    const LONGEST: usize = 100;
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    let line = line.trim_end_matches(';');
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line.to_owned(),
    }
}

impl Operator {
    /// The name of the operator, for tables.
    pub fn name(self) -> &'static str {
        match self {
            Operator::DeleteStatement => "statement deleted",
            Operator::DropBranch => "branch dropped",
            Operator::DropCase => "case dropped",
            Operator::DropElse => "else dropped",
            Operator::ReplaceConstant => "constant replaced",
            Operator::WeakenGuard => "guard weakened",
            Operator::NegateCondition => "condition negated",
            Operator::ReplaceParameter => "parameter replaced",
        }
    }
}
