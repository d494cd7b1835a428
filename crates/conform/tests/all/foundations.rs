//! What a verdict rests on: where it is not established, nothing is verified.

mod values;

use std::sync::atomic::AtomicBool;

use crate::support::{self, verified};
use murphi::diagnostic::Diagnostic;
use murphi::source::Source;
use tribunal_conform::{
    Failure, Foundation, MemoryModel, Options, Unknown, Verdict, Verification, ViolationKind,
    verify,
};

const TYPES: &str = "Proc: scalarset(2); Addr: scalarset(2); Value: scalarset(2);";

/// A protocol of these types, variables, start states and rules.
fn protocol(types: &str, rest: &str) -> Source {
    let text = format!(
        "type {types}
         procedure Load(p: Proc; a: Addr; v: Value); begin end;
         procedure Store(p: Proc; a: Addr; v: Value); begin end;
         {rest}"
    );
    Source { name: "protocol.m".to_owned(), text }
}

/// A memory without caches, with these rules that store.
fn with_memory(rules: &str) -> Source {
    let rest = format!(
        "var memory: array [Addr] of Value; spare: array [Proc] of Value; busy: boolean;
         procedure write(a: Addr; v: Value); begin memory[a] := v; end;
         ruleset v: Value do startstate begin
           for a: Addr do memory[a] := v; end; undefine spare; busy := false; end; end;
         ruleset p: Proc; a: Addr do rule \"load\" Load(p, a, memory[a]); end; end;
         {rules}"
    );
    protocol(TYPES, &rest)
}

fn options(memory_model: MemoryModel) -> Options {
    let mut options = Options { memory_model, ..Options::default() };
    options.search.deadlock = explore::Deadlock::Off;
    options
}

fn sc(source: &Source) -> Verification {
    verified(source, &options(MemoryModel::Sc))
}

fn tso(source: &Source) -> Verification {
    verified(source, &options(MemoryModel::Tso))
}

fn assuming(source: &Source) -> Verification {
    verified(source, &Options { assume_independence: true, ..options(MemoryModel::Sc) })
}

/// What is not established, with the text that is underlined.
fn open(source: &Source, found: &Verification) -> Vec<(Foundation, String)> {
    let Verdict::Undecided(Unknown::NotEstablished(doubts)) = &found.verdict else {
        panic!("{:?}", found.verdict)
    };
    let open =
        doubts.iter().map(|doubt| (doubt.about, source.slice(doubt.diagnostic.span).to_owned()));
    open.collect()
}

fn is_verified(found: &Verification) -> bool {
    matches!(found.verdict, Verdict::Holds(()))
}

/// A store that drops some values: it treats a value that was there before as done.
const DROPS_WHAT_WAS_THERE: &str = "
    var mem, old: array [Addr] of Value;
    ruleset p: Proc; a: Addr do rule \"load\" true ==> begin Load(p, a, mem[a]); end; end;
    ruleset p: Proc; a: Addr; v: Value do rule \"write\" true ==> begin
      if v != mem[a] -> v != old[a] then old[a] := mem[a]; mem[a] := v; end; Store(p, a, v); end; end;
    startstate begin for a: Addr do mem[a] := 0; old[a] := 0; end; end;";

#[test]
fn a_store_that_looks_at_values_is_not_verified_unless_that_is_assumed() {
    let types = "Proc: scalarset(2); Addr: scalarset(2); Value: 0..2;";
    let source = protocol(types, DROPS_WHAT_WAS_THERE);
    let found = sc(&source);
    let open = open(&source, &found);
    assert_eq!(open[0], (Foundation::DataIndependence, "v != mem[a]".to_owned()));
    assert!(!found.independent && found.assumed.is_empty());
    let found = assuming(&source);
    assert!(is_verified(&found), "{:?}", found.verdict);
    assert_eq!(found.assumed[0].about, Foundation::DataIndependence);
    // TSO-LB is compared with the values as they are.
    let found = tso(&source);
    assert!(
        matches!(found.verdict, Verdict::Broken(ViolationKind::MemoryModel(_))),
        "{:?}",
        found.verdict
    );
}

