//! A verification as a person reads it: the verdict in one line, each lemma, what the answer is
//! relative to; then for an alarm the run of the protocol, its memory trace and what the trace
//! checker says about it, and how to go on.

use std::fmt::Write as _;

use super::{Edge, Lemma, Memory, MemoryModel, Open, Verdict, Verification};
use crate::exploration::text::{counted, explanation, run, seconds};
use crate::style::{Style, paint};

/// The whole report, each line ended by a newline. If `quiet`, only the verdict.
pub fn report(verification: &Verification, quiet: bool, colour: bool) -> String {
    let mut text = verdict_line(verification, colour) + "\n";
    if quiet {
        return text;
    }
    for lemma in &verification.lemmas {
        let _ = writeln!(text, "  {}", lemma_line(lemma, colour));
    }
    for line in relative_to(verification) {
        let _ = writeln!(text, "  {line}");
    }
    if let Some(counterexample) = &verification.counterexample {
        let _ = write!(text, "\n{}", run(counterexample, colour));
    }
    match &verification.memory {
        Some(memory) => text.push_str(&memory_text(memory)),
        None => text.push_str(&explanation(verification.broken.as_ref(), colour)),
    }
    if !verification.commands.is_empty() {
        text.push_str("\nTo go on:\n");
        for command in &verification.commands {
            let _ = writeln!(text, "  {command}");
        }
    }
    text
}

/// `piranha.m: verified: sequentially consistent with 2 processors, 2 addresses`
pub fn verdict_line(verification: &Verification, colour: bool) -> String {
    let style = match verification.verdict {
        Verdict::Verified => Style::Good,
        Verdict::Violation | Verdict::Broken => Style::Bad,
        Verdict::FalseAlarm | Verdict::Undecided => Style::Open,
    };
    let name = match verification.verdict {
        Verdict::FalseAlarm => "false alarm",
        verdict => verdict.name(),
    };
    let name = paint(name, style, colour);
    format!("{}: {name}: {}", verification.model, verification.sentence)
}

/// `no 2-nice cycle: holds, 1,024 states, 4,096 rules fired, depth 20, 0.10 s`
fn lemma_line(lemma: &Lemma, colour: bool) -> String {
    let (outcome, style) = match lemma.holds {
        Some(true) => ("holds", Style::Good),
        Some(false) => ("does not hold", Style::Bad),
        None => ("not decided", Style::Open),
    };
    let mut line = format!(
        "{}: {}, {}, {} fired, depth {}, {} s",
        lemma.name,
        paint(outcome, style, colour),
        counted(lemma.states, "state"),
        counted(lemma.rules_fired, "rule"),
        lemma.depth,
        seconds(lemma.seconds)
    );
    if lemma.passed_over > 0 {
        let _ = write!(line, ", {} passed over", counted(lemma.passed_over as u64, "alarm"));
    }
    line
}

/// What the answer rests on.
fn relative_to(verification: &Verification) -> Vec<String> {
    let sizes = &verification.sizes;
    let mut first = vec![
        counted(sizes.processors, "processor"),
        match sizes.addresses {
            1 => "1 address".to_owned(),
            addresses => format!("{addresses} addresses"),
        },
    ];
    first.push(match verification.reduced {
        true => "any number of values".to_owned(),
        false => counted(sizes.values, "value"),
    });
    let strict = match (verification.memory_model, verification.commits) {
        (MemoryModel::Sc, false) => {
            "the simple witness: stores to an address count in the order in which they happen"
        }
        (MemoryModel::Sc, true) => {
            "the order of commits: stores to an address count in the order of their commits"
        }
        (MemoryModel::Tso, false) => "TSO-LB, which is a little stricter than TSO",
        (MemoryModel::Tso, true) => {
            "TSO-LB with store buffers, which is a little stricter than TSO"
        }
    };
    let mut lines = vec![format!(
        "for {}, symmetry {}",
        first.join(", "),
        verification.settings.symmetry.name()
    )];
    lines.push(format!("relative to {strict}"));
    lines.extend(grounds(verification));
    lines
}

/// What is known about what the answer rests on.
fn grounds(verification: &Verification) -> Vec<String> {
    if !verification.open.is_empty() {
        return open_lines(&verification.open);
    }
    let line = match (verification.independent, verification.reduced) {
        (true, _) => "causality and data independence are evident from the source",
        (false, false) => "values are compared as they are: nothing is assumed about them",
        (false, true) if verification.assuming.is_empty() => {
            "causality and data independence are not established: see the warnings"
        }
        (false, true) => {
            "causality and data independence are assumed and not established: see the warnings"
        }
    };
    vec![line.to_owned()]
}

/// `m.m:12:3: data independence is not established: …`
pub(crate) fn open_lines(open: &[Open]) -> Vec<String> {
    let line = |one: &Open| format!("{}: {}", one.place, one.sentence);
    open.iter().map(line).collect()
}

fn memory_text(memory: &Memory) -> String {
    let mut text = "\nThe memory trace, with a value of its own for every store:\n".to_owned();
    for line in &memory.trace {
        let _ = writeln!(text, "  {line}");
    }
    if !memory.cycle.is_empty() {
        text.push_str("\nIts nice cycle:\n");
        for Edge { from, to, because } in &memory.cycle {
            let _ = writeln!(text, "  {from}  -- {because} -->  {to}");
        }
    }
    if !memory.judged.is_empty() {
        text.push_str("\nThe trace checker, which knows of no witness, says:\n");
        for line in &memory.judged {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verification::Sizes;

    #[test]
    fn a_verified_protocol_is_told_with_what_it_is_relative_to() {
        let verification = Verification {
            model: "m.m".to_owned(),
            verdict: Verdict::Verified,
            sentence: "sequentially consistent".to_owned(),
            sizes: Sizes { processors: 2, addresses: 1, values: 2 },
            independent: true,
            reduced: true,
            lemmas: vec![Lemma {
                name: "no 1-nice cycle".to_owned(),
                states: 1_024,
                rules_fired: 4_096,
                depth: 20,
                seconds: 0.1,
                holds: Some(true),
                passed_over: 0,
            }],
            ..Verification::default()
        };
        assert_eq!(
            report(&verification, false, false),
            "m.m: verified: sequentially consistent\n  \
             no 1-nice cycle: holds, 1,024 states, 4,096 rules fired, depth 20, 0.10 s\n  \
             for 2 processors, 1 address, any number of values, symmetry full\n  \
             relative to the simple witness: stores to an address count in the order in which \
             they happen\n  causality and data independence are evident from the source\n"
        );
        assert_eq!(report(&verification, true, false), "m.m: verified: sequentially consistent\n");
    }
}
