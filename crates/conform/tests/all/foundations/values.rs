//! Values that are more than cargo, names that hide what observers speak of, and violations that
//! need values which the protocol does not have.

use super::*;

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
    let memory = with_memory(
        "ruleset p: Proc; a: Addr; v: Value do rule \"store\" write(a, v); Store(p, a, v); end; end;",
    );
    let start = "ruleset v: Value do startstate begin";
    let load = "procedure Load(p: Proc; a: Addr; v: Value);";
    for (from, to, name) in [
        // A start state that would be left out, or not be looked at.
        (start, "ruleset v: Value do startstate var spare: Value; begin", "spare"),
        (start, "ruleset Proc: Addr; v: Value do startstate begin", "Proc"),
        (start, "ruleset v: Value do startstate type Proc: 0..0; begin", "Proc"),
        // Events that would all be reported as one.
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
        let is_violation = matches!(found.verdict, Verdict::Broken(ViolationKind::MemoryModel(_)));
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
        assert!(
            matches!(found.verdict, Verdict::Broken(ViolationKind::Protocol)),
            "{:?}",
            found.verdict
        );
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
    assert!(
        matches!(found.verdict, Verdict::Broken(ViolationKind::MemoryModel(_))),
        "{:?}",
        found.verdict
    );
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