#[test]
fn an_assumption_about_values_excludes_states_and_is_a_decision() {
    let rules = "ruleset p: Proc; a: Addr; v: Value do
          rule \"store\" begin spare[p] := memory[a]; memory[a] := v; Store(p, a, v); end; end;
        ruleset p: Proc; a: Addr do
          rule \"load old\" !isundefined(spare[p]) ==> begin Load(p, a, spare[p]); end; end;
        assume forall a: Addr; p: Proc do isundefined(spare[p]) | memory[a] = spare[p] end;";
    let source = with_memory(rules);
    let found = sc(&source);
    assert!(!found.independent, "{:?}", found.verdict);
    // It is right with the values that it has, because others are excluded.
    assert!(is_verified(&found), "{:?}", found.verdict);
    assert!(!found.rests_on.iter().any(|one| one.includes(Foundation::DataIndependence)));
}

#[test]
fn values_that_are_not_cargo_are_compared_as_they_are_where_loads_are_timely() {
    let types = "Proc: scalarset(2); Addr: scalarset(2); Value: 0..2;";
    let rules = "var memory: array [Addr] of Value; high: boolean;
        ruleset p: Proc; a: Addr do rule \"load\" Load(p, a, memory[a]); end; end;
        ruleset p: Proc; a: Addr; v: Value do
          rule \"store\" begin high := v = 2; memory[a] := v; Store(p, a, v); end; end;
        startstate begin for a: Addr do memory[a] := 1; end; end;";
    let source = protocol(types, rules);
    let found = sc(&source);
    assert!(is_verified(&found), "{:?}", found.verdict);
    assert!(!found.independent && found.assumed.is_empty());
    assert!(!found.rests_on.iter().any(|one| one.includes(Foundation::DataIndependence)));
    // One value is lost.
    let loses = source.text.replace("memory[a] := v;", "memory[a] := (v = 2 ? 0 : v);");
    let found = sc(&Source { text: loses, ..source });
    assert!(!is_verified(&found), "{:?}", found.verdict);
}

/// Rules that store values which are not chosen for one store alone, and what is underlined.
const NOT_FREE: &[(&str, &str)] = &[
    // Twice in one rule.
    (
        "ruleset p: Proc; a: Addr; b: Addr; v: Value do rule \"both\" a != b ==> begin
           write(a, v); Store(p, a, v); write(b, v); Store(p, b, v); end; end;",
        "Store(p, b, v);",
    ),
    // What is there.
    (
        "ruleset p: Proc; a: Addr; b: Addr do rule \"copy\" begin
           write(b, memory[a]); Store(p, b, memory[a]); end; end;",
        "memory[a]",
    ),
    // What is there, by another name.
    (
        "ruleset p: Proc; a: Addr; b: Addr; v: Value do rule \"copy\" memory[a] = v ==> begin
           write(b, v); Store(p, b, v); end; end;",
        "v",
    ),
    // Chosen once, and stored as often as one likes.
    (
        "ruleset p: Proc; v: Value do rule \"choose\" begin spare[p] := v; end; end;
         ruleset p: Proc; a: Addr do rule \"store\" !isundefined(spare[p]) ==> begin
           write(a, spare[p]); Store(p, a, spare[p]); end; end;",
        "spare[p]",
    ),
    // Stored, kept, and stored again.
    (
        "ruleset p: Proc; a: Addr; v: Value do rule \"store\" begin
           write(a, v); Store(p, a, v); spare[p] := v; end; end;
         ruleset p: Proc; a: Addr do rule \"again\" !isundefined(spare[p]) ==> begin
           write(a, spare[p]); Store(p, a, spare[p]); undefine spare[p]; end; end;",
        "spare[p]",
    ),
    // In a loop.
    (
        "ruleset p: Proc; v: Value do rule \"everywhere\" begin
           for a: Addr do write(a, v); Store(p, a, v); end; end; end;",
        "for a: Addr do write(a, v); Store(p, a, v); end;",
    ),
    // By a procedure that is called twice.
    (
        "procedure put_it(p: Proc; a: Addr; v: Value); begin write(a, v); Store(p, a, v); end;
         ruleset p: Proc; a: Addr; v: Value do rule \"store\" begin
           put_it(p, a, v); busy := !busy; put_it(p, a, v); end; end;",
        "put_it(p, a, v);",
    ),
    // By a procedure that stores what is handed on twice.
    (
        "procedure twice(p: Proc; a: Addr; b: Addr; v: Value; w: Value);
         begin write(a, v); Store(p, a, v); write(b, w); Store(p, b, w); end;
         ruleset p: Proc; a: Addr; b: Addr; v: Value do rule \"store\" a != b ==> begin
           twice(p, a, b, v, v); end; end;",
        "v",
    ),
    // Two parameters that are one.
    (
        "ruleset p: Proc; a: Addr; b: Addr; v: Value; w: Value do
           rule \"store\" a != b & v = w ==> begin
             write(a, v); Store(p, a, v); write(b, w); Store(p, b, w); end; end;",
        "v",
    ),
    // One that was there at first.
    (
        "ruleset p: Proc; a: Addr do
           rule \"keep\" isundefined(spare[p]) ==> begin spare[p] := memory[a]; end;
           rule \"store\" !isundefined(spare[p]) & !busy ==> begin
             write(a, spare[p]); Store(p, a, spare[p]); busy := true; end; end;",
        "spare[p]",
    ),
    // Through a function that is called in an expression.
    (
        "function stored(p: Proc; a: Addr; v: Value): boolean;
         begin write(a, v); Store(p, a, v); return true; end;
         ruleset p: Proc; a: Addr; v: Value do rule \"store\" begin
           busy := stored(p, a, v); busy := stored(p, a, v); end; end;",
        "busy := stored(p, a, v);",
    ),
];

