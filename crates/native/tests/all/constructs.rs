//! One small model for each construct whose translation has a case of its own. Native code and the
//! reference interpreter must agree on what is reachable and on random states; where a test is
//! about an outcome, that outcome is named.

use std::collections::BTreeSet;

use crate::support::Both;
use murphi::check::Options;
use murphi::machine::{Check, Machine, Outcome, Successors};
use murphi::random::{self, Random};

/// What was seen while a model was run on random states.
struct Seen {
    outcomes: BTreeSet<u8>,
    checks: BTreeSet<&'static str>,
}

impl Seen {
    fn outcome(&self, outcome: Outcome) -> bool {
        self.outcomes.contains(&(outcome as u8))
    }
}

fn compare(text: &str) -> Seen {
    let options = Options { loop_limit: 50, ..Options::default() };
    let mut both = Both::of("construct.m", text, &options);
    let mut seen = Seen { outcomes: BTreeSet::new(), checks: BTreeSet::new() };
    let mut random = Random::new(1);
    let started = both.start();
    let starts = (0..started.firings.len()).map(|number| started.state(number).to_vec());
    let randoms = (0..300).map(|_| {
        let state = random::state(&both.model, &mut random);
        state.encode(&both.model, both.interpreter.layout())
    });
    let states: Vec<Vec<u8>> = starts.chain(randoms).collect();
    seen.outcomes.extend(started.firings.iter().map(|firing| firing.outcome as u8));
    for state in states {
        let batch = both.expand(&state);
        seen.outcomes.extend(batch.firings.iter().map(|firing| firing.outcome as u8));
        seen.checks.insert(match both.check(&state) {
            Check::Holds => "holds",
            Check::Excluded => "excluded",
            Check::Broken(_) => "broken",
            Check::Failed(_) => "failed",
        });
    }
    seen
}

#[test]
fn arithmetic_checks_for_overflow_only_where_it_can_happen_and_never_misses_it() {
    let seen = compare(
        "var a, b: -4611686018427387904..4611686018427387903; c: -9..9; r: 0..1;
        startstate a := -1; b := 4611686018427387903; c := 3; end;
        rule a + b = a + b & a - b < 0 ==> r := 1; end;
        rule a * b > 0 ==> r := 1; end;
        rule a * c + b * c > 0 ==> r := 1; end;
        rule a / c > b % c ==> r := 0; end;
        rule -a > c ==> c := c + 1; end;
        rule (a + a) / c = a ==> c := -c; end;
        rule (a + a) % -c = 0 ==> c := c / 2 * 2; end;",
    );
    assert!(seen.outcome(Outcome::Done) && seen.outcome(Outcome::GuardFailed));
    assert!(seen.outcome(Outcome::Failed));
}

#[test]
fn bitwise_operators_and_shifts_keep_the_sign_and_drop_what_leaves_the_width() {
    let text = "var a: -40..40; b: -70..70; r: -4611686018427387904..4611686018427387903;
        startstate a := 1; b := 2; r := 0; end;
        rule true ==> r := (a & b) + (a | b) + (a ^ b) + ~a; end;
        rule true ==> r := (a << b) % 1000; end;
        rule true ==> r := a >> b; end;";
    let options = Options { dialect: murphi::check::Dialect::Rumur, ..Options::default() };
    let mut both = Both::of("bits.m", text, &options);
    let mut random = Random::new(5);
    for _ in 0..500 {
        let state = random::state(&both.model, &mut random);
        both.expand(&state.encode(&both.model, both.interpreter.layout()));
    }
}

#[test]
fn a_conjunct_evaluated_early_fails_for_every_instance_below() {
    let text = "type P: scalarset(3); Q: 1..2;
        var ready: boolean; turn: P; x: array [P] of Q;
        startstate ready := true; undefine turn; end;
        ruleset p: P; q: Q do
          rule ready & turn = p & x[p] = q ==> x[p] := 3 - q; end;
        end;";
    let mut both = Both::of("early.m", text, &Options::default());
    let start = both.start();
    let batch = both.expand(start.state(0));
    assert_eq!(batch.firings.len(), 6, "ready is defined, turn is not");
    assert!(batch.firings.iter().all(|firing| firing.outcome == Outcome::GuardFailed));
    compare(text);
}

