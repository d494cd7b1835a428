//! Programs in which the order of members would decide if it were looked at: what they are called with
//! and without symmetry, natively and interpreted, against brute force, and how many states they have.

use crate::brute_force::Kind::{self, Deadlock, Verified, Violation};
use crate::symmetric_programs::{covered, examine, read};
use tribunal_explore::Deadlock as Asked;

/// Members die one at a time; one that is left holds 1, for which `t` is too short or undefined.
const DYING: &str = "
    type P: scalarset(2);
    var dead: array [P] of boolean; st: array [P] of 0..1; t: array [0..0] of boolean; ok: boolean;
        bag: multiset [2] of P; ref: P;
    ruleset p: P do
      rule \"die\" forall q: P do !dead[q] end ==> begin dead[p] := true; end;
      rule \"one\" !dead[p] & (exists q: P do dead[q] end) ==> begin st[p] := 1; end;
    end;
    startstate begin
      for q: P do st[q] := 0; dead[q] := false; MultisetAdd(q, bag); end; t[0] := true; ok := true;
    end;\n";

fn is(expected: Kind, rest: &str) {
    let text = format!("{DYING}{rest}");
    let found = examine(&text, Asked::Off, &mut Default::default());
    assert_eq!(found, Ok(Some(expected)), "{rest}");
    assert!(read(&text).ordered.is_empty(), "there is nothing to see of an order: {rest}");
}

#[test]
fn an_error_of_any_member_is_an_error_of_a_quantifier() {
    is(Violation, "rule exists q: P do t[st[q]] end ==> begin ok := !ok; end;");
    is(Violation, "rule forall q: P do !t[st[q]] end ==> begin ok := !ok; end;");
    is(Violation, "rule !exists q: P do st[q] = 0 & t[0] | t[st[q]] end ==> begin end;");
    is(Violation, "rule begin ok := exists q: P do t[st[q]] end; end;");
    is(Violation, "invariant exists q: P do t[st[q]] end;");
    is(Violation, "rule exists q: P do exists r: P do q != r & t[st[r]] end end ==> begin end;");
    // An undefined value in the place of the index.
    let undefined = "ruleset p: P do rule st[p] = 1 ==> begin undefine st[p]; end; end;";
    is(Violation, &format!("{undefined} rule exists q: P do st[q] = 0 end ==> begin end;"));
    is(Verified, "rule exists q: P do st[q] = 0 | !t[0] end ==> begin ok := !ok; end;");
    // A range has an order.
    is(Verified, "rule exists i: 0..1 do i = 0 | t[i] end ==> begin ok := !ok; end;");
}

#[test]
fn an_error_of_any_member_is_an_error_of_a_union_or_a_multiset() {
    let union = DYING.replace("scalarset(2);", "scalarset(2); U: union { P, enum { nobody } };");
    let rule = "rule exists u: U do ismember(u, P) & t[st[u]] end ==> begin end;";
    let text = format!("{union}{}", rule.replace("st[u]", "at(u)"));
    let text = text.replace(
        "ruleset p: P do\n",
        "function at(u: U): 0..1; begin alias m: u do
        for q: P do if m = q then if st[q] = 1 then return 1; end; end; end; return 0; end; end;
        ruleset p: P do\n",
    );
    let found = examine(&text, Asked::Off, &mut Default::default());
    assert_eq!(found, Ok(Some(Violation)), "{text}");
    is(Violation, "rule MultisetCount(i: bag, t[st[bag[i]]]) > 0 ==> begin ok := !ok; end;");
    is(Violation, "rule begin MultisetRemovePred(i: bag, t[st[bag[i]]]); end;");
}

#[test]
fn an_error_of_any_round_is_an_error_of_a_loop_that_returns() {
    let function = |body: &str| {
        format!(
            "function f(): boolean; var k: 0..1; begin for q: P do {body} end; return false; end;
             rule f() ==> begin ok := !ok; end;"
        )
    };
    is(Violation, &function("if t[st[q]] then return true; end;"));
    is(Violation, &function("k := st[q]; if t[k] then return true; end;"));
    is(Violation, &function("for r: P do if q != r & t[st[r]] then return true; end; end;"));
    is(Violation, "rule begin for q: P do if t[st[q]] then return; end; end; ok := !ok; end;");
}