#[test]
fn values_that_are_stored_twice_are_not_free() {
    for (rules, underlined) in NOT_FREE {
        let source = with_memory(rules);
        let found = sc(&source);
        // Memory itself is sequentially consistent with the values that it has, and no more is said.
        assert!(is_verified(&found), "{rules}: {:?}", found.verdict);
        let is_reduced =
            found.rests_on.iter().any(|one| one.includes(Foundation::DataIndependence));
        assert!(!found.independent && !is_reduced, "{rules}");
        let not_free = "not established: every store can have a distinct value";
        let text =
            |warning: &Diagnostic| source.slice(warning.span).trim_end_matches(';').to_owned();
        let mut warnings = found.warnings.iter().filter(|one| one.message.starts_with(not_free));
        let underlined = underlined.trim_end_matches(';');
        assert!(warnings.any(|one| text(one) == underlined), "{rules}: {:#?}", found.warnings);
        let found = assuming(&source);
        assert!(is_verified(&found) && !found.assumed.is_empty(), "{rules}: {:?}", found.verdict);
    }
}

/// One store writes two addresses with one value, and the processor may miss that it has.
const TWO_OF_ONE: &str = "
    var memory, old: array [Addr] of Value; who: Proc;
    ruleset v: Value do startstate begin
      for a: Addr do memory[a] := v; old[a] := v; end; undefine who; end; end;
    ruleset p: Proc; a: Addr do
      rule \"load\" Load(p, a, memory[a]); end;
      rule \"load what was there\" !isundefined(who) & who = p ==> begin Load(p, a, old[a]); end;
    end;
    ruleset p: Proc; a: Addr; b: Addr; v: Value do rule \"store\" a != b & isundefined(who) ==> begin
      memory[a] := v; Store(p, a, v); memory[b] := v; Store(p, b, v); who := p; end; end;";

#[test]
fn a_violation_with_values_that_are_not_free_is_not_verified() {
    let source = protocol(TYPES, TWO_OF_ONE);
    let open = open(&source, &sc(&source));
    assert_eq!(open, [(Foundation::FreeValues, "Store(p, b, v)".to_owned())]);
    let found = tso(&source);
    assert!(
        matches!(found.verdict, Verdict::Broken(ViolationKind::MemoryModel(_))),
        "{:?}",
        found.verdict
    );
    // With a value for each store, the lemmas look at it.
    let text = source.text.replace("b: Addr; v: Value", "b: Addr; v: Value; w: Value");
    let text = text.replace("memory[b] := v; Store(p, b, v);", "memory[b] := w; Store(p, b, w);");
    let found = sc(&Source { text, ..source });
    assert!(
        matches!(found.verdict, Verdict::Broken(ViolationKind::MemoryModel(_))),
        "{:?}",
        found.verdict
    );
}