#[test]
fn an_alias_that_fails_is_reported_for_every_instance_and_before_the_guard() {
    let seen = compare(
        "type P: scalarset(3);
        var owner: P; data: array [P] of 0..3; lazy: boolean;
        startstate lazy := true; end;
        ruleset p: P do
          alias d: data[owner] do
            ruleset n: 0..3 do
              rule !lazy & data[p] = n ==> d := n; end;
            end;
          end;
        end;",
    );
    assert!(seen.outcome(Outcome::GuardFailed) && seen.outcome(Outcome::Done));
}

#[test]
fn choosing_from_an_empty_multiset_fires_nothing_and_fails_nothing() {
    let seen = compare(
        "type M: record kind: 0..2; from: 1..2; end;
        var net: multiset [3] of M; broken: boolean; last: 0..2;
        startstate undefine net; end;
        choose m: net do
          rule broken & net[m].kind = 1 ==> last := net[m].kind; MultisetRemove(m, net); end;
          alias msg: net[m] do
            rule msg.kind != 0 ==> last := msg.kind; MultisetRemove(m, net); end;
          end;
        end;
        rule true ==>
          var new: M;
          begin new.kind := 1; new.from := 2; MultisetAdd(new, net); end;
        rule true ==> MultisetRemovePred(m: net, net[m].kind = 2 | net[m].from = 1); end;
        invariant MultisetCount(m: net, net[m].kind = 0) < 2;",
    );
    assert!(seen.outcome(Outcome::Done) && seen.outcome(Outcome::Failed));
    assert!(seen.outcome(Outcome::GuardFailed));
    assert!(seen.checks.contains("broken") && seen.checks.contains("failed"));
}

#[test]
fn an_element_that_has_left_its_multiset_is_not_reached_through_an_alias() {
    let seen = compare(
        "type M: record kind: 0..2; end;
        var net: multiset [2] of M; last: 0..2;
        procedure take(var m: M); begin undefine net; m.kind := 1; end;
        startstate undefine net; end;
        choose m: net do
          rule true ==>
            alias msg: net[m] do MultisetRemove(m, net); last := msg.kind; end;
          end;
          rule true ==>
            alias msg: net[m] do clear net; msg.kind := 1; end;
          end;
          rule true ==> take(net[m]); end;
        end;",
    );
    assert!(seen.outcome(Outcome::Failed) && seen.outcome(Outcome::Done));
}

#[test]
fn removals_leave_gaps_that_functions_and_copies_see_until_the_rule_ends() {
    // `look` is too large to be translated in place, so it does not know what was removed before.
    let padding = "if low > 3 then low := 0; end; ".repeat(12);
    let seen = compare(&format!(
        "type Bag: multiset [3] of 0..3;
        var net: Bag; copy: Bag; low: 0..9; far: array [0..1] of Bag; same: boolean;
        function look(var bag: Bag): 0..9;
        begin {padding} return MultisetCount(k: bag, bag[k] >= 0); end;
        procedure give(x: 0..3); begin {padding} MultisetAdd(x, net); end;
        procedure swap(var e: 0..3; var f: 0..3); var t: 0..3;
        begin t := e; e := f; f := t; end;
        startstate begin clear net; clear copy; clear far; low := 0; same := true; end;
        ruleset x: 0..2 do
          rule MultisetCount(k: net, true) < 3 ==> MultisetAdd(x + 1, net); end;
        end;
        choose i: net do choose j: net do
          rule i != j ==>
            MultisetRemove(i, net); low := look(net); MultisetRemove(j, net);
            low := low + look(net); same := copy = net;
          end;
          rule true ==>
            alias a: net[i] do alias b: net[j] do
              swap(a, b); copy := net; MultisetRemove(i, net);
              give(0); give(0); low := MultisetCount(k: net, k != i & k != j);
              if low > 1 then b := 3; end; MultisetRemovePred(k: net, net[k] = 0);
            end; end;
          end;
          rule true ==>
            MultisetRemove(j, net); far[0] := net; far[1] := far[0];
            MultisetAdd(far[1][i], far[1]); MultisetRemove(i, far[0]); same := far[0] = far[1];
          end;
          rule true ==> MultisetRemove(i, net); give(1); give(2); net[i] := 0; end;
        end; end;
        invariant forall k: 0..1 do MultisetCount(e: far[k], far[k][e] = 3) < 2 end;"
    ));
    assert!(seen.outcome(Outcome::Failed) && seen.outcome(Outcome::Done));
}