#[test]
fn an_error_of_any_round_is_an_error_of_a_loop_that_excludes() {
    let round = |body: &str| format!("rule begin for q: P do {body} end; ok := !ok; end;");
    // The member that is dead is excluded, the other one fails.
    is(Violation, &round("assume !dead[q]; if t[st[q]] then dead[q] := false; end;"));
    is(Violation, &round("if t[st[q]] then ok := true; end; assume !dead[q];"));
    is(Violation, &round("for r: P do if q = r then assume !dead[q]; end; end; assert t[st[q]];"));
    // Both are excluded before they fail, so nothing fails.
    let fails = "assert t[st[q]] | dead[q];";
    is(Verified, &round(&format!("assume forall r: P do st[r] = 0 end; {fails}")));
    // A round that is excluded does not keep the others from being counted.
    let sums = "var k: 0..1; begin k := 0; for q: P do assume !dead[q]; k := k + 1; end; end;";
    is(Violation, &format!("rule {sums}"));
    let one = sums.replace(
        "assume !dead[q]; k := k + 1;",
        "if dead[q] then k := k + 1; end; assume !dead[q];",
    );
    is(Verified, &format!("rule {one}"));
    // A loop that returns in one round and excludes in another is excluded.
    let both = "function f(): boolean; begin for q: P do assume !dead[q]; if st[q] = 1 then return true; end; end; return false; end;";
    is(Verified, &format!("{both} rule f() ==> begin error \"the dead member is excluded\"; end;"));
}

#[test]
fn an_instance_of_a_property_does_not_hide_the_error_of_another() {
    let all_zero = "forall q: P do st[q] = 0 end";
    is(Violation, &format!("ruleset p: P do assume t[st[p]] & (dead[p] -> {all_zero}); end;"));
    is(Violation, "ruleset p: P do cover t[st[p]]; end;");
    is(Violation, "ruleset p: P do invariant t[st[p]]; end;");
}

#[test]
fn what_a_function_excludes_for_a_member_does_not_depend_on_the_order() {
    let assuming = "function f(a: P): boolean; begin assume st[a] = 0; return dead[a]; end;";
    is(Verified, &format!("{assuming} rule exists q: P do f(q) end ==> begin ok := !ok; end;"));
    is(Verified, &format!("{assuming} rule forall q: P do f(q) end ==> begin ok := !ok; end;"));
    is(
        Verified,
        &format!("{assuming} rule MultisetCount(i: bag, f(bag[i])) = 1 ==> begin ok := !ok; end;"),
    );
    let failing = "function f(a: P): boolean; begin assume !dead[a]; return t[st[a]]; end;";
    is(Violation, &format!("{failing} rule exists q: P do f(q) end ==> begin ok := !ok; end;"));
}

#[test]
fn where_the_order_shows_there_is_no_symmetry() {
    for rest in [
        "rule begin for q: P do if dead[q] then ref := q; return; end; end; end;",
        "rule begin for q: P do ok := ok & t[st[q]]; end; end;",
        "rule begin for q: P do assume ok; if dead[q] then ok := false; end; end; end;",
        "rule var k: 0..9; begin k := 0; for q: P do if dead[q] then k := k + 1; end; assume k < 2; end; end;",
        "rule begin for q: P do if !dead[q] then ref := q; end; assume st[q] = 1; end; end;",
        "rule begin for q: P do if st[q] = 1 then ref := q; end; end; end;",
        "function f(): P; begin for q: P do if st[q] = 0 then return q; end; end; end;
         rule begin ref := f(); end;",
    ] {
        let text = format!("{DYING}{rest}");
        assert!(!read(&text).ordered.is_empty(), "{rest}");
        let found = examine(&text, Asked::Off, &mut Default::default());
        assert!(found.is_ok(), "{rest}: {found:?}");
    }
}

