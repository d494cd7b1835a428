//! Would the checks notice a mistake? A protocol is changed in one place at a time, and each such
//! mutant is asked what the protocol itself was asked.
//!
//! [`mutants`] enumerates the changes at the level of the syntax tree, in the order of the source.
//! They are the mistakes that people make in protocols: a message not sent, an update forgotten, a
//! wrong next state, a weaker guard, a case not thought of, the wrong cache. Rules, functions and
//! procedures are changed; start states, claims, types and what marks memory events are not.
//! [`run`] classifies every mutant. One that passes every check although it behaves differently is
//! a survivor: either the change is harmless or the checks have a hole, and a person must say.
//!
//! Cost: a handful of searches for each mutant, each within the budget of the options. Results do
//! not depend on how many mutants are tried at a time, unless a budget of time is given and runs out.

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
    /// In which way it was changed.
    pub operator: Operator,
    /// Which part of the source was changed.
    pub span: Span,
    /// The rule, function or procedure it was changed in, as in `rule "evict"`.
    pub place: String,
    /// What replaces the part, or the part of it that is replaced, where that is a name.
    pub replacement: Option<Replacement>,
    /// The changed program.
    pub program: Program,
}

/// The ways to change a protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// A statement that changes the state or sends something is left out.
    DeleteStatement,
    /// A branch of an `if` is left out.
    DropBranch,
    /// A case of a `switch` is left out.
    DropCase,
    /// What an `else` guards is left out.
    DropElse,
    /// Another constant of the same enumeration is assigned or passed.
    ReplaceConstant,
    /// A conjunct of a guard is left out.
    WeakenGuard,
    /// The condition of a branch is negated.
    NegateCondition,
    /// Another parameter of the same type says which element is changed or what is passed.
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

/// The mutants of a program, in the order of its text. Those that read the same are given once.
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
    /// The line of the source that was changed.
    pub fn line(&self, source: &Source) -> usize {
        source.position(self.span.start).0
    }

    /// What was changed, in one line.
    pub fn describe(&self, source: &Source) -> String {
        let (line, place) = (self.line(source), &self.place);
        format!("line {line}, {place}: {}", self.change(source))
    }

    /// What was changed, without where.
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

/// A piece of source with single blanks, cut if it is long.
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
    /// What it does, for tables.
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
