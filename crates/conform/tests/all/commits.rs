//! Protocols that mark commits: stores that stay pending, and commits of something else than the
//! oldest pending store of a processor.

use judge::Outcome;
use murphi::source::Source;
use tribunal_conform::{Counterexample, MemoryModel, Options, Unknown, Verdict, ViolationKind};

use crate::support::{constants, protocol, verified};

/// Store buffers of two places: `entry` is how a store enters when there is room, `leaves` what
/// happens when the oldest store leaves, and `loads` are the rules that load.
fn buffers(entry: &str, leaves: &str, loads: &str) -> Source {
    let text = format!(
        "type Proc: scalarset(2); Addr: scalarset(2); Value: 0..1;
         var memory: array [Addr] of Value;
           count: array [Proc] of 0..2;
           target: array [Proc] of array [0..1] of Addr;
           data: array [Proc] of array [0..1] of Value;
         procedure Load(p: Proc; a: Addr; v: Value); begin end;
         procedure Store(p: Proc; a: Addr; v: Value); begin end;
         procedure Commit(p: Proc; a: Addr; v: Value); begin end;
         startstate begin
           for a: Addr do memory[a] := 0; end;
           for p: Proc do count[p] := 0; end;
         end;
         ruleset p: Proc; a: Addr; v: Value do rule \"store\" count[p] < 2 ==> begin
           {entry}
           target[p][count[p]] := a; data[p][count[p]] := v; count[p] := count[p] + 1;
           Store(p, a, v);
         end; end;
         ruleset p: Proc; q: Proc do rule \"leave\" p != q & count[p] > 0 ==> begin
           {leaves}
           if count[p] = 2 then target[p][0] := target[p][1]; data[p][0] := data[p][1]; end;
           count[p] := count[p] - 1;
           undefine target[p][count[p]]; undefine data[p][count[p]];
         end; end;
         ruleset p: Proc; a: Addr do {loads} end;"
    );
    Source { name: "buffers.m".to_owned(), text }
}

/// The oldest store reaches memory.
const COMMITTED: &str = "memory[target[p][0]] := data[p][0]; Commit(p, target[p][0], data[p][0]);";

/// Loads wait for the own stores.
const PATIENT: &str = "rule \"load\" count[p] = 0 ==> begin Load(p, a, memory[a]); end;";

fn asked(memory_model: MemoryModel) -> Options {
    let mut options = Options { memory_model, ..constants(&[]) };
    options.search.deadlock = explore::Deadlock::Off;
    options
}

fn verdict(source: &Source, memory_model: MemoryModel) -> Verdict {
    verified(source, &asked(memory_model)).verdict
}

fn violation(source: &Source, memory_model: MemoryModel) -> Box<Counterexample> {
    match verdict(source, memory_model) {
        Verdict::Broken(ViolationKind::MemoryModel(found)) => found,
        other => panic!("{other:?}"),
    }
}