#[test]
fn a_start_state_may_show_the_order() {
    let owned = "type P: scalarset(3); var owner: P; held: array [P] of boolean;
        startstate begin for p: P do held[p] := false; owner := p; end; end;
        ruleset p: P do
          rule \"take\" !held[p] ==> begin held[p] := true; end;
          rule \"drop\" held[p] & p != owner ==> begin held[p] := false; end;
          rule \"pass\" held[p] & !held[owner] ==> begin owner := p; end;
        end;\n";
    let orders = read(owned).ordered.clone();
    assert!(!orders.is_empty() && orders.iter().all(|ordered| ordered.at_start));
    for (property, expected) in [
        ("invariant exists p: P do p = owner end;", Verified),
        ("invariant !forall p: P do held[p] end;", Violation),
        ("invariant exists p: P do held[p] end -> held[owner];", Violation),
        (
            "invariant forall p: P do held[p] & p != owner -> exists q: P do !held[q] end end;",
            Violation,
        ),
    ] {
        let text = format!("{owned}{property}");
        let found = examine(&text, Asked::Off, &mut Default::default());
        assert_eq!(found, Ok(Some(expected)), "{property}");
    }
    // In a function that rules call, too, the order counts.
    let called = owned.replace(
        "ruleset p: P do",
        "function last(): P; var l: P; begin
        for p: P do l := p; end; return l; end;
        rule \"reset\" begin owner := last(); end;
        ruleset p: P do",
    );
    assert!(read(&called).ordered.iter().any(|ordered| !ordered.at_start), "{called}");
    assert_eq!(examine(&called, Asked::Off, &mut Default::default()), Ok(Some(Verified)));
}

#[test]
fn an_alias_is_another_name_of_the_multiset_that_a_position_was_chosen_from() {
    let boxes = "type P: scalarset(2); M: record goal: P; end;
        var net: array [P] of multiset [2] of M; last: P; bad: boolean;
        procedure send(goal: P; next: P); var m: M; begin
          if MultisetCount(i: net[goal], true) < 2 then
            m.goal := next; MultisetAdd(m, net[goal]);
          end; end;
        procedure receive(m: M; p: P); begin send(m.goal, p); if m.goal != p then bad := true; end; end;
        startstate begin undefine net; undefine last; bad := false; end;
        ruleset p: P; q: P do rule \"request\" begin send(p, q); end; end;
        ruleset p: P do choose i: net[p] do alias chan: net[p]; msg: chan[i] do
          rule \"receive\" begin receive(msg, p); last := msg.goal; MultisetRemove(i, chan); end;
        end; end; end;\n";
    assert!(!read(boxes).elements_have_order, "{boxes}");
    for (property, expected) in [("invariant !bad;", Violation), ("invariant true;", Verified)] {
        let text = format!("{boxes}{property}");
        let found = examine(&text, Asked::Off, &mut Default::default());
        assert_eq!(found, Ok(Some(expected)), "{property}");
    }
    // An index that may change in between is another matter.
    let moved = boxes.replace(
        "choose i: net[p] do alias chan: net[p]",
        "choose i: net[last] do alias chan: net[last]",
    );
    assert!(read(&moved).elements_have_order, "{moved}");
}

#[test]
fn a_rule_that_only_reorders_a_multiset_is_no_way_out() {
    let text = "type P: scalarset(2); var bag: multiset [2] of P; keep: P;
        ruleset p: P; q: P do startstate begin
          keep := p; MultisetAdd(p, bag); if p != q then MultisetAdd(q, bag); end; end; end;
        choose i: bag do rule bag[i] = keep ==> var e: P; begin
          e := bag[i]; MultisetRemove(i, bag); MultisetAdd(e, bag); end; end;";
    assert_eq!(examine(text, Asked::Stuttering, &mut Default::default()), Ok(Some(Deadlock)));
}

