//! TSO-LB one address at a time (`tso_news`) against the machine itself: on a protocol that is that
//! machine, on all its mutants and some more variants, and on broken protocols.

use std::sync::atomic::AtomicBool;

use conform::mutate::mutants;
use conform::{
    EventNames, Failure, MemoryModel, Options, Unknown, Verdict, ViolationKind, composed_programs,
};
use explore::Deadlock;
use explore::symmetry::Symmetry;
use murphi::parse::parse;
use murphi::print::print;
use murphi::source::Source;
use tribunal_refine as refine;

use crate::support::{protocol, runnable};

/// Every processor has a buffer that it loads from, and stores go to the global one as well. Data
/// only moves.
const BUFFERS: &str = "
type
  Proc: scalarset(2);
  Addr: scalarset(2);
  Value: scalarset(2);
  Buffer: array [Addr] of Value;
var
  global: Buffer;
  local: array [Proc] of Buffer;
  is_late: array [Proc] of boolean;

procedure Load(p: Proc; a: Addr; v: Value); begin end;
procedure Store(p: Proc; a: Addr; v: Value); begin end;

ruleset v: Value do
  startstate
  begin
    for a: Addr do global[a] := v; end;
    for p: Proc do local[p] := global; is_late[p] := false; end;
  end;
end;

ruleset p: Proc; a: Addr do
  rule \"load\"
  begin
    Load(p, a, local[p][a]);
  end;

  rule \"load, after all has come\"
    is_late[p]
  ==>
  begin
    for b: Addr do local[p][b] := global[b]; end;
    is_late[p] := false;
    Load(p, a, local[p][a]);
  end;
end;

ruleset p: Proc; a: Addr; v: Value do
  rule \"store\"
  begin
    local[p][a] := v;
    global[a] := v;
    for q: Proc do
      if q != p then is_late[q] := true; end;
    end;
    Store(p, a, v);
  end;
end;

ruleset p: Proc do
  rule \"propagate\"
    is_late[p]
  ==>
  begin
    for b: Addr do local[p][b] := global[b]; end;
    is_late[p] := false;
  end;
end;
";

/// Whether the observer finds something wrong; nothing if it cannot look.
fn objects(source: &Source, options: &Options) -> Option<bool> {
    let composed = composed_programs(source, options).expect("it marks its loads and stores");
    let (_, program) = composed.by_address.first()?;
    let machine = runnable(program);
    let search = explore::Options { deadlock: Deadlock::Off, ..explore::Options::default() };
    let never = AtomicBool::new(false);
    let found = refine::explore(&machine, &search, Symmetry::Full, &mut |_| (), &never);
    match found.verdict {
        explore::Verdict::Holds(()) => Some(false),
        explore::Verdict::Broken(_) => Some(true),
        other => panic!("{other:?}"),
    }
}

fn tso() -> Options {
    Options { memory_model: MemoryModel::Tso, protocol: false, ..Options::default() }
}

#[test]
fn one_address_at_a_time_is_as_good_as_the_machine() {
    let source = Source { name: "buffers.m".into(), text: BUFFERS.into() };
    let options = tso();
    assert_eq!(objects(&source, &options), Some(false), "the machine follows itself");
    let program = parse(&source).0.expect("it is Murphi");
    let mut texts: Vec<String> = mutants(&program, &EventNames::default())
        .iter()
        .map(|mutant| print(&mutant.program))
        .collect();
    let one = "ruleset p: Proc; b: Addr do rule \"one\" begin local[p][b] := global[b]; end; end;";
    let old = "ruleset p: Proc; b: Addr do rule \"old\" begin global[b] := local[p][b]; end; end;";
    let mixed = "ruleset p: Proc; q: Proc do rule \"mixed\" begin local[p] := local[q]; end; end;";
    texts.extend([one, old, mixed].map(|more| format!("{BUFFERS}\n{more}")));
    let (mut right, mut wrong) = (0, 0);
    for text in texts {
        let source = Source { name: "mutant.m".into(), text };
        let exact = Options { exact: true, ..options.clone() };
        let exact = conform::verify(&source, &exact, &mut |_, _| (), &AtomicBool::new(false));
        let alarms = match exact.map(|exact| exact.verdict) {
            Ok(Verdict::Holds(())) => false,
            Ok(
                Verdict::Broken(ViolationKind::MemoryModel(_))
                | Verdict::Undecided(Unknown::FalseAlarm(_)),
            ) => true,
            // What it stores is not what it says.
            Err(Failure::NotRepeatable(_)) => true,
            // A rule fails.
            Ok(_) => continue,
            Err(why) => panic!("{why:?}"),
        };
        assert_eq!(objects(&source, &options), Some(alarms), "{}", source.text);
        if alarms { wrong += 1 } else { right += 1 }
    }
    assert!(right >= 5 && wrong >= 5, "{right} right, {wrong} wrong");
}

#[test]
fn broken_variants_are_refuted_one_address_at_a_time() {
    for name in [
        "no-self-invalidation",
        "old-owner-keeps-line",
        "one-confirmation-is-enough",
        "write-back-lost",
        "written-line-called-read-only",
    ] {
        let source = protocol(&format!("broken/tso-cc-{name}"));
        assert_eq!(objects(&source, &tso()), Some(true), "{name}");
    }
}