/// Rules whose values are free.
const FREE: &[&str] = &[
    // One way or the other.
    "ruleset p: Proc; a: Addr; v: Value do rule \"store\" begin
       write(a, v); if busy then Store(p, a, v); else busy := true; Store(p, a, v); end; end; end;",
    "ruleset p: Proc; a: Addr; v: Value do rule \"store\" begin
       write(a, v); switch busy case true: Store(p, a, v); else Store(p, a, v); end; end; end;",
    // Handed on.
    "procedure put_it(p: Proc; a: Addr; v: Value); begin write(a, v); Store(p, a, v); end;
     ruleset p: Proc; a: Addr; v: Value do rule \"store\" put_it(p, a, v); end; end;",
    // Two values, one for each.
    "ruleset p: Proc; a: Addr; b: Addr; v: Value; w: Value do rule \"store\" a != b ==> begin
       write(a, v); Store(p, a, v); write(b, w); Store(p, b, w); end; end;",
    // Chosen first, and stored and forgotten later. The states say so.
    "ruleset p: Proc; v: Value do
       rule \"choose\" isundefined(spare[p]) ==> begin spare[p] := v; end; end;
     ruleset p: Proc; a: Addr do rule \"store\" !isundefined(spare[p]) ==> begin
       write(a, spare[p]); Store(p, a, spare[p]); undefine spare[p]; end; end;",
    // Through a variable of the rule.
    "ruleset p: Proc; a: Addr; v: Value do rule \"store\" var w: Value; begin
       w := v; write(a, w); Store(p, a, w); end; end;",
];

#[test]
fn values_that_are_chosen_for_one_store_are_free() {
    for rules in FREE {
        let source = with_memory(rules);
        let found = sc(&source);
        assert!(is_verified(&found), "{rules}: {:?}", found.verdict);
        assert!(found.independent, "{rules}: {:#?}", found.warnings);
        let reduced = found.rests_on.iter().any(|one| one.includes(Foundation::FreeValues));
        assert!(reduced, "{rules}");
    }
}

#[test]
fn any_first_value_is_as_good_as_the_lowest() {
    let memory = |start: &str| {
        format!(
            "var memory: array [Addr] of Value;
             procedure all(v: Value); begin for a: Addr do memory[a] := v; end; end;
             ruleset p: Proc; a: Addr do rule \"load\" Load(p, a, memory[a]); end; end;
             ruleset p: Proc; a: Addr; v: Value do
               rule \"store\" begin memory[a] := v; Store(p, a, v); end; end;
             {start}"
        )
    };
    let named = "startstate begin for a: Addr do memory[a] := FIRST; end; end;";
    let cases = [
        ("0..3", named.replace("FIRST", "3")),
        ("0..3", named.replace("FIRST", "1 + 2")),
        ("2..5", named.replace("FIRST", "4")),
        ("0 - 3..0 - 1", named.replace("FIRST", "0 - 1")),
        ("enum {red, green, blue}", named.replace("FIRST", "blue")),
        ("0..3", "startstate begin all(3); end;".to_owned()),
        ("0..3", "startstate begin clear memory; end;".to_owned()),
        ("0..3", "startstate begin all(3); end; startstate begin all(2); end;".to_owned()),
        ("0..3", "ruleset v: Value do startstate begin all(v); end; end;".to_owned()),
        ("scalarset(3)", "ruleset v: Value do startstate begin all(v); end; end;".to_owned()),
    ];
    for (values, start) in cases {
        let types = format!("Proc: scalarset(2); Addr: scalarset(2); Value: {values};");
        let source = protocol(&types, &memory(&start));
        for found in [sc(&source), tso(&source)] {
            assert!(is_verified(&found), "{values}: {start}: {:?}", found.verdict);
            assert!(found.independent, "{values}: {start}: {:?}", found.warnings);
        }
        // A load of what nobody stored and nothing began with is noticed as before.
        let wrong = source.text.replace("Load(p, a, memory[a])", "Load(p, a, kept)");
        let wrong = wrong.replace("memory[a] := v; Store(p, a, v);", "Store(p, a, v);");
        let wrong = wrong.replace("var memory", "var kept: Value; memory");
        let wrong = wrong.replace("startstate begin", "startstate begin kept := FIRST;");
        let first = match (values, start.contains("v: Value")) {
            (_, true) => "v",
            ("enum {red, green, blue}", _) => "blue",
            ("2..5", _) => "4",
            ("0 - 3..0 - 1", _) => "0 - 1",
            _ if start.contains("all(2)") => continue,
            _ if start.contains("clear") => "0",
            _ => "3",
        };
        let wrong = Source { text: wrong.replace("FIRST", first), ..source };
        for found in [sc(&wrong), tso(&wrong)] {
            assert!(
                matches!(found.verdict, Verdict::Broken(ViolationKind::MemoryModel(_))),
                "{values}: {start}: {:?}",
                found.verdict
            );
        }
    }
}

