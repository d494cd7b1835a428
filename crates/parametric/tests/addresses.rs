//! One address for all: what fails is not called verified, also where it takes two addresses.

#![allow(clippy::unwrap_used)] // a test may fail

use std::sync::atomic::AtomicBool;

use conform::{MemoryModel, Options};
use explore::Deadlock;
use murphi::source::Source;
use tribunal_parametric::{Addresses, End, Outcome, Plan, Question, carry_out, plan};

/// An atomic memory with more state and more rules, and what it does when it loads.
fn memory(state: &str, start: &str, loading: &str, rules: &str) -> Source {
    let text = format!(
        "type Processor: scalarset(2); Address: scalarset(2); Value: scalarset(2);
         var memory: array [Address] of Value; {state}
         procedure Load(p: Processor; a: Address; v: Value); begin end;
         procedure Store(p: Processor; a: Address; v: Value); begin end;
         ruleset v: Value do startstate begin
           for a: Address do memory[a] := v; end; {start}
         end; end;
         ruleset p: Processor; a: Address do
           rule \"load\" true ==> begin Load(p, a, memory[a]); {loading} end;
         end;
         ruleset p: Processor; a: Address; v: Value do
           rule \"store\" true ==> begin memory[a] := v; Store(p, a, v); end;
         end;
         {rules}"
    );
    Source { name: "memory.m".to_owned(), text }
}

fn asked<T>(source: &Source, then: impl FnOnce(&Plan, &Outcome) -> T) -> T {
    let mut options = Options { memory_model: MemoryModel::Sc, ..Options::default() };
    options.search.deadlock = Deadlock::Off;
    let question = Question {
        source,
        options: &options,
        memory_model: Some(MemoryModel::Sc),
        processors: None,
        concrete: None,
        named: true,
        lemmas: None,
    };
    let plan = plan(&question).expect("it can be abstracted");
    let never = AtomicBool::new(false);
    let outcome = carry_out(&question, &plan, &mut |_, _| (), &never).expect("it can be searched");
    then(&plan, &outcome)
}

/// For how many addresses a protocol is verified, if it is.
fn verified_for(source: &Source) -> Option<Addresses> {
    asked(source, |plan, outcome| {
        outcome.holds(plan).then(|| outcome.shown[0].claim.addresses.unwrap())
    })
}

fn is_broken(source: &Source) -> bool {
    asked(source, |_, outcome| matches!(outcome.end, End::Found(_)))
}

#[test]
fn a_memory_that_does_not_fail_is_verified_for_any_number_of_addresses() {
    let level = "if level[a] < 2 then level[a] := level[a] + 1; end;";
    let source = memory(
        "level: array [Address] of 0..2; table: array [0..2] of boolean;",
        "for a: Address do level[a] := 0; end; for i: 0..2 do table[i] := true; end;",
        level,
        "ruleset a: Address do
           rule \"look up\" table[level[a]] ==> begin memory[a] := memory[a]; end;
         end;",
    );
    assert_eq!(verified_for(&source), Some(Addresses::Any));
}

#[test]
fn an_index_that_two_addresses_make_too_large_is_found() {
    let source = memory(
        "level: array [Address] of 0..2; table: array [0..2] of boolean;",
        "for a: Address do level[a] := 0; end; for i: 0..2 do table[i] := true; end;",
        "if level[a] < 2 then level[a] := level[a] + 1; end;",
        "ruleset a: Address; b: Address do
           rule \"look up\" a != b & table[level[a] + level[b]] ==>
           begin memory[a] := memory[a]; end;
         end;",
    );
    assert!(is_broken(&source));
}

#[test]
fn an_error_of_two_addresses_is_found() {
    let source = memory(
        "used: array [Address] of boolean;",
        "for a: Address do used[a] := false; end;",
        "used[a] := true;",
        "ruleset a: Address; b: Address do
           rule \"both\" a != b & used[a] & used[b] ==> begin error \"both\"; end;
         end;",
    );
    assert!(is_broken(&source));
}

#[test]
fn an_error_at_one_address_that_needs_what_was_done_at_another_is_found() {
    let source = memory(
        "used: array [Address] of boolean; number: 0..1;",
        "for a: Address do used[a] := false; end; number := 0;",
        "if !used[a] then used[a] := true; number := number + 1; end;",
        "",
    );
    assert!(is_broken(&source));
}