#[test]
fn very_many_branches_to_one_place_behave_like_few() {
    let conjuncts = (0..300).map(|k| format!("(x != {} | y < 9)", k + 3));
    let guard = conjuncts.collect::<Vec<_>>().join(" & ");
    let tests = (1..300).map(|k| format!("elsif x = {k} then y := y + {}; ", k % 2));
    let returns = (0..300).map(|k| format!("if n = {k} then return n + 1; end; "));
    let cases = (0..300).map(|k| format!("case {k}: y := {}; ", k % 9));
    let seen = compare(&format!(
        "var x: 0..400; y: 0..9; z: array [0..9] of 0..400;
        function next(n: 0..400): 0..400; begin {} end;
        startstate begin x := 0; y := 0; clear z; end;
        rule \"guarded\" {guard} ==> x := next(x); end;
        rule \"chosen\" true ==> if x = 0 then y := 1; {} end; x := next(x); end;
        rule \"switched\" (x < 20 | x > 280) & x < 390 ==> switch x {} end; z[y] := x; x := x + 7; end;",
        returns.collect::<String>(),
        tests.collect::<String>(),
        cases.collect::<String>(),
    ));
    assert!(seen.outcome(Outcome::Failed) && seen.outcome(Outcome::Done));
}

#[test]
fn a_multiset_in_a_multiset_is_compared_without_regard_to_positions() {
    compare(
        "type In: multiset [2] of 0..1; R: record bag: In; tag: 0..1; end; Out: multiset [2] of R;
        var a, b: Out; c: array [0..1] of R; r: boolean;
        startstate undefine a; undefine b; undefine c; r := false; end;
        rule c[0] = c[1] ==> r := true; end;
        rule true ==> MultisetAdd(c[0], a); end;
        choose i: a do choose j: b do
          rule a[i] = b[j] ==> r := !r; MultisetAdd(a[i], b); end;
          rule a[i] != c[1] ==> a[i] := c[1]; end;
          rule true ==> MultisetAdd(1, a[i].bag); end;
        end; end;",
    );
}

#[test]
fn functions_pass_undefined_by_value_and_write_through_references() {
    let seen = compare(
        "type T: 0..3; R: record x, y: T; end;
        var r, s: R; t: T;
        function twice(n: T): T; begin
          if isundefined(n) then return 0; end;
          return n + n;
        end;
        function swapped(p: R): R; var q: R; begin q.x := p.y; q.y := p.x; return q; end;
        function bounded(n: T): 0..2; begin if n < 3 then return n; end; end;
        procedure bump(var n: T; more: T); begin n := n + more; end;
        procedure long(var n: T; p: R); begin
          for i := 0 to 3 do
            if p.x = i then n := p.y; elsif p.y = i then n := p.x; else
              switch i case 0: n := 1; case 1, 2: n := 2; else n := 3; end;
            end;
          end;
          while n > 1 & p.x > 0 do n := n - 1; end;
          if n = p.x then bump(n, 1); end;
        end;
        startstate r.x := 1; r.y := 2; undefine s; t := 0; end;
        rule true ==> t := twice(s.x); end;
        rule true ==> s := swapped(r); r := swapped(swapped(s)); end;
        rule true ==> t := bounded(r.x) + bounded(r.y); end;
        rule true ==> bump(r.x, t); end;
        rule true ==> var l: T; begin l := 1; bump(l, r.y); t := l; end;
        rule true ==> long(t, r); end;
        rule true ==> long(r.x, r); end;
        invariant isundefined(t) | twice(t) <= 6;",
    );
    assert!(seen.outcome(Outcome::Done) && seen.outcome(Outcome::Failed));
}