#[test]
fn a_round_may_remove_its_own_elements_of_a_multiset() {
    let text = "type P: scalarset(3); U: union { P, enum { home } };
        var sharers: multiset [3] of P; told: array [P] of boolean; left: 0..3;
        procedure leave(p: U); begin MultisetRemovePred(i: sharers, sharers[i] = p); end;
        startstate begin undefine sharers; left := 0; for p: P do told[p] := false; end; end;
        ruleset p: P do
          rule \"share\" MultisetCount(i: sharers, sharers[i] = p) = 0 ==> begin MultisetAdd(p, sharers); end;
          rule \"hear\" told[p] ==> begin told[p] := false; end;
        end;
        ruleset keep: P do rule \"invalidate\" begin
          for u: U do
            if u != keep & MultisetCount(i: sharers, sharers[i] = u) != 0 then
              leave(u);
              if ismember(u, P) then alias p: u do for q: P do if q = p then told[q] := true; end; end; end; end;
            end;
          end;
          left := MultisetCount(i: sharers, true);
        end; end;\n";
    assert!(read(text).ordered.is_empty(), "{text}");
    for (property, expected) in [
        ("invariant left <= 1;", Verified),
        (
            "invariant !exists p: P do told[p] & MultisetCount(i: sharers, sharers[i] = p) > 0 end;",
            Violation,
        ),
    ] {
        let text = format!("{text}{property}");
        let found = examine(&text, Asked::Off, &mut Default::default());
        assert_eq!(found, Ok(Some(expected)), "{property}");
    }
    // The number of all elements shows how many rounds there were before.
    let counted = text.replace("leave(u);", "leave(u); left := MultisetCount(i: sharers, true);");
    assert!(!read(&counted).ordered.is_empty(), "{counted}");
    // So does the room for another one.
    let added = text.replace("leave(u);", "leave(u); MultisetAdd(keep, sharers);");
    assert!(!read(&added).ordered.is_empty(), "{added}");
}

/// Members come into two bags. If one of them is alone in its bag, its position there is used in the
/// other one.
const BAGS: &str = "
    type P: scalarset(2);
    var bag: array [P] of multiset [2] of P; ref: P; bad: boolean;
    startstate begin undefine bag; undefine ref; bad := false; end;
    ruleset p: P; q: P do
      rule \"add\" MultisetCount(i: bag[q], bag[q][i] = p) = 0 ==> begin MultisetAdd(p, bag[q]); end;
    end;
    ruleset p: P do
      rule \"refer\" begin ref := p; end;
      rule \"look\" !isundefined(ref)
        & MultisetCount(i: bag[p], true) = 1 & MultisetCount(i: bag[p], bag[p][i] = ref) = 1
        & MultisetCount(i: bag[p], exists other: P do
            MultisetCount(j: bag[other], true) = 2 & bag[other][i] = ref end) > 0
      ==> begin bad := true; end;
    end;
    invariant !bad;\n";

#[test]
fn where_the_order_of_elements_shows_it_is_part_of_the_state() {
    // With the same name the text is the same, and the multiset is another.
    let hidden = BAGS.replace("other", "p");
    assert!(hidden.contains("bag[p][i] = ref end"), "{hidden}");
    for text in [BAGS, &hidden] {
        for text in [text.to_owned(), text.replace("= ref end", "!= ref end")] {
            assert!(read(&text).elements_have_order, "{text}");
            let found = examine(&text, Asked::Off, &mut Default::default());
            assert_eq!(found, Ok(Some(Violation)), "{text}");
        }
    }
    let own = BAGS.replace("bag[other][i] = ref end", "bag[p][i] = other end");
    assert!(!read(&own).elements_have_order, "{own}");
    assert_eq!(examine(&own, Asked::Off, &mut Default::default()), Ok(Some(Violation)), "{own}");
}

#[test]
fn a_cover_statement_is_covered_by_a_run_that_reaches_it_with_its_condition_true() {
    let text = format!(
        "{DYING} procedure see(q: P); begin cover st[q] = 1 \"one\"; cover st[q] > 1; end;
         ruleset p: P do rule dead[p] ==> begin for q: P do see(q); end; end; end;
         rule false ==> begin cover true; end; cover \"all\" forall q: P do dead[q] end;"
    );
    let model = read(&text);
    let names: Vec<&str> = model.covers.iter().map(|cover| cover.name.as_str()).collect();
    assert_eq!(names, ["one", "Cover statement 2", "Cover statement 3"]);
    let found = covered(&text);
    // The property first, then the statements.
    assert_eq!(found, [[false, true, false, false]; 4], "{text}");
}