#[test]
fn what_fails_with_three_addresses_is_verified_for_the_two_of_the_model_only() {
    let source = memory(
        "used: array [Address] of boolean; number: 0..2;",
        "for a: Address do used[a] := false; end; number := 0;",
        "if !used[a] then used[a] := true; number := number + 1; end;",
        "",
    );
    assert_eq!(verified_for(&source), Some(Addresses::Exactly(2)));
}

#[test]
fn an_assertion_of_five_processors_and_two_addresses_is_not_called_verified() {
    let source = memory(
        "seen: array [Processor] of boolean; used: array [Address] of boolean; number: 0..5;",
        "for a: Address do used[a] := false; end; for p: Processor do seen[p] := false; end;
         number := 0;",
        "used[a] := true; if !seen[p] & number < 5 then seen[p] := true; number := number + 1; end;",
        "ruleset a: Address; b: Address do
           rule \"both\" a != b & used[a] & used[b] ==> begin assert number < 5; end;
         end;",
    );
    assert_eq!(verified_for(&source), None);
}

/// A memory with a level for each address that becomes too large for a table.
fn levels(rules: &str) -> Source {
    memory(
        "level: array [Address] of 0..3; x: array [Address] of boolean; \
         table: array [0..2] of boolean; busy: boolean;",
        "for a: Address do level[a] := 0; x[a] := false; end; busy := false; \
         for i: 0..2 do table[i] := true; end;",
        "if level[a] < 3 then level[a] := level[a] + 1; end;",
        rules,
    )
}

#[test]
fn an_error_in_what_does_not_show_at_another_address_is_found() {
    let of_two = |statements: &str| {
        format!(
            "ruleset a: Address; b: Address do rule \"r\" a != b ==> begin {statements} end; end;"
        )
    };
    for rules in [
        of_two("if table[level[b]] then end; x[a] := !x[a];"),
        of_two("alias z: table[level[b]] do x[a] := false; end;"),
        of_two("x[a] := table[level[b]];"),
        of_two("put table[level[b]];"),
        of_two("if level[a] < 2 then if table[level[b]] then end; end;"),
        of_two("x[a] := !x[a]; if level[b] = 3 then error \"full\"; end;"),
        "rule \"r\" true ==> begin for b: Address do put table[level[b]]; end; end;".to_owned(),
        "rule \"r\" true ==> begin for b: Address do if table[level[b]] then end; end; end;"
            .to_owned(),
        "ruleset a: Address do rule \"r\" true ==> begin \
           for b: Address do if a != b then x[a] := table[level[b]]; end; end; end; end;"
            .to_owned(),
        "ruleset a: Address; b: Address do rule \"r\" a != b & table[level[b]] ==> \
         begin x[a] := false; end; end;"
            .to_owned(),
        "rule \"r\" exists b: Address do table[level[b]] end ==> begin busy := !busy; end;"
            .to_owned(),
    ] {
        assert!(is_broken(&levels(&rules)), "{rules}");
    }
}

#[test]
fn a_rule_of_two_addresses_that_does_not_fail_is_verified_for_any_number_of_them() {
    let source = levels(
        "ruleset a: Address; b: Address do
           rule \"r\" a != b & level[b] < 3 ==>
           begin if table[level[b]] then end; x[a] := !x[a]; end;
         end;",
    );
    assert_eq!(verified_for(&source), Some(Addresses::Any));
}

#[test]
fn that_nothing_fails_does_not_follow_from_the_number_of_addresses_in_the_text() {
    let mut source = levels("rule \"r\" true ==> begin put table[AddressCount]; end;");
    source.text =
        source.text.replacen("Address: scalarset(2)", "Address: scalarset(AddressCount)", 1);
    source.text.insert_str(0, "const AddressCount: 2; ");
    assert_eq!(verified_for(&source), Some(Addresses::Exactly(2)));
}

#[test]
fn addresses_whose_order_shows_do_not_stand_for_each_other() {
    let source = memory(
        "x: array [Address] of boolean; first: boolean;",
        "for a: Address do x[a] := false; end; first := false;",
        "",
        "rule \"r\" true ==> begin
           for a: Address do if !first then first := true; x[a] := !x[a]; end; end;
         end;",
    );
    assert_ne!(verified_for(&source), Some(Addresses::Any));
}