#[test]
fn a_function_sees_what_it_writes_through_a_reference_to_the_state() {
    compare(
        "type T: 0..9; var x, y: T; a: array [0..1] of T;
        procedure mix(var p: T; var q: T; n: T);
        begin
          for i := 0 to 1 do
            if x < 9 then p := x + 1; end;
            if y > 0 & q > 0 then q := y - 1; end;
            if a[i] = p then a[1 - i] := q; elsif a[i] = q then p := a[1 - i]; else q := n; end;
            if x = y then p := 0; end;
            if x = p & y = q & a[0] = n then q := a[1]; end;
          end;
        end;
        startstate x := 1; y := 2; clear a; end;
        rule true ==> mix(x, y, a[0]); end;
        rule true ==> mix(x, x, y); end;
        rule true ==> mix(a[0], a[1], x); end;
        rule true ==> mix(y, a[0], a[1]); end;",
    );
}

#[test]
fn an_assumption_in_a_function_excludes_wherever_it_is_called() {
    let seen = compare(
        "var n: 0..5; b: boolean;
        function small(k: 0..5): boolean; begin assume k < 4; return k < 2; end;
        function large(k: 0..5): boolean; var i: 0..5; begin
          i := 0;
          while i < k do
            if i = 3 then assume b; end;
            i := i + 1;
            if i > k then error \"never\"; elsif i = k then i := k; else i := i; end;
          end;
          for j := 0 to 5 do if j = i & j > 9 then i := j; end; end;
          return i = k;
        end;
        startstate n := 0; b := false; end;
        rule small(n) ==> n := n + 1; end;
        rule true ==> b := small(n); n := 4; end;
        rule true ==> b := large(n); end;
        rule large(n) ==> n := 0; end;
        invariant large(n);
        cover n = 3;",
    );
    assert!(seen.outcome(Outcome::Excluded) && seen.outcome(Outcome::GuardFailed));
    assert!(seen.checks.contains("excluded"));
}

#[test]
fn a_guard_may_call_functions_that_write_to_their_own_locals() {
    // The alias makes it look as if the function might change the state.
    let seen = compare(
        "type P: 0..2; R: record a, b: P; end;
        var n: P; x: array [P] of P; bag: multiset [2] of P;
        procedure set(var p: P; q: P); begin p := q; end;
        function plain(p: P): P; var l: R; begin set(l.a, p); set(l.b, 2 - l.a); return l.b; end;
        function through(p: P): P; var l: R; begin
          alias a: l.a do a := p; set(a, a + 1); return a; end;
        end;
        startstate n := 0; clear x; undefine bag; end;
        ruleset p: P do
          rule plain(p) > x[p] ==> x[p] := plain(n); end;
          rule through(x[p]) = 2 ==> x[p] := 0; n := p; end;
          alias y: x[through(n)] do
            choose b: bag do ruleset q := 2 to 0 by -2 do
              rule y < 2 & through(p) > 1 - q ==> y := plain(bag[b]); end;
            end; end;
            choose b: bag do
              invariant through(y) + bag[b] < 4 | x[p] < 2;
            end;
          end;
        end;
        rule true ==> MultisetAdd(through(n), bag); end;",
    );
    assert!(seen.outcome(Outcome::Done) && seen.outcome(Outcome::GuardFailed));
    assert!(seen.checks.contains("broken") && seen.checks.contains("failed"));
}

