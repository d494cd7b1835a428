//! A verification as a person reads it: the verdict in one line, each lemma, what the answer is
//! relative to; then for an alarm the run of the protocol, its memory trace and what the trace
//! checker says about it, and how to go on.

use std::fmt::Write as _;

use conform::report::{Edge, Memory, Report, Searched};
use conform::{MOST_ALARMS, MemoryModel, Unestablished};
use explore::report::counted;
use murphi::source::Source;

use super::{judged, open};
use crate::exploration::text::{explanation, run, seconds};
use crate::style::{Style, paint};

/// The whole report, each line ended by a newline. If `quiet`, only the verdict. `go_on` are the
/// next commands.
pub fn report(report: &Report, go_on: &[String], quiet: bool, colour: bool) -> String {
    let mut text = verdict_line(report, colour) + "\n";
    if quiet {
        return text;
    }
    for lemma in &report.lemmas {
        let _ = writeln!(text, "  {}", lemma_line(lemma, colour));
    }
    for line in relative_to(report) {
        let _ = writeln!(text, "  {line}");
    }
    if let Some(counterexample) = report.run().and_then(|run| run.without_observer()) {
        let _ = write!(text, "\n{}", run(&counterexample, colour));
    }
    match report.memory() {
        Some(memory) => text.push_str(&memory_text(memory)),
        None => {
            let broken = report.run().map(|run| &run.finding.broken);
            text.push_str(&explanation(broken, colour));
        }
    }
    text + &next_steps(go_on)
}

/// The next commands, one per line.
pub(crate) fn next_steps(lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    lines.iter().fold("\nNext steps:\n".to_owned(), |text, line| format!("{text}  {line}\n"))
}

/// `piranha.m: verified: sequentially consistent for 2 processors, 2 addresses`
pub fn verdict_line(report: &Report, colour: bool) -> String {
    let name = report.verdict_name().replace('-', " ");
    let name = paint(&name, Style::of(&report.verdict), colour);
    format!("{}: {name}: {}", report.source.name, report.sentence)
}

/// `no 2-nice cycle: holds, 1,024 states, 4,096 rules fired, depth 20, 0.10 s`
fn lemma_line(lemma: &Searched, colour: bool) -> String {
    let (outcome, style) = match lemma.holds {
        Some(true) => ("proved", Style::Good),
        Some(false) => ("violated", Style::Bad),
        None => ("undecided", Style::Open),
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
        let _ = write!(line, ", {} skipped", counted(lemma.passed_over as u64, "alarm"));
    }
    line
}

/// The scope and the assumptions of the answer.
fn relative_to(report: &Report) -> Vec<String> {
    let values = match report.reduced {
        true => "any number of values".to_owned(),
        false => counted(report.sizes.values, "value"),
    };
    let strict = match (report.options.memory_model, report.commits) {
        (MemoryModel::Sc, false) => {
            "assumed store order: the order in which the stores of an address happen (simple \
             witness)"
        }
        (MemoryModel::Sc, true) => {
            "assumed store order: the order in which the stores of an address are committed"
        }
        (MemoryModel::Tso, false) => "checked against TSO-LB, a specification that implies TSO",
        (MemoryModel::Tso, true) => {
            "checked against TSO-LB with store buffers, a specification that implies TSO"
        }
    };
    let symmetry = report.options.symmetry.name();
    let mut lines = vec![format!("scope: {}, {values}; symmetry {symmetry}", report.sizes)];
    if report.sizes.addresses == 1 && report.options.memory_model == MemoryModel::Sc {
        let note = "with 1 address, sequential consistency is the same as coherence";
        lines.push(format!("warning: {note}; verify with 2 addresses, too"));
    }
    lines.push(strict.to_string());
    if report.options.pass_over > MOST_ALARMS {
        let most = counted(report.options.pass_over as u64, "run");
        lines.push(format!("false alarms: up to {most} that the memory model allows are skipped"));
    }
    lines.extend(grounds(report));
    lines
}

/// Whether the assumptions of the answer are established.
fn grounds(report: &Report) -> Vec<String> {
    let open = report.not_established();
    if !open.is_empty() {
        return open_lines(open, &report.source);
    }
    let line = match (report.independent, report.reduced) {
        (true, _) => "data independence: shown from the source (the protocol only copies values)",
        (false, false) => "data independence: not needed (checked for the values of the protocol)",
        (false, true) if report.assumed.is_empty() => {
            "data independence: not established (see the warnings)"
        }
        (false, true) => "data independence: assumed, not established (see the warnings)",
    };
    vec![line.to_owned()]
}

/// `m.m:12:3: data independence is not established: …`
pub(crate) fn open_lines(doubts: &[Unestablished], source: &Source) -> Vec<String> {
    let open = open(doubts, source).into_iter();
    open.map(|one| format!("{}: {}", one.place, one.sentence)).collect()
}

fn memory_text(memory: &Memory) -> String {
    let mut text = "\nMemory trace, with a distinct value for every store:\n".to_owned();
    for line in memory.trace.lines() {
        let _ = writeln!(text, "  {line}");
    }
    if !memory.cycle.is_empty() {
        text.push_str("\nCycle found by the observer:\n");
        for Edge { from, to, because } in &memory.cycle {
            let _ = writeln!(text, "  {from}  -- {because} -->  {to}");
        }
    }
    text.push_str("\nIndependent trace checker, no store order assumed:\n");
    for line in judged(memory) {
        let _ = writeln!(text, "  {line}");
    }
    text
}

#[cfg(test)]
mod tests {
    use conform::Options;
    use conform::report::answer;
    use explore::Stop;

    use super::*;

    /// A memory that takes every load and every store in one step.
    const MEMORY: &str = "
        type Proc: scalarset(2); Addr: scalarset(1); Value: 0..1;
        var memory: array [Addr] of Value;
        procedure Load(p: Proc; a: Addr; v: Value); begin end;
        procedure Store(p: Proc; a: Addr; v: Value); begin end;
        startstate begin for a: Addr do memory[a] := 0; end; end;
        ruleset p: Proc; a: Addr; v: Value do
          rule memory[a] = v ==> begin Load(p, a, v); end;
          rule begin memory[a] := v; Store(p, a, v); end;
        end;";

    #[test]
    fn a_verified_protocol_is_reported_with_what_it_is_relative_to() {
        let source = Source { name: "m.m".to_owned(), text: MEMORY.to_owned() };
        let options = Options::default();
        let mut found =
            answer(&source, &options, &mut |_, _| (), &Stop::after(None)).expect("it is suitable");
        found.lemmas = vec![Searched {
            name: "no 1-nice cycle".to_owned(),
            states: 1_024,
            rules_fired: 4_096,
            depth: 20,
            seconds: 0.1,
            holds: Some(true),
            passed_over: 0,
        }];
        assert_eq!(
            report(&found, &[], false, false),
            "m.m: verified: sequentially consistent for 2 processors, 1 address\n  \
             no 1-nice cycle: proved, 1,024 states, 4,096 rules fired, depth 20, 0.10 s\n  \
             scope: 2 processors, 1 address, any number of values; symmetry full\n  \
             warning: with 1 address, sequential consistency is the same as coherence; verify with \
             2 addresses, too\n  \
             assumed store order: the order in which the stores of an address happen (simple \
             witness)\n  data independence: shown from the source (the protocol only copies values)\n"
        );
        assert_eq!(
            report(&found, &[], true, false),
            "m.m: verified: sequentially consistent for 2 processors, 1 address\n"
        );
    }
}