/// A memory and a copy of it, which the start states fill.
fn with_copy(values: &str, start: &str) -> Source {
    let types = format!("Proc: scalarset(2); Addr: scalarset(1); Value: {values};");
    let rest = format!(
        "var memory, copy: array [Addr] of Value;
         ruleset p: Proc; a: Addr do
           rule \"load\" Load(p, a, memory[a]); end;
           rule \"load the copy\" !isundefined(copy[a]) ==> begin Load(p, a, copy[a]); end; end;
         ruleset p: Proc; a: Addr; v: Value do
           rule \"store\" begin memory[a] := v; undefine copy; Store(p, a, v); end; end;
         {start}"
    );
    protocol(&types, &rest)
}

#[test]
fn start_states_with_unequal_copies_are_not_left_out_silently() {
    let each = "for a: Addr do memory[a] := V; copy[a] := W; end; end;";
    let each = |v: &str, w: &str| each.replace('V', v).replace('W', w);
    let different = [
        ("0..1", format!("ruleset v: Value; w: Value do startstate begin {} end;", each("v", "w"))),
        (
            "scalarset(2)",
            format!("ruleset v, w: Value do startstate begin {} end;", each("v", "w")),
        ),
        ("0..3", format!("startstate begin {}", each("2", "3"))),
        (
            "0..3",
            format!("startstate begin {} startstate begin {}", each("0", "0"), each("0", "1")),
        ),
        ("0..3", format!("ruleset v: Value do startstate begin {} end;", each("v", "1"))),
        (
            "0..3",
            "startstate begin clear memory; for a: Addr do copy[a] := 1; end; end;".to_owned(),
        ),
    ];
    for (values, start) in different {
        let source = with_copy(values, &start.replace("v, w: Value", "v: Value; w: Value"));
        for found in [sc(&source), tso(&source), assuming(&source)] {
            let open = open(&source, &found);
            assert_eq!(open.len(), 1, "{start}: {open:?}");
            assert_eq!(open[0].0, Foundation::StartStates, "{start}");
            assert!(open[0].1.starts_with("startstate"), "{start}: {open:?}");
        }
    }
    // What looks different is the same, or excluded by the protocol itself.
    let the_same = [
        ("0..3", format!("ruleset v: Value; w: Value do startstate begin {} end;", each("v", "v"))),
        ("0..3", format!("startstate begin {}", each("2", "2"))),
        (
            "0..1",
            format!(
                "ruleset v: Value; w: Value do startstate begin assume v = w; {} end;",
                each("v", "w")
            ),
        ),
    ];
    for (values, start) in the_same {
        let source = with_copy(values, &start);
        let found = tso(&source);
        assert!(is_verified(&found), "{start}: {:?}", found.verdict);
    }
}

