//! The report on the mutants of a protocol: totals, by operator, by place, and the survivors.

use std::convert::Infallible;
use std::fmt::Write as _;

use evidence::Verdict;
use murphi::source::Source;
use serde::Serialize;

use super::answer::Answer;
use super::fate::{Fate, Findings};
use super::{Mutant, Operator};
use crate::verify::MemoryModel;

/// The results for all mutants of a protocol.
#[derive(Debug, Clone)]
pub struct Report {
    /// The answers of the protocol itself. Checks that it fails are not made on mutants.
    pub baseline: Findings,
    /// The mutants, in the order of the source.
    pub entries: Vec<Entry>,
}

/// A mutant with its classification.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The mutant.
    pub mutant: Mutant,
    /// The classification.
    pub fate: Fate,
    /// The answers; `None` if the mutant was refused or not tried.
    pub findings: Option<Findings>,
}

/// The numbers of mutants by classification, in the order of JSON. The numbers by check overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Totals {
    /// Mutants that violate a claim of the observer, by a trace that the memory model allows.
    #[serde(skip)]
    pub by_alarm: usize,
    /// Mutants with a deadlock.
    pub by_deadlock: usize,
    /// Mutants with a failing assertion or another run-time error (before any invariant).
    pub by_error: usize,
    /// Mutants that violate an invariant (before any assertion).
    pub by_invariant: usize,
    /// Mutants that violate the memory model.
    pub by_memory_model: usize,
    /// Mutants that look equivalent to the protocol.
    pub equivalent: usize,
    /// Mutants that some check detects.
    pub killed: usize,
    /// All mutants.
    pub mutants: usize,
    /// Mutants that only the memory model detects.
    pub only_by_memory_model: usize,
    /// Mutants that are not valid programs.
    pub refused: usize,
    /// Mutants that pass every check and behave differently.
    pub survived: usize,
    /// Mutants that are undecided.
    pub undecided: usize,
}

impl Totals {
    /// The totals of some mutants.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Totals {
        let mut totals = Totals::default();
        for entry in entries {
            totals.add(entry);
        }
        totals
    }

    fn add(&mut self, entry: &Entry) {
        self.mutants += 1;
        self.killed += usize::from(entry.fate.is_killed());
        match &entry.fate {
            Fate::Refused(_) => self.refused += 1,
            Fate::LooksEquivalent => self.equivalent += 1,
            Fate::Survived => self.survived += 1,
            Fate::Undecided(_) => self.undecided += 1,
            Fate::KilledByInvariant(_)
            | Fate::KilledByError(_)
            | Fate::KilledByDeadlock
            | Fate::KilledByMemoryModel(_) => {}
        }
        if let Some(findings) = &entry.findings {
            match findings.claims {
                Answer::Invariant(_) => self.by_invariant += 1,
                Answer::Error(_) => self.by_error += 1,
                _ => {}
            }
            self.by_deadlock += usize::from(findings.deadlock == Answer::Deadlock);
            let violates = matches!(findings.memory_model, Answer::Violation(_));
            self.by_memory_model += usize::from(violates);
            let only = violates && matches!(entry.fate, Fate::KilledByMemoryModel(_));
            self.only_by_memory_model += usize::from(only);
            self.by_alarm += usize::from(matches!(findings.memory_model, Answer::Alarm(_)));
        }
    }

    /// The killed fraction of the mutants that behave differently, from 0 to 1; `None` if no mutant
    /// behaves differently.
    pub fn score(&self) -> Option<f64> {
        let different = self.killed + self.survived;
        (different > 0).then(|| self.killed as f64 / different as f64)
    }
}

impl Report {
    /// The totals of all mutants.
    pub fn totals(&self) -> Totals {
        Totals::of(&self.entries)
    }

    /// The totals for each rule, function and procedure, in the order of the source.
    pub fn by_place(&self) -> Vec<(&str, Totals)> {
        let mut places: Vec<(&str, Totals)> = Vec::new();
        for entry in &self.entries {
            let place = entry.mutant.place.as_str();
            let at = places.iter().position(|(known, _)| *known == place);
            let at = at.unwrap_or_else(|| {
                places.push((place, Totals::default()));
                places.len() - 1
            });
            places[at].1.add(entry);
        }
        places
    }

    /// The totals for each operator that has mutants.
    pub fn by_operator(&self) -> Vec<(Operator, Totals)> {
        let mut operators: Vec<Operator> =
            self.entries.iter().map(|entry| entry.mutant.operator).collect();
        operators.sort_unstable();
        operators.dedup();
        let of = |operator| {
            Totals::of(self.entries.iter().filter(|entry| entry.mutant.operator == operator))
        };
        operators.into_iter().map(|operator| (operator, of(operator))).collect()
    }

