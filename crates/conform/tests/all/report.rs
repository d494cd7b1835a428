//! What is reported is confirmed by others than those who found it.

use crate::support::{constants, model, protocol, verified};
use evidence::{Evidence, Verdict};
use explore::{Reason, Stop};
use judge::{Budget, Engine, Outcome, judge};
use murphi::source::Source;
use std::time::Duration;
use tribunal_conform::report::{Alarm, Broken, Open, Report, Unanswered, answer};
use tribunal_conform::{Options, compositions};

fn reported(source: &Source, options: &Options) -> Report {
    answer(source, options, &mut |_, _| (), &Stop::after(None)).expect("there is a report")
}

fn violation(report: &Report) -> &Alarm {
    match &report.verdict {
        Verdict::Broken(Broken::MemoryModel(alarm)) => alarm,
        _ => panic!("{}", report.sentence),
    }
}

#[test]
fn the_certificate_of_a_violation_is_about_the_trace_that_is_kept() {
    let report = reported(&protocol("broken/mi-stale-put-taken"), &Options::default());
    let memory = &violation(&report).memory;
    assert!(matches!(memory.certificate.evidence, Evidence::Violation(_)));
    assert!(memory.trace.starts_with("# thread 1 is Processor_1\n"), "{}", memory.trace);
    // Whoever reads the text has the same events in the same lines, and the same answer.
    let read = history::parse_text(&memory.trace).expect("it is a trace");
    certify::certify(&read, &memory.certificate).expect("it holds of the text");
    let anew = judge(&read, memory.certificate.model, Engine::Auto, &Budget::unlimited());
    assert_eq!(anew.outcome, memory.judged.outcome);
    assert!(!memory.thin_air && memory.in_order_of_run.is_none());
}

#[test]
fn a_value_out_of_thin_air_is_what_a_reader_refuses() {
    let report = reported(&model("early-loads"), &Options::default());
    let memory = &violation(&report).memory;
    assert!(memory.thin_air);
    assert!(history::parse_text(&memory.trace).is_err());
}

#[test]
fn a_false_alarm_comes_with_what_is_said_of_the_order_of_the_run() {
    let report = reported(&model("delayed-stores"), &Options::default());
    let Verdict::Undecided(Open::FalseAlarm(alarm)) = &report.verdict else {
        panic!("{}", report.sentence)
    };
    assert!(matches!(alarm.memory.judged.outcome, Outcome::Holds(_)));
    let ordered = alarm.memory.in_order_of_run.as_ref().expect("it can be judged");
    assert!(matches!(ordered.outcome, Outcome::Broken(_)));
    assert!(alarm.memory.trace.contains("\n# order of the run: order "), "{}", alarm.memory.trace);
}

#[test]
fn variables_of_observers_are_not_shown_to_people() {
    let report = reported(&protocol("broken/mi-stale-put-taken"), &Options::default());
    let run = report.run().expect("there is one");
    let whole = format!("{:?}", run.finding.counterexample);
    let shown = run.without_observer().expect("there is a run");
    assert!(run.composed.is_some() && whole.contains("\"tribunal_"), "{whole}");
    let steps = format!("{:?} {:?}", shown.start.folded, shown.steps);
    assert!(!steps.contains("\"tribunal_"), "{steps}");
}

#[test]
fn what_ended_the_search_is_the_time_if_the_time_ran_out() {
    let stop = Stop::after(Some(Duration::ZERO));
    while !stop.timed_out() {
        std::thread::yield_now();
    }
    let source = protocol("msi");
    let report = answer(&source, &Options::default(), &mut |_, _| (), &stop);
    let report = report.expect("there is a report");
    assert!(matches!(&report.verdict, Verdict::Undecided(Open::Ended(Reason::Time))));
    assert_eq!(report.sentence, "the time limit was reached (raise --budget); no violation found");
}

#[test]
fn a_protocol_that_begins_nowhere_has_no_report() {
    let source = model("cells");
    let text = format!("{}\nassume \"never\" false;\n", source.text);
    let source = Source { text, ..source };
    let report = answer(&source, &Options::default(), &mut |_, _| (), &Stop::after(None));
    assert!(matches!(report, Err(Unanswered::NoStart)), "{report:?}");
}

#[test]
fn what_is_searched_is_what_is_written_out() {
    for (source, options) in
        [(protocol("mi"), Options::default()), (model("load-buffers"), constants(&[]))]
    {
        let written = compositions(&source, &options).expect("it can be composed");
        let found = verified(&source, &options);
        for (name, text) in written {
            let lemma = found.lemmas.iter().find(|lemma| lemma.name == name);
            let lemma = lemma.unwrap_or_else(|| panic!("{name} is not searched"));
            assert!(lemma.interpreter.model().source.text == text, "{name}");
        }
    }
}