#[test]
fn an_error_with_other_values_is_reported_where_the_protocol_has_it() {
    // A table that is as long as there are values of the protocol, and no longer.
    let types = "Proc: scalarset(2); Addr: scalarset(2); Value: 0..1;";
    let rules = "var memory: array [Addr] of Value; seen: array [0..1] of boolean; n: 0..3;
        ruleset p: Proc; a: Addr do rule \"load\" Load(p, a, memory[a]); end; end;
        ruleset p: Proc; a: Addr; v: Value do
          rule \"store\" begin seen[v] := true; memory[a] := v; Store(p, a, v); end; end;
        startstate begin for a: Addr do memory[a] := 0; end; clear seen; n := 0; end;";
    let source = protocol(types, rules);
    let found = sc(&source);
    assert!(is_verified(&found) && !found.independent, "{:?}", found.verdict);
    assert!(!found.rests_on.iter().any(|one| one.includes(Foundation::DataIndependence)));
    // If loads are not timely, nothing is known.
    let late = "ruleset a: Addr; p: Proc do rule \"catch up\" late[a] := memory[a]; end;
          rule \"load late\" !isundefined(late[a]) ==> begin Load(p, a, late[a]); end; end;";
    let text = source.text.replace("var memory", "var late: array [Addr] of Value; memory");
    let late = Source { text: text + late, ..source.clone() };
    let open = open(&late, &sc(&late));
    let [(Foundation::DataIndependence, decision), (Foundation::OtherValues, failing)] = &open[..]
    else {
        panic!("{open:?}")
    };
    assert!(decision == "v" && failing.starts_with("rule \"store\""), "{open:?}");

    // What fails with its own values as well is broken, and reported as a run of the protocol.
    let broken = source.text.replace("seen[v] := true;", "n := n + 1;");
    let broken = Source { text: broken, ..source.clone() };
    let found = sc(&broken);
    assert!(
        matches!(found.verdict, Verdict::Broken(ViolationKind::Protocol)),
        "{:?}",
        found.verdict
    );
    let last = found.lemmas.last().expect("there is one");
    assert_eq!(last.interpreter.model().source.text, broken.text);

    // An event without a value is one that only an observer notices.
    let nothing = source.text.replace("seen[v] := true;", "undefine memory;");
    let nothing = nothing.replace("memory[a] := v; Store", "Store");
    let nothing = Source { text: nothing, ..source };
    let found = sc(&nothing);
    assert!(
        matches!(found.verdict, Verdict::Broken(ViolationKind::Protocol)),
        "{:?}",
        found.verdict
    );
    let place = found.broken.expect("it has a place");
    assert!(nothing.slice(place.span).starts_with("rule \"load\""), "{place:?}");
}

#[test]
fn every_protocol_of_the_project_rests_on_what_its_source_shows() {
    for name in
        ["mi", "msi", "mesi", "moesi", "tso-cc", "piranha", "lazy-caching", "msi-store-buffer"]
    {
        let source = support::protocol(name);
        let composed = tribunal_conform::composed_programs(&source, &Options::default());
        let composed = composed.unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
        let claims: Vec<&str> =
            composed.programs.iter().chain(&composed.by_address).map(|(name, _)| &**name).collect();
        let (against, assumed) = composed.grounds.of(&claims, false);
        assert!(against.is_empty() && assumed.is_empty(), "{name}: {against:#?}");
    }
}

#[test]
fn a_store_without_a_value_is_broken() {
    let rules = "ruleset p: Proc; a: Addr do rule \"store\" begin Store(p, a, spare[p]); end; end;";
    let source = with_memory(rules);
    for found in [sc(&source), tso(&source)] {
        assert!(
            matches!(found.verdict, Verdict::Broken(ViolationKind::Protocol)),
            "{:?}",
            found.verdict
        );
        let place = found.broken.expect("it has a place");
        assert!(source.slice(place.span).starts_with("rule \"store\""), "{place:?}");
    }
    // After a store of a value that no lemma has, only the observer of timely loads sees it.
    let rules = "ruleset p: Proc; a: Addr do
          rule \"two\" begin memory[a] := 2; busy := true; Store(p, a, 2); end;
          rule \"store\" busy ==> begin undefine memory[a]; Store(p, a, spare[p]); end; end;";
    let source = with_memory(rules);
    let text = source.text.replace("Value: scalarset(2)", "Value: 0..2");
    let found = sc(&Source { text, ..source });
    assert!(
        matches!(found.verdict, Verdict::Undecided(Unknown::NotEstablished(_))),
        "{:?}",
        found.verdict
    );
}
