//! A nightly check of protocols: each file is explored (invariants, assertions, deadlock) and, if it
//! marks its loads and stores, verified against sequential consistency; a line each, and the exit
//! code says whether something is broken. What is undecided is not broken, and is printed as such.
//!
//!     cargo run --release --example nightly_check -- protocols/mi.m protocols/german.m

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use tribunal::Source;
use tribunal::conform::{self, ViolationKind};
use tribunal::evidence::Verdict;
use tribunal::explore::{Loaded, Question};

/// What came of a check.
enum Answer {
    Holds(String),
    Broken(String),
    Open(String),
}

fn explored(source: &Source, stop: &AtomicBool) -> Answer {
    let model = match Loaded::new(source, &Default::default()) {
        Ok(model) => model,
        Err(why) => return Answer::Broken(format!("cannot be read: {why:?}")),
    };
    match model.explore(&Question::default(), &mut |_| (), stop) {
        Err(why) => Answer::Broken(format!("the interpreter disagrees: {why}")),
        Ok(report) => match report.verdict {
            Verdict::Holds(()) => Answer::Holds(format!("{} states", report.totals.states)),
            Verdict::Broken(finding) => Answer::Broken(finding.broken.sentence),
            Verdict::Undecided(open) => Answer::Open(open.to_string()),
        },
    }
}

fn verified(source: &Source, stop: &AtomicBool) -> Answer {
    match conform::verify(source, &conform::Options::default(), &mut |_, _| (), stop) {
        Err(_) => Answer::Open("it does not mark its loads and stores".to_owned()),
        Ok(found) => match found.verdict {
            Verdict::Holds(()) => Answer::Holds("sequentially consistent".to_owned()),
            Verdict::Broken(ViolationKind::MemoryModel(_)) => {
                Answer::Broken("not sequentially consistent".to_owned())
            }
            Verdict::Broken(ViolationKind::Protocol) => {
                Answer::Broken("a claim of the protocol does not hold".to_owned())
            }
            Verdict::Undecided(_) => Answer::Open("nothing is established".to_owned()),
        },
    }
}

fn main() -> std::io::Result<ExitCode> {
    let stop = AtomicBool::new(false);
    let mut broken = false;
    for name in std::env::args().skip(1) {
        let source = Source { text: std::fs::read_to_string(&name)?, name };
        for (what, check) in [("explore", explored as fn(&_, &_) -> _), ("verify", verified)] {
            let (word, sentence) = match check(&source, &stop) {
                Answer::Holds(sentence) => ("holds", sentence),
                Answer::Open(sentence) => ("open", sentence),
                Answer::Broken(sentence) => ("BROKEN", sentence),
            };
            broken |= word == "BROKEN";
            println!("{}: {what}: {word}: {sentence}", source.name);
        }
    }
    Ok(if broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
