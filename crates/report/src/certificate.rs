//! What came of checking the certificate of a verdict for any number of processors.

use conform::MemoryModel;
use evidence::Verdict;
use explore::report::counted;
use recheck::{Checked, Ended, Holds, Partial, Question};
use serde::Serialize;

use crate::json::line;

/// The verdict on a certificate, as text. `name` is the name of the protocol. If `quiet`, only the
/// verdict.
pub fn text(name: &str, question: &Question, verdict: &recheck::Verdict, quiet: bool) -> String {
    let holds = match verdict {
        Verdict::Holds(holds) => holds,
        Verdict::Broken(why) => return format!("{name}: certificate rejected: {why}\n"),
        Verdict::Undecided(partial) => return not_checked(name, partial, quiet),
    };
    let mut text = format!("{name}: certificate holds: {}\n", shown(question, holds));
    if !quiet {
        if let Some(values) = holds.values {
            text += &format!(
                "  for the {} of the protocol (no data independence needed)\n",
                counted(values, "value")
            );
        }
        text += &all_visited(&holds.checked);
    }
    text
}

fn not_checked(name: &str, partial: &Partial, quiet: bool) -> String {
    let mut text = format!("{name}: certificate not checked: {}\n", reason(partial.ended));
    if !quiet {
        text += &all_visited(&partial.checked);
        let visited = counted(partial.visited, "state");
        text +=
            &format!("  {}: no error in {visited}; not all states were visited\n", partial.claim);
    }
    text
}

/// The programs of which all states were visited.
fn all_visited(checked: &[Checked]) -> String {
    let line = |checked: &Checked| {
        format!(
            "  {}: {} visited, {} and {}\n",
            checked.claim,
            counted(checked.states, "state"),
            counted(checked.claims() as u64, "claim"),
            counted(checked.lemmas as u64, "lemma")
        )
    };
    checked.iter().map(line).collect()
}

fn reason(ended: Ended) -> &'static str {
    match ended {
        Ended::Memory => "the memory limit was reached (raise --memory)",
        Ended::Interrupted => {
            "the time limit was reached (raise --budget), or the check was interrupted"
        }
    }
}

/// The proved claim, and its numbers of processors and addresses.
fn shown(question: &Question, holds: &Holds) -> String {
    let what = match (question.memory_model.as_deref(), question.only) {
        (Some("tso"), _) => MemoryModel::Tso.kept().to_owned(),
        (Some(_), Some(only)) => {
            format!("no ordering cycle through {}", counted(only, "processor"))
        }
        (Some(_), None) => MemoryModel::Sc.kept().to_owned(),
        (None, _) => match holds.checked.iter().map(Checked::claims).sum::<usize>() {
            1 => "1 invariant holds".to_owned(),
            many => format!("{many} invariants hold"),
        },
    };
    let addresses = match (&question.memory_model, holds.addresses) {
        (None, _) => String::new(),
        (Some(_), Some(1)) => ", and 1 address".to_owned(),
        (Some(_), Some(many)) => format!(", and {many} addresses"),
        (Some(_), None) => ", and any number of addresses".to_owned(),
    };
    let assuming = match holds.assuming.is_empty() {
        true => "",
        false => ", assuming data independence",
    };
    // A claim about the protocol with other constants is another claim.
    let flags = question.flags();
    let flags = match flags.is_empty() {
        true => String::new(),
        false => format!(", with {}", flags.join(" ")),
    };
    let many = holds.processors;
    format!("{what} for any number of processors, {many} or more{addresses}{assuming}{flags}")
}

/// The verdict on a certificate as a JSON object in one line, without the newline. Its fields
/// depend on the verdict.
pub fn json(name: &str, question: &Question, verdict: &recheck::Verdict) -> String {
    let memory_model = question.memory_model.as_deref();
    match verdict {
        Verdict::Holds(Holds { processors, assuming, values, addresses, checked }) => {
            line(&HoldsObject {
                addresses: *addresses,
                assuming,
                claims: claims(checked),
                file: name,
                flags: question.flags(),
                holds: true,
                memory_model,
                processors: *processors,
                values: *values,
            })
        }
        Verdict::Broken(reason) => {
            line(&Rejected { file: name, holds: false, memory_model, reason })
        }
        Verdict::Undecided(partial) => line(&Unchecked {
            claim: &partial.claim,
            claims: claims(&partial.checked),
            file: name,
            holds: None,
            memory_model,
            reason: reason(partial.ended),
            visited: partial.visited,
        }),
    }
}

#[derive(Serialize)]
struct HoldsObject<'a> {
    addresses: Option<u64>,
    assuming: &'a [String],
    claims: Vec<Claim<'a>>,
    file: &'a str,
    flags: Vec<String>,
    holds: bool,
    memory_model: Option<&'a str>,
    processors: u64,
    values: Option<u64>,
}

#[derive(Serialize)]
struct Rejected<'a> {
    file: &'a str,
    holds: bool,
    memory_model: Option<&'a str>,
    reason: &'a str,
}

#[derive(Serialize)]
struct Unchecked<'a> {
    claim: &'a str,
    claims: Vec<Claim<'a>>,
    file: &'a str,
    holds: Option<bool>,
    memory_model: Option<&'a str>,
    reason: &'static str,
    visited: u64,
}

/// A program that was searched.
#[derive(Serialize)]
struct Claim<'a> {
    checks: usize,
    claim: &'a str,
    invariants: usize,
    lemmas: usize,
    states: u64,
}

fn claims(checked: &[Checked]) -> Vec<Claim<'_>> {
    checked
        .iter()
        .map(|&Checked { ref claim, invariants, lemmas, checks, states }| Claim {
            checks,
            claim,
            invariants,
            lemmas,
            states,
        })
        .collect()
}
