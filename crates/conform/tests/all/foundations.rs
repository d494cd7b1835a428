//! What a verdict rests on: where it is not established, nothing is verified.

use std::sync::atomic::AtomicBool;

use crate::support::{self, verified};
use murphi::diagnostic::Diagnostic;
use murphi::source::Source;
use tribunal_conform::{Failure, Foundation, MemoryModel, Options, Verdict, Verification, verify};

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
    let Verdict::NotEstablished(doubts) = &found.verdict else { panic!("{:?}", found.verdict) };
    let open =
        doubts.iter().map(|doubt| (doubt.about, source.slice(doubt.diagnostic.span).to_owned()));
    open.collect()
}

fn is_verified(found: &Verification) -> bool {
    matches!(found.verdict, Verdict::Verified)
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
    assert!(matches!(found.verdict, Verdict::Violation(_)), "{:?}", found.verdict);
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
        let not_free = "a value of its own for every store is not established";
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
    assert!(matches!(found.verdict, Verdict::Violation(_)), "{:?}", found.verdict);
    // With a value for each store, the lemmas look at it.
    let text = source.text.replace("b: Addr; v: Value", "b: Addr; v: Value; w: Value");
    let text = text.replace("memory[b] := v; Store(p, b, v);", "memory[b] := w; Store(p, b, w);");
    let found = sc(&Source { text, ..source });
    assert!(matches!(found.verdict, Verdict::Violation(_)), "{:?}", found.verdict);
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
                matches!(found.verdict, Verdict::Violation(_)),
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
fn an_error_with_other_values_is_told_where_the_protocol_has_it() {
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

    // What fails with its own values as well is broken, and told as a run of the protocol.
    let broken = source.text.replace("seen[v] := true;", "n := n + 1;");
    let broken = Source { text: broken, ..source.clone() };
    let found = sc(&broken);
    assert!(matches!(found.verdict, Verdict::Broken), "{:?}", found.verdict);
    let last = found.lemmas.last().expect("there is one");
    assert_eq!(last.interpreter.model().source.text, broken.text);

    // An event without a value is one that only an observer notices.
    let nothing = source.text.replace("seen[v] := true;", "undefine memory;");
    let nothing = nothing.replace("memory[a] := v; Store", "Store");
    let nothing = Source { text: nothing, ..source };
    let found = sc(&nothing);
    assert!(matches!(found.verdict, Verdict::Broken), "{:?}", found.verdict);
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
        assert!(matches!(found.verdict, Verdict::Broken), "{:?}", found.verdict);
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
    assert!(matches!(found.verdict, Verdict::NotEstablished(_)), "{:?}", found.verdict);
}

/// Types, and rules of a memory that treats values as more than cargo in a way that is easily missed,
/// with what is underlined. Each is wrong: it loads what was there at first when it should not.
const NOT_CARGO: &[(&str, &str, &str)] = &[
    // What a multiset of another type holds is looked at.
    (
        "Value: 0..2; Tick: 0..2;",
        "var memory: array [Addr] of Value; first: Value; net: multiset [1] of Tick; seen: boolean;
         startstate begin for a: Addr do memory[a] := 0; end; first := 0; seen := false; end;
         ruleset p: Proc; a: Addr; v: Value do rule \"store\" begin
             seen := MultisetCount(i: net, net[i] = 2) = 1; MultisetRemovePred(i: net, true);
             memory[a] := v; Store(p, a, v); MultisetAdd(v, net); end; end;
         ruleset p: Proc; a: Addr do rule seen & MultisetCount(i: net, net[i] = 1) = 1 ==> begin
             Load(p, a, first); end; end;",
        "v",
    ),
    // A value that comes from a multiset comes from nowhere.
    (
        "Value: 0..2;",
        "var memory: array [Addr] of Value; net: multiset [1] of Value; stored: boolean;
         startstate begin for a: Addr do memory[a] := 1; end; stored := false; end;
         ruleset p: Proc; a: Addr; v: Value do rule \"store\" begin
             memory[a] := v; Store(p, a, v); stored := true; end; end;
         rule MultisetCount(i: net, true) = 0 ==> begin MultisetAdd(0, net); end;
         choose i: net do ruleset p: Proc; a: Addr do rule !stored ==> begin
             Load(p, a, net[i]); end; end; end;",
        "0",
    ),
    // Two records look the same, and what one calls data the other does not.
    (
        "Value: 0..2; Tick: 0..2; R: record d: Value; n: Tick; end;
         S: record d: Tick; n: Value; end;",
        "var memory: array [Addr] of Value; first: Value; r: R; s: S; seen: boolean;
         startstate begin for a: Addr do memory[a] := 0; end;
           first := 0; r.d := 0; r.n := 0; s := r; seen := false; end;
         ruleset p: Proc; a: Addr; v: Value do rule \"store\" begin
             seen := s.d = 2; memory[a] := v; Store(p, a, v); r.d := v; s := r; end; end;
         ruleset p: Proc; a: Addr do rule seen & s.d = 1 ==> begin Load(p, a, first); end; end;",
        "r",
    ),
    // The same, by reference.
    (
        "Value: 0..2; Tick: 0..2; R: record d: Value; n: Tick; end;
         S: record d: Tick; n: Value; end;",
        "var memory: array [Addr] of Value; first: Value; r: R; two: boolean; seen: boolean;
         procedure look(var s: S); begin seen := two & s.d = 1; two := s.d = 2; end;
         startstate begin for a: Addr do memory[a] := 0; end;
           first := 0; r.d := 0; r.n := 0; two := false; seen := false; end;
         ruleset p: Proc; a: Addr; v: Value do rule \"store\" begin
             memory[a] := v; Store(p, a, v); r.d := v; look(r); end; end;
         ruleset p: Proc; a: Addr do rule seen ==> begin Load(p, a, first); end; end;",
        "r",
    ),
    // Going through a union goes through the values in it.
    (
        "Value: enum {A, B}; Other: enum {X}; Either: union {Value, Other};",
        "var memory: array [Addr] of Value; w: Value; found: boolean; stored: boolean;
         startstate begin
           for a: Addr do memory[a] := B; end; found := false; stored := false; end;
         ruleset p: Proc; a: Addr; v: Value do rule \"store\" begin
             memory[a] := v; Store(p, a, v); stored := true; end; end;
         ruleset p: Proc; a: Addr do rule !stored ==> begin
             found := false;
             for u: Either do if !found & ismember(u, Value) then w := u; found := true; end; end;
             Load(p, a, w); undefine w; end; end;",
        "u: Either",
    ),
    // A value that leaves a union may be any.
    (
        "Value: enum {A, B}; Other: enum {X}; Either: union {Value, Other};",
        "var memory: array [Addr] of Value; u: Either; stored: boolean;
         startstate begin for a: Addr do memory[a] := B; end; u := A; stored := false; end;
         ruleset p: Proc; a: Addr; v: Value do rule \"store\" begin
             memory[a] := v; Store(p, a, v); stored := true; end; end;
         ruleset p: Proc; a: Addr do rule !stored ==> begin Load(p, a, u); end; end;",
        "u",
    ),
];

#[test]
fn values_that_leave_their_type_are_not_cargo() {
    for (types, rest, underlined) in NOT_CARGO {
        let types = format!("Proc: scalarset(2); Addr: scalarset(1); {types}");
        let load = "ruleset p: Proc; a: Addr do rule \"load\" Load(p, a, memory[a]); end; end;";
        let source = protocol(&types, &format!("{rest}\n{load}"));
        let found = sc(&source);
        assert!(!is_verified(&found), "{rest}");
        let cargo = [Foundation::Causality, Foundation::DataIndependence];
        let mut doubts = found.foundations.doubts().iter();
        let is_underlined = doubts.any(|doubt| {
            cargo.contains(&doubt.about) && source.slice(doubt.diagnostic.span) == *underlined
        });
        assert!(is_underlined, "{rest}: {:#?}", found.foundations);
    }
}

#[test]
fn names_that_hide_what_an_observer_speaks_of_are_refused() {
    let memory = with_memory("");
    let start = "ruleset v: Value do startstate begin";
    let load = "procedure Load(p: Proc; a: Addr; v: Value);";
    for (from, to, name) in [
        // A start state that would be left out, or not be looked at.
        (start, "ruleset v: Value do startstate var spare: Value; begin", "spare"),
        (start, "ruleset Proc: Addr; v: Value do startstate begin", "Proc"),
        (start, "ruleset v: Value do startstate type Proc: 0..0; begin", "Proc"),
        // Events that would all be told as one.
        (load, "procedure Load(p: Proc; a: Addr; v: Value); const v: 0;", "v"),
        (load, "procedure Load(p: Proc; a: Addr; v: Value); var e: enum {a, b};", "a"),
    ] {
        let text = memory.text.replacen(from, to, 1);
        assert_ne!(text, memory.text);
        let source = Source { text, ..memory.clone() };
        let options = options(MemoryModel::Tso);
        let refused = verify(&source, &options, &mut |_, _| (), &AtomicBool::new(false));
        let Err(Failure::Unsuitable(errors)) = refused else { panic!("{to}: {refused:?}") };
        let [error] = &errors[..] else { panic!("{to}: {errors:?}") };
        assert!(error.message.contains("hides"), "{to}: {}", error.message);
        assert_eq!(source.slice(error.span), name, "{to}");
    }
    // What observers do not speak of may be hidden.
    let text = memory.text.replacen(start, &start.replace("begin", "var busy: Proc; begin"), 1);
    let text = text.replacen("busy := false;", "", 1);
    assert!(is_verified(&tso(&Source { text, ..memory })));
}

#[test]
fn a_procedure_marks_one_kind_of_event() {
    let source = with_memory("");
    for (load, commit) in [("Store", None), ("Load", Some("Store".to_owned()))] {
        let mut options = options(MemoryModel::Sc);
        options.events.load = load.to_owned();
        options.events.commit = commit;
        let refused = verify(&source, &options, &mut |_, _| (), &AtomicBool::new(false));
        let Err(Failure::Unsuitable(errors)) = refused else { panic!("{refused:?}") };
        assert_eq!(errors[0].message, "`Store` cannot mark two kinds of events");
    }
}

#[test]
fn a_violation_has_values_that_the_protocol_has() {
    // It forgets only what it is never given.
    let types = "Proc: scalarset(2); Addr: scalarset(2); Value: 0..1;";
    let rules = "var memory: array [Addr] of Value; first: Value;
        startstate begin for a: Addr do memory[a] := 0; end; first := 0; end;
        ruleset p: Proc; a: Addr do
          rule \"load\" Load(p, a, memory[a]); end;
          rule \"forget\" memory[a] > 1 ==> begin Load(p, a, first); end; end;
        ruleset p: Proc; a: Addr; v: Value do
          rule \"store\" begin memory[a] := v; Store(p, a, v); end; end;";
    let source = protocol(types, rules);
    let found = sc(&source);
    assert!(is_verified(&found) && !found.independent, "{:?}", found.verdict);
    assert!(!found.rests_on.iter().any(|one| one.includes(Foundation::DataIndependence)));
    // Where loads are late, nothing is known: one processor stores, the other reads a copy.
    let rules = "var memory, late: array [Addr] of Value; first: Value;
        startstate begin
          for a: Addr do memory[a] := 0; end; late := memory; first := 0; end;
        rule \"catch up\" late := memory; end;
        ruleset a: Addr do
          rule \"load late\" Load(2, a, late[a]); end;
          rule \"forget\" memory[a] > 1 ==> begin Load(2, a, first); end; end;
        ruleset a: Addr; v: Value do
          rule \"store\" begin memory[a] := v; Store(1, a, v); end; end;";
    let late = protocol(&types.replace("Proc: scalarset(2)", "Proc: 1..2"), rules);
    let open = open(&late, &sc(&late));
    assert_eq!(open[0], (Foundation::DataIndependence, "memory[a] > 1".to_owned()));
    let (about, last) = open.last().expect("there are two");
    assert!(*about == Foundation::OtherValues && last.starts_with("rule"), "{open:?}");
    // With that value, or one that it has, it is a violation.
    for (values, least) in [("0..2", "1"), ("0..1", "0")] {
        let text = source.text.replace("Value: 0..1", &format!("Value: {values}"));
        let text = text.replace("memory[a] > 1", &format!("memory[a] > {least}"));
        let wrong = Source { text, ..source.clone() };
        let found = sc(&wrong);
        let is_violation = matches!(found.verdict, Verdict::Violation(_));
        assert!(is_violation, "{values}: {:?}", found.verdict);
        assert!(!is_verified(&tso(&wrong)), "{values}");
    }
}

#[test]
fn a_value_from_nowhere_is_judged_by_the_values_of_the_protocol() {
    // It names the value that everything holds at first, as long as that is there.
    let types = "Proc: scalarset(2); Addr: scalarset(2); Value: 0..1;";
    let rules = "var memory: array [Addr] of Value; stored: boolean;
        startstate begin for a: Addr do memory[a] := 1; end; stored := false; end;
        ruleset p: Proc; a: Addr do
          rule \"load\" Load(p, a, memory[a]); end;
          rule \"load by name\" !stored ==> begin Load(p, a, 1); end; end;
        ruleset p: Proc; a: Addr; v: Value do
          rule \"store\" begin memory[a] := v; Store(p, a, v); stored := true; end; end;";
    let source = protocol(types, rules);
    for found in [sc(&source), tso(&source)] {
        assert!(is_verified(&found) && !found.independent, "{:?}", found.verdict);
    }
    let wrong = Source { text: source.text.replace("Load(p, a, 1)", "Load(p, a, 0)"), ..source };
    for found in [sc(&wrong), tso(&wrong)] {
        assert!(!is_verified(&found), "{:?}", found.verdict);
    }
}

#[test]
fn a_store_without_a_value_that_waits_for_its_commit_is_broken() {
    let rules = "procedure Commit(p: Proc; a: Addr; v: Value); begin end;
        ruleset p: Proc; a: Addr do
          rule \"store\" !busy ==> begin Store(p, a, spare[p]); busy := true; end; end;";
    let source = with_memory(rules);
    for found in [sc(&source), tso(&source)] {
        assert!(matches!(found.verdict, Verdict::Broken), "{:?}", found.verdict);
        let place = found.broken.expect("it has a place");
        assert!(source.slice(place.span).starts_with("rule \"store\""), "{place:?}");
    }
}

/// One value, stored at two addresses. Then the first value is stored again at one of them and
/// another value at the other, and who sees that one may still see the value before at the first.
const ODD: &str = "
    var memory, old: array [Addr] of Value; first: Value; step: 0..3; x, y: Addr; who: Proc;
        seen: boolean;
    startstate begin for a: Addr do memory[a] := 0; undefine old[a]; end;
      first := 0; step := 0; seen := false; undefine x; undefine y; undefine who; end;
    ruleset p: Proc; a: Addr; b: Addr; v: Value do
      rule step = 0 & a != b ==> begin
        who := p; x := a; y := b; memory[x] := v; Store(p, x, v); memory[y] := v; Store(p, y, v);
        old[x] := v; step := 1; end;
      rule step = 1 & p = who & a = x & b = y ==> begin
        memory[x] := first; Store(p, x, first); step := 2; end;
      rule step = 2 & p = who & a = x & b = y ==> begin
        memory[y] := v; Store(p, y, v); step := 3; end;
    end;
    ruleset p: Proc do rule step = 3 & p != who & !seen ==> begin
        Load(p, y, memory[y]); Load(p, x, old[x]); seen := true; end; end;";

#[test]
fn two_values_stand_for_any_number_only_if_stores_have_their_own() {
    let types = |values| format!("Proc: scalarset(2); Addr: scalarset(2); Value: {values};");
    let one = protocol(&types("0..0"), ODD);
    assert!(open(&one, &tso(&one)).iter().any(|(about, _)| *about == Foundation::FreeValues));
    let three = protocol(&types("0..2"), ODD);
    let found = tso(&three);
    assert!(matches!(found.verdict, Verdict::Violation(_)), "{:?}", found.verdict);
}

#[test]
fn places_may_be_indexed_by_an_enumeration_without_a_name() {
    let rest = "var memory: array [enum {near, far}] of array [Addr] of Value;
        ruleset v: Value do startstate begin
          for a: Addr do memory[near][a] := v; memory[far][a] := v; end; end; end;
        ruleset p: Proc; a: Addr do rule \"load\" Load(p, a, memory[near][a]); end; end;
        ruleset p: Proc; a: Addr; v: Value do
          rule \"store\" begin memory[near][a] := v; Store(p, a, v); end; end;";
    for values in ["0..1", "scalarset(2)"] {
        let types = format!("Proc: scalarset(2); Addr: scalarset(2); Value: {values};");
        let source = protocol(&types, rest);
        for found in [sc(&source), tso(&source)] {
            assert!(is_verified(&found), "{values}: {:?}", found.verdict);
        }
    }
}