#[test]
fn every_kind_of_range_is_followed_in_both_directions() {
    let seen = compare(
        "var a, b: -5..5; s: -3..3; n: 0..60;
        startstate a := 0; b := 3; s := 1; n := 0; end;
        rule true ==> n := 0; for i := a to b do n := n + 1; end; end;
        rule true ==> n := 0; for i := a to b by s do n := n + (i + 5); end; end;
        rule true ==> n := 0; for i := 5 to -5 by -2 do n := n + (i + 5) / 2; end; end;
        rule forall i := a to b by 2 do i != s end ==> n := 1; end;
        rule exists i := 3 to 0 by -1 do i = a end ==> n := 2; end;
        ruleset i := 5 to 1 by -2 do rule a = i ==> n := i; end; end;
        ruleset i := 3 to 2 do rule true ==> n := 3; end; end;",
    );
    assert!(seen.outcome(Outcome::Failed) && seen.outcome(Outcome::Done));
}

#[test]
fn unions_convert_to_their_members_and_to_other_unions() {
    compare(
        "type P: scalarset(2); E: enum { none, some }; Q: scalarset(3);
          U: union { P, E }; V: union { E, Q, P };
        var u: U; v: V; p: P; q: Q; e: E; a: array [U] of 0..2; r: boolean;
        startstate u := none; v := u; r := false; end;
        rule true ==> v := u; end;
        rule true ==> p := u; end;
        rule true ==> u := p; a[u] := 1; end;
        rule ismember(v, P) ==> r := !r; p := v; end;
        rule ismember(v, Q) ==> q := v; end;
        rule u = p & v = e ==> a[none] := 2; end;
        rule v = q ==> e := v; end;
        rule exists i: U do a[i] = 1 end ==> clear a; end;",
    );
}

#[test]
fn clearing_and_undefining_reach_every_component_and_no_padding() {
    compare(
        "type In: record a: 0..300; b: 1..2; c: -100000..100000; end;
          Big: array [0..40] of In; R: record x: In; m: multiset [2] of In; y: boolean; end;
        var big: Big; r: R; other: R; same: boolean;
        startstate clear big; clear r; undefine other; same := false; end;
        rule true ==> same := r = other; end;
        rule true ==> r := other; end;
        rule true ==> clear r; undefine other.x; end;
        rule true ==> clear big; undefine big[3]; end;
        rule true ==> var copy: Big; begin copy := big; copy[1] := r.x; big := copy; end;
        rule true ==> var l: Big; begin same := l = big; undefine big; same := l = big; end;",
    );
}

#[test]
fn locals_too_large_for_the_stack_start_undefined_each_time() {
    let seen = compare(
        "type Big: array [0..3000] of 0..300;
        var small: 0..300; b: boolean;
        function count(big: Big): 0..300; var mine: Big; n: 0..300; begin
          n := 0;
          for i := 0 to 20 do
            if isundefined(mine[i]) then mine[i] := 1; end;
            if !isundefined(big[i]) then n := n + mine[i]; end;
          end;
          return n;
        end;
        function made(n: 0..300): Big; var mine: Big; begin
          for i := 0 to 10 do
            if i < n then mine[i] := n; end;
            if i > n & i < 3 then mine[i + 1] := i; end;
          end;
          return mine;
        end;
        startstate small := 3; b := false; end;
        rule true ==> var l: Big; begin
          if isundefined(l[7]) then l[7] := small; end;
          small := count(l) + count(made(5));
          b := made(2) = made(small);
        end;",
    );
    assert!(seen.outcome(Outcome::Done));
}

