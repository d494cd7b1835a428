//! Messages in counterexamples: one change when they are sent, one when they are received.

use std::sync::atomic::AtomicBool;

use murphi::check;
use murphi::source::Source;
use tribunal_explore::report::Change;
use tribunal_explore::{Asked, Loaded, Question};

const MAIL: &str = "
    type
      P: scalarset(2);
      Kind: enum { Get, Ack };
      Message: record kind: Kind; from: P; data: 0..3; end;
    var
      queue: array [0..2] of Message; count: 0..3;
      line: array [P] of record state: Kind; seen: 0..3; end;
      slot: array [P] of Message; last: Message; order: array [0..2] of 0..9;
    startstate begin
      count := 0; order[0] := 4; order[1] := 5; order[2] := 6;
      for p: P do line[p].state := Get; line[p].seen := 0; end;
    end;
    procedure send(kind: Kind; p: P; data: 0..3); begin
      queue[count].kind := kind;
      if kind = Ack then queue[count].data := data; end;
      queue[count].from := p;
      count := count + 1;
    end;
    ruleset p: P do
      rule \"first\" count = 0 & isundefined(last.kind) ==> begin send(Get, p, 0); end;
      rule \"second\" count = 1 & isundefined(last.kind) ==> begin send(Ack, p, 2); end;
      rule \"third\" count = 2 & isundefined(last.kind) ==> begin send(Get, p, 0); end;
    end;
    rule \"take\" count > 1 & (count = 3 | !isundefined(last.kind)) ==> begin
      last := queue[0];
      for i: 0..1 do queue[i] := queue[i + 1]; end;
      undefine queue[2];
      count := count - 1;
      for p: P do if !isundefined(last.from) & last.from = p then line[p].seen := count; end; end;
    end;
    rule \"take the last\" count = 1 & !isundefined(last.kind) ==> begin
      undefine queue[0]; undefine last; count := 0;
      order[0] := order[1]; order[1] := order[2]; undefine order[2];
    end;
    invariant \"not all taken\" !isundefined(order[2]);";

fn line(change: &Change) -> String {
    match change.before.as_str() {
        "" => format!("{}: {}", change.place, change.after),
        before => format!("{}: {before} → {}", change.place, change.after),
    }
}

#[test]
fn a_message_is_sent_in_a_line_and_received_in_a_line() {
    let source = Source { name: "mail.m".to_owned(), text: MAIL.to_owned() };
    let loaded = Loaded::read(&source, &check::Options::default(), &Asked::default());
    let report = loaded.expect("it is right").explore(
        &Question::default(),
        &mut |_| (),
        &AtomicBool::new(false),
    );
    let report = report.expect("it is confirmed");
    let run = report.finding().and_then(|finding| finding.counterexample.clone());
    let steps = run.expect("the invariant breaks").steps;
    let lines = steps.iter().map(|step| {
        let lines: Vec<String> = step.folded.iter().map(line).collect();
        format!("{}: {}", step.rule, lines.join("; "))
    });
    assert_eq!(
        lines.collect::<Vec<_>>(),
        [
            "first: queue[0]: undefined → {kind: Get, from: P_1}; count: 0 → 1",
            "second: queue[1]: undefined → {kind: Ack, from: P_1, data: 2}; count: 1 → 2",
            "third: queue[2]: undefined → {kind: Get, from: P_1}; count: 2 → 3",
            "take: queue: -{kind: Get, from: P_1} from [0], 2 elements move up; count: 3 → 2; \
             line[P_1].seen: 0 → 2; last: undefined → {kind: Get, from: P_1}",
            // Of two messages that are the same but for one field, only that field is a change.
            "take: queue: -{kind: Ack, from: P_1, data: 2} from [0], 1 element moves up; \
             count: 2 → 1; line[P_1].seen: 2 → 1; last.kind: Get → Ack; last.data: undefined → 2",
            "take the last: queue[0]: {kind: Get, from: P_1} → undefined; count: 1 → 0; \
             last: {kind: Ack, from: P_1, data: 2} → undefined; \
             order: -4 from [0], 2 elements move up",
        ]
    );
}
