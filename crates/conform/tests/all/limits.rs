//! What ends a search and what does not: rules that fail, and observers without room.

use murphi::source::Source;
use tribunal_conform::{HAS_ROOM, MemoryModel, Options, Unknown, Verdict, ViolationKind};

use crate::support::{constants, model, verified, with_commits};

/// A memory with a rule that fails, and `more` rules for each processor and address.
fn memory(more: &str) -> Source {
    let text = format!(
        "type Proc: scalarset(2); Addr: scalarset(2); Value: 0..1;
         var memory: array [Addr] of Value; old, nothing: Value;
         procedure Load(p: Proc; a: Addr; v: Value); begin end;
         procedure Store(p: Proc; a: Addr; v: Value); begin end;
         startstate begin for a: Addr do memory[a] := 0; end; end;
         ruleset p: Proc; a: Addr do
           rule \"load\" begin Load(p, a, memory[a]); end;
           rule \"load nothing\" begin Load(p, a, nothing); end;
           rule \"guard fails\" nothing = 0 ==> begin memory[a] := 0; end;
           {more}
           ruleset v: Value do rule \"store\" begin memory[a] := v; Store(p, a, v); end; end;
         end;"
    );
    Source { name: "memory.m".to_owned(), text }
}

fn both_models() -> [Options; 2] {
    [MemoryModel::Sc, MemoryModel::Tso].map(|memory_model| Options {
        memory_model,
        protocol: false,
        ..Options::default()
    })
}

#[test]
fn a_rule_that_fails_ends_the_search_or_does_not_apply() {
    for strict in both_models() {
        let forgiving = Options { forgiving: true, ..strict.clone() };
        let found = verified(&memory(""), &strict);
        assert!(
            matches!(found.verdict, Verdict::Broken(ViolationKind::Protocol)),
            "{:?}",
            found.verdict
        );
        let found = verified(&memory(""), &forgiving);
        assert!(matches!(found.verdict, Verdict::Holds(())), "{:?}", found.verdict);

        // What is wrong beside it is found.
        let stale = memory(
            "rule \"keep\" begin old := memory[a]; end;
             rule \"stale\" !isundefined(old) ==> begin Load(p, a, old); end;",
        );
        let found = verified(&stale, &forgiving);
        assert!(
            matches!(found.verdict, Verdict::Broken(ViolationKind::MemoryModel(_))),
            "{:?}",
            found.verdict
        );
    }
}

#[test]
fn a_start_state_that_fails_is_not_forgiven() {
    let source = memory("");
    let text = source.text.replace("startstate begin", "startstate begin assert false;");
    let source = Source { text, ..source };
    for options in both_models() {
        let found = verified(&source, &Options { forgiving: true, ..options });
        assert!(
            matches!(found.verdict, Verdict::Broken(ViolationKind::Protocol)),
            "{:?}",
            found.verdict
        );
    }
}

#[test]
fn stores_that_never_count_leave_an_observer_without_room() {
    // Stores take the place of those that wait, and nothing ever reaches memory.
    let committed = with_commits(model("delayed-stores"));
    let text = committed.text.replace("\"store\" isundefined(waiting[p].a)", "\"store\" true");
    let text =
        text.replace("\"reach memory\" !isundefined(waiting[p].a)", "\"reach memory\" false");
    let forgetful = Source { text: text.clone(), ..committed.clone() };
    // Nobody loads anything, so everything is allowed; but it is not known for how long. One
    // processor and one address keep the observer's queue small.
    let text =
        text.replace("memory[a] = v\n", "false\n").replace("\"store\" true", "\"store\" p = 1");
    let text = text.replace("Proc: scalarset(2)", "Proc: 1..2");
    let text = text.replace("Addr: scalarset(2)", "Addr: scalarset(1)");
    let silent = Source { text, ..committed };
    for memory_model in [MemoryModel::Sc, MemoryModel::Tso] {
        let options = Options { memory_model, ..constants(&[]) };
        let found = verified(&silent, &options);
        let Verdict::Undecided(Unknown::FalseAlarm(alarm)) = &found.verdict else {
            panic!("{:?}", found.verdict)
        };
        assert_eq!(alarm.claim, HAS_ROOM);

        // Who loads what was there before its own store shows that something is wrong.
        let options = Options { memory_model, ..constants(&[("Waits", "false")]) };
        let found = verified(&forgetful, &options);
        assert!(
            matches!(found.verdict, Verdict::Broken(ViolationKind::MemoryModel(_))),
            "{:?}",
            found.verdict
        );
    }
}

#[test]
fn more_local_memories_than_there_is_room_for_are_no_error_of_the_protocol() {
    // A processor stores 300 different values, and the other one looks at none of them.
    let text = "type Proc: 1..2; Addr: 1..1; Value: 0..299;
         var memory: array [Addr] of Value; next: 0..300;
         procedure Load(p: Proc; a: Addr; v: Value); begin end;
         procedure Store(p: Proc; a: Addr; v: Value); begin end;
         startstate begin for a: Addr do memory[a] := 0; end; next := 1; end;
         ruleset p: Proc; a: Addr; v: Value do
           rule \"load\" false ==> begin Load(p, a, v); end;
           rule \"store\" p = 1 & v = next ==>
           begin memory[a] := v; next := next + 1; Store(p, a, v); end;
         end;";
    let source = Source { name: "many.m".to_owned(), text: text.to_owned() };
    let options = Options {
        memory_model: MemoryModel::Tso,
        exact: true,
        protocol: false,
        ..Options::default()
    };
    let found = verified(&source, &options);
    let Verdict::Undecided(Unknown::FalseAlarm(alarm)) = &found.verdict else {
        panic!("{:?}", found.verdict)
    };
    assert_eq!(alarm.claim, HAS_ROOM);
    // One that is still to be seen, and one for each that there is room for.
    assert_eq!(alarm.trace.events.len(), 256);
}