/// What is said to be wrong with the commits of a protocol whose loads are right.
fn misuse(source: &Source, memory_model: MemoryModel) -> String {
    match verdict(source, memory_model) {
        Verdict::Undecided(Unknown::FalseAlarm(found)) => {
            assert!(matches!(found.judged.outcome, Outcome::Holds(_)));
            found.misuse.clone().unwrap_or_else(|| panic!("nothing is said of {}", found.claim))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn stores_that_are_committed_in_order_are_verified() {
    let right = buffers("", COMMITTED, PATIENT);
    for memory_model in [MemoryModel::Sc, MemoryModel::Tso] {
        let found = verdict(&right, memory_model);
        assert!(matches!(found, Verdict::Holds(())), "{memory_model:?}: {found:?}");
    }
}

#[test]
fn a_trace_that_ends_while_stores_are_pending_must_be_explained() {
    // Only the next store drains a buffer of one place, so that there is always a pending one.
    let text = "
        type Proc: scalarset(2); Addr: scalarset(2); Value: scalarset(2);
        var memory: array [Addr] of Value; full: array [Proc] of boolean;
          addr: array [Proc] of Addr; data: array [Proc] of Value;
        procedure Load(p: Proc; a: Addr; v: Value); begin end;
        procedure Store(p: Proc; a: Addr; v: Value); begin end;
        procedure Commit(p: Proc; a: Addr; v: Value); begin end;
        ruleset v: Value do startstate begin
          for a: Addr do memory[a] := v; end;
          for p: Proc do full[p] := false; undefine addr[p]; undefine data[p]; end;
        end; end;
        ruleset p: Proc; a: Addr; v: Value do rule \"store\" true ==> begin
          if full[p] then memory[addr[p]] := data[p]; Commit(p, addr[p], data[p]); end;
          full[p] := true; addr[p] := a; data[p] := v; Store(p, a, v);
        end; end;
        ruleset p: Proc; a: Addr do
          rule \"load\" !full[p] ==> begin Load(p, a, memory[a]); end;
          rule \"load own\" full[p] ==> begin
            Load(p, a, addr[p] = a ? data[p] : memory[a]);
          end;
        end;";
    let source = Source { name: "pending.m".to_owned(), text: text.to_owned() };
    let found = violation(&source, MemoryModel::Sc);
    assert_eq!(found.claim, "no ordering cycle through 2 processors and 2 addresses");
    assert_eq!(found.trace.events.len(), 4);
    assert!(found.trace.commits.is_empty());
    let found = verdict(&source, MemoryModel::Tso);
    assert!(matches!(found, Verdict::Holds(())), "{found:?}");
}

#[test]
fn stores_that_are_lost_are_seen_though_they_are_never_committed() {
    let found = violation(&buffers("", "", PATIENT), MemoryModel::Sc);
    assert_eq!(found.claim, "no ordering cycle through 1 processor and 1 address");
    assert_eq!(found.trace.events.len(), 2);
    violation(&buffers("", "", PATIENT), MemoryModel::Tso);
}

#[test]
fn a_pending_store_that_others_see_has_its_place() {
    let seen = "rule \"load\" count[p] = 0 ==> begin Load(p, a, memory[a]); end;
        ruleset r: Proc do rule \"peek\" count[r] > 0 & target[r][0] = a ==> begin
          Load(p, a, data[r][0]);
        end; end;";
    // Seen and then not seen again.
    let found = violation(&buffers("", COMMITTED, seen), MemoryModel::Sc);
    assert_eq!(found.claim, "no ordering cycle through 1 processor and 1 address");
}

#[test]
fn a_store_that_is_committed_twice_is_named() {
    let twice = format!("{COMMITTED} Commit(p, target[p][0], data[p][0]);");
    for memory_model in [MemoryModel::Sc, MemoryModel::Tso] {
        let said = misuse(&buffers("", &twice, PATIENT), memory_model);
        assert!(said.ends_with("is committed twice"), "{said}");
    }
}

#[test]
fn a_commit_of_what_was_never_stored_is_named() {
    let other =
        "Commit(p, target[p][0], memory[target[p][0]]); memory[target[p][0]] := data[p][0];";
    let said = misuse(&buffers("", other, PATIENT), MemoryModel::Sc);
    assert!(said.ends_with("is committed, but was never stored"), "{said}");
    let early = buffers("Commit(p, a, v);", "memory[target[p][0]] := data[p][0];", PATIENT);
    for memory_model in [MemoryModel::Sc, MemoryModel::Tso] {
        let said = misuse(&early, memory_model);
        assert!(said.ends_with("is committed before it is stored"), "{said}");
    }
}

#[test]
fn a_commit_by_another_processor_is_named() {
    let stranger = "memory[target[p][0]] := data[p][0]; Commit(q, target[p][0], data[p][0]);";
    for memory_model in [MemoryModel::Sc, MemoryModel::Tso] {
        let said = misuse(&buffers("", stranger, PATIENT), memory_model);
        assert!(said.contains("commits a store of"), "{said}");
    }
}

#[test]
fn commits_out_of_order_are_named() {
    // Memory is written in order, only the marks are not.
    let last = "memory[target[p][0]] := data[p][0];
        Commit(p, target[p][count[p] - 1], data[p][count[p] - 1]);
        if count[p] = 2 then Commit(p, target[p][0], data[p][0]); end;";
    let said = misuse(&buffers("", last, PATIENT), MemoryModel::Sc);
    assert!(said.contains("before an older one"), "{said}");
    let said = misuse(&buffers("", last, PATIENT), MemoryModel::Tso);
    assert!(said.contains("before an older one"), "{said}");
}

#[test]
fn msi_with_store_buffers_is_judged_by_its_commits() {
    let source = protocol("msi-store-buffer");
    violation(&source, MemoryModel::Sc);
}