    /// The mutants that a person must look at.
    pub fn survivors(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.fate == Fate::Survived)
    }

    /// Holds if every mutant was decided; otherwise the number of undecided ones.
    pub fn verdict(&self) -> Verdict<(), Infallible, usize> {
        match self.totals().undecided {
            0 => Verdict::Holds(()),
            undecided => Verdict::Undecided(undecided),
        }
    }

    /// The report as one line of JSON. `source` is the protocol.
    pub fn json(&self, source: &Source, memory_model: MemoryModel) -> String {
        let mutants = self.entries.iter().map(|entry| Row::of(entry, source)).collect();
        let (model, memory_model) = (&*source.name, memory_model.name());
        let object = Object { file: model, memory_model, model, mutants, totals: self.totals() };
        serde_json::to_string(&object).expect("strings and numbers have a JSON form")
    }

    /// The report as text. `source` is the protocol.
    pub fn text(&self, source: &Source) -> String {
        let mut text = String::new();
        let totals = self.totals();
        let Totals { mutants, killed, survived, equivalent, refused, undecided, .. } = totals;
        let _ = writeln!(
            text,
            "{}: {killed} killed, {survived} survived, {equivalent} equivalent (same states), \
             {refused} not valid Murphi, {undecided} undecided; mutation score {}",
            plural(mutants, "mutant"),
            totals
                .score()
                .map_or("undefined".to_owned(), |score| format!("{:.1} %", 100.0 * score))
        );
        let rows = [
            ("memory model", totals.by_memory_model),
            ("memory model and nothing else", totals.only_by_memory_model),
            ("invariant", totals.by_invariant),
            ("assertion or run-time error", totals.by_error),
            ("deadlock", totals.by_deadlock),
        ];
        text.push_str("killed by (one mutant may be killed by several checks):\n");
        for (check, number) in rows {
            let _ = writeln!(text, "  {check:<30} {number:>6}");
        }
        let _ = writeln!(text, "false alarms: {}", totals.by_alarm);
        for (check, answer) in [
            ("invariants and assertions", &self.baseline.claims),
            ("deadlock freedom", &self.baseline.deadlock),
            ("memory model", &self.baseline.memory_model),
        ] {
            if *answer != Answer::Passes {
                let _ = writeln!(
                    text,
                    "check skipped for all mutants: {check}; the protocol itself fails it ({answer})"
                );
            }
        }
        let operators = self.by_operator();
        let rows = operators.iter().map(|(operator, totals)| (operator.name(), *totals));
        table(&mut text, "change", &rows.collect::<Vec<_>>());
        table(&mut text, "place", &self.by_place());
        self.list(&mut text, source, "survivors", |fate| *fate == Fate::Survived);
        self.list(&mut text, source, "equivalent (same states as the protocol)", |fate| {
            *fate == Fate::LooksEquivalent
        });
        self.list(&mut text, source, "undecided", |fate| matches!(fate, Fate::Undecided(_)));
        text
    }

    fn list(&self, text: &mut String, source: &Source, title: &str, shown: impl Fn(&Fate) -> bool) {
        let mut entries = self.entries.iter().filter(|entry| shown(&entry.fate)).peekable();
        if entries.peek().is_none() {
            return;
        }
        let _ = writeln!(text, "\n{title}:");
        for entry in entries {
            let _ = write!(text, "  {:>4}  {}", entry.mutant.number, entry.mutant.describe(source));
            if let Fate::Undecided(why) = &entry.fate {
                let _ = write!(text, " ({why})");
            }
            if let (Fate::Survived, Some(findings)) = (&entry.fate, &entry.findings) {
                let _ = write!(text, " ({})", difference(findings));
            }
            text.push('\n');
        }
    }
}

#[derive(Serialize)]
struct Object<'a> {
    file: &'a str,
    memory_model: &'static str,
    model: &'a str,
    mutants: Vec<Row<'a>>,
    totals: Totals,
}

/// A mutant in JSON.
#[derive(Serialize)]
struct Row<'a> {
    change: String,
    fate: &'static str,
    line: usize,
    number: usize,
    operator: &'static str,
    place: &'a str,
    why: Option<&'a str>,
}

impl<'a> Row<'a> {
    fn of(Entry { mutant, fate, .. }: &'a Entry, source: &Source) -> Self {
        Row {
            change: mutant.describe(source),
            fate: fate.name(),
            line: mutant.line(source),
            number: mutant.number,
            operator: mutant.operator.name(),
            place: &mutant.place,
            why: fate.why(),
        }
    }
}

/// How the behaviour of a survivor differs from the protocol.
fn difference(findings: &Findings) -> String {
    let mut text = format!("{} states", findings.states.unwrap_or(0));
    if !findings.silenced.is_empty() {
        let names: Vec<String> =
            findings.silenced.iter().map(|name| format!("\"{name}\"")).collect();
        let _ = write!(text, "; rules that never fire: {}", names.join(", "));
    }
    text
}

/// `1 mutant`, `2 mutants`.
fn plural(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn table(text: &mut String, title: &str, rows: &[(&str, Totals)]) {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let width = width.max(title.chars().count());
    let _ = writeln!(
        text,
        "\n{title:width$}  mutants  killed  memory model  invariant  error  deadlock  equivalent  \
         survived  undecided"
    );
    for (name, totals) in rows {
        let _ = writeln!(
            text,
            "{name:width$}  {:>7}  {:>6}  {:>12}  {:>9}  {:>5}  {:>8}  {:>10}  {:>8}  {:>9}",
            totals.mutants,
            totals.killed,
            totals.by_memory_model,
            totals.by_invariant,
            totals.by_error,
            totals.by_deadlock,
            totals.equivalent,
            totals.survived,
            totals.undecided
        );
    }
}