#[test]
fn a_machine_appends_to_what_a_batch_already_has() {
    let text = "type P: 0..199; var x: array [P] of boolean;
        startstate clear x; end;
        ruleset p: P do rule !x[p] ==> x[p] := true; end; end;";
    let mut both = Both::of("many.m", text, &Options::default());
    let mut batch = Successors::new(both.program.state_size());
    both.native.start(&mut batch);
    let state = batch.state(0).to_vec();
    both.native.expand(&state, &mut batch);
    both.native.expand(&state, &mut batch);
    assert_eq!(batch.firings.len(), 401);
    assert_eq!(batch.states.len(), 401 * both.program.state_size());
    assert_eq!(batch.state(0), state);
    assert_eq!(batch.firings[1..201], batch.firings[201..]);
    assert_eq!(batch.state(200), batch.state(400));
}

/// A model whose functions each call the one before.
fn chain(length: usize) -> murphi::ir::Model {
    let mut text = "var x: 0..9;
        function f0(n: 0..9): 0..9; begin return n; end;"
        .to_owned();
    for number in 1..length {
        let before = number - 1;
        text += &format!(
            "function f{number}(n: 0..9): 0..9; var room: array [0..99] of 0..9; begin
              for i := 0 to 99 do if i = n then room[i] := f{before}(n); end; end;
              if n > 9 then return 9; elsif n < 0 then return 0; end;
              switch n case 0: room[0] := 1; case 1: room[1] := 2; case 2: room[2] := 3; end;
              return room[n];
            end;"
        );
    }
    text += &format!("startstate x := 5; end; rule true ==> x := f{}(x); end;", length - 1);
    let source = murphi::source::Source { name: "chain.m".to_owned(), text };
    murphi::check::load(source, &Options::default()).expect("the chain is correct").model
}

#[test]
fn deeply_nested_calls_fit_on_the_stack_of_any_thread() {
    let model = chain(95);
    let layout = murphi::layout::Layout::of(&model).expect("the model is small");
    let program = tribunal_native::Program::compile(&model, &layout).expect("it is not too deep");
    std::thread::spawn(move || {
        let mut machine = program.machine();
        let mut batch = Successors::new(program.state_size());
        machine.start(&mut batch);
        let state = batch.state(0).to_vec();
        machine.expand(&state, &mut batch);
        assert_eq!(batch.firings[1].outcome, Outcome::Done);
        assert_eq!(batch.state(1), state);
    })
    .join()
    .expect("the thread does not fail");
}

#[test]
#[should_panic(expected = "the state of another model")]
fn a_state_of_the_wrong_length_is_refused() {
    let text = "var x: boolean; startstate x := true; end; rule x ==> x := false; end;";
    let mut both = Both::of("one.m", text, &Options::default());
    let mut batch = Successors::new(both.program.state_size());
    both.native.expand(&[1], &mut batch);
}

#[test]
#[should_panic(expected = "the layout of another model")]
fn the_layout_of_another_model_is_refused() {
    let (one, other) = (chain(1), chain(2));
    let layout = murphi::layout::Layout::of(&other).expect("the model is small");
    let _refused = tribunal_native::Program::compile(&one, &layout);
}

#[test]
#[should_panic(expected = "bytes that are no state")]
fn bytes_that_are_no_state_are_refused() {
    let text = "var x: boolean; startstate x := true; end; rule x ==> x := false; end;";
    let mut both = Both::of("one.m", text, &Options::default());
    let mut batch = Successors::new(both.program.state_size());
    both.native.expand(&[3, 0, 0, 0, 0, 0, 0, 0], &mut batch);
}

#[test]
fn machines_of_one_program_run_in_different_threads() {
    let text = "var x: 0..9; startstate x := 0; end; rule x < 9 ==> x := x + 1; end;";
    let both = Both::of("count.m", text, &Options::default());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let mut machine = both.program.machine();
            scope.spawn(move || {
                let mut batch = Successors::new(machine.program().state_size());
                machine.start(&mut batch);
                for number in 0..9 {
                    let state = batch.state(number).to_vec();
                    machine.expand(&state, &mut batch);
                }
                assert_eq!(batch.firings.len(), 10);
            });
        }
    });
}
