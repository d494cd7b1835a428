//! What is kept of a verification is enough to go on from.

use conform::report::{Report, answer};
use conform::{NotReplayed, Options, Recorded, replay};
use explore::{Deadlock, Stop};
use murphi::source::Source;
use std::path::Path;
use tribunal_report::verification::keep::{files, from_files, go_on};
use tribunal_report::verification::{json, text};

fn protocol(name: &str) -> Source {
    let path = format!("{}/../../protocols/{name}.m", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the protocol is there");
    Source { name: format!("{name}.m"), text }
}

fn broken() -> Report {
    let source = protocol("broken/mi-stale-put-taken");
    let report = answer(&source, &Options::default(), &mut |_, _| (), &Stop::after(None));
    report.expect("there is a report")
}

#[test]
fn a_kept_run_is_replayed_and_another_protocol_does_not_have_it() {
    let report = broken();
    let files = files(&report);
    let names: Vec<&str> = files.iter().map(|file| file.name).collect();
    let expected = ["run.json", "composed.m", "trace.trace", "certificate.jsonl", "why.svg"];
    assert_eq!(names, expected);
    // What is printed can be replayed as well as what is kept.
    for text in [&files[0].text, &json::object(&report)] {
        let recorded = Recorded::read(text).expect("it is a counterexample");
        let again =
            |source: &Source| replay(source, &Options::default(), &recorded, Deadlock::Stuttering);
        assert_eq!(again(&report.source).expect("it is composed"), Ok(()));
        assert!(again(&protocol("mi")).expect("it is composed").is_err());
    }
}

#[test]
fn a_run_without_a_lemma_is_not_replayed() {
    let report = broken();
    let text = json::object(&report).replace("\"lemma\":1,", "");
    let recorded = Recorded::read(&text).expect("it is a counterexample");
    let result = replay(&report.source, &Options::default(), &recorded, Deadlock::Stuttering);
    assert!(matches!(result, Err(NotReplayed::NoLemma)), "{result:?}");
}

#[test]
fn commands_to_go_on_name_the_files_and_what_was_asked() {
    let mut report = broken();
    report.options.language.constants = vec![("ValueCount".to_owned(), "2".to_owned())];
    let commands = from_files(&report, "p.m", Path::new("why"));
    let again = "tribunal verify --model sc --const ValueCount=2";
    assert_eq!(commands[0], format!("{again} --replay why/run.json p.m"));
    assert_eq!(commands[1], "tribunal explore --replay why/run.json why/composed.m");
    assert_eq!(commands[2], "tribunal check --model sc why/trace.trace");
    assert_eq!(go_on(&report, "p.m"), [format!("{again} --out DIR p.m")]);
    let text = text::report(&report, &commands, false, false);
    assert!(text.contains("\nNext steps:\n  tribunal verify"), "{text}");
    assert!(!text.contains("tribunal_"), "{text}");
}
