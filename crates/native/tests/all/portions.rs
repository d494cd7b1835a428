//! Runs that are cut into portions, and runs that are cut short.

#[allow(dead_code)] // other tests use more of it
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::support::{Both, in_portions};
use murphi::check::Options;
use murphi::machine::{Check, Machine, Successors};

const MANY: &str = "
var n : 0..255;
startstate n := 0; end;
ruleset i : 0..99; j : 0..2 do
  rule \"set\" i != n ==> n := i; end;
end;
ruleset i : 0..9 do
  rule \"the guard fails\" 1 / (n - n) = i ==> n := i; end;
end;";

#[test]
fn portions_together_are_the_whole() {
    let mut both = Both::of("many.m", MANY, &Options::default());
    let size = both.program.state_size();
    let start = both.start();
    let whole = both.expand(start.state(0));
    assert_eq!(whole.firings.len(), 99 * 3 + 10);
    for most in [1, 2, 7, 64, 306, 307, 308, 1000] {
        for found in [
            in_portions(&mut both.native, Some(start.state(0)), most, size),
            in_portions(&mut both.interpreter, Some(start.state(0)), most, size),
        ] {
            assert_eq!(found.firings, whole.firings, "{most}");
            assert_eq!(found.states[..297 * size], whole.states[..297 * size], "{most}");
        }
    }
}

#[test]
fn a_panic_of_who_takes_a_portion_goes_on_after_the_run() {
    let mut both = Both::of("many.m", MANY, &Options::default());
    let state = both.start().state(0).to_vec();
    let mut out = Successors::new(state.len());
    let run = AssertUnwindSafe(|| {
        both.native.run_in_portions(Some(&state), 5, &mut out, &mut |_| panic!("enough"));
    });
    let panic = catch_unwind(run).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"enough"));
}

/// Runs something that takes for ever, and sets the flag after a while.
fn stops(text: &str, run: impl FnOnce(&mut dyn Machine, &[u8])) {
    let mut both =
        Both::of("endless.m", text, &Options { loop_limit: u64::MAX, ..Options::default() });
    let state = both.start().state(0).to_vec();
    let stop = Arc::new(AtomicBool::new(false));
    both.native.obey(&stop);
    let setter = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        stop.store(true, Ordering::Relaxed);
    });
    let started = Instant::now();
    run(&mut both.native, &state);
    assert!(started.elapsed() < Duration::from_secs(10), "{text}");
    setter.join().expect("the setter only sleeps and sets a flag");
}

fn expanding_stops(text: &str) {
    stops(text, |machine, state| machine.expand(state, &mut Successors::new(state.len())));
}

const START: &str = "var n : 0..255; startstate n := 0; end;\n";
const RANGE: &str = "0..999999";
/// Nearly as many instances as a rule may have.
const PARAMETERS: &str = "ruleset i : 0..999; j : 0..999; k : 0..3999 do";

#[test]
fn instances_without_end_are_cut_short() {
    expanding_stops(&format!("{START}{PARAMETERS} rule n > 0 ==> n := 1; end; end;"));
    let guard = "exists a : 0..9 do n > a + i + j + k end";
    expanding_stops(&format!("{START}{PARAMETERS} rule {guard} ==> n := 1; end; end;"));
}

#[test]
fn instances_without_end_that_fail_are_cut_short_before_they_are_listed() {
    let text = format!("{START}{PARAMETERS} rule 1 / n > 0 ==> n := 1; end; end;");
    stops(&text, |machine, state| {
        let mut portions = 0;
        let out = &mut Successors::new(state.len());
        machine.run_in_portions(Some(state), 1000, out, &mut |_| portions += 1);
        assert!(portions > 0 && out.firings.capacity() <= 2000);
    });
}

#[test]
fn bodies_and_functions_without_end_are_cut_short() {
    let slow =
        format!("for i : {RANGE} do for j : {RANGE} do for k : {RANGE} do n := 1; end end end");
    expanding_stops(&format!("{START}rule {slow}; end;"));
    let procedure = format!("procedure f(); begin {slow}; end;");
    let (variable, start) = START.split_at(START.find("startstate").unwrap());
    expanding_stops(&format!("{variable}{procedure} {start}rule f(); end;"));
    expanding_stops(&format!("{START}rule while true do n := 1; end; end;"));
}

#[test]
fn properties_without_end_are_cut_short() {
    let all = format!("forall i : {RANGE} do forall j : {RANGE} do forall k : {RANGE} do");
    let text = format!("{START}rule n := n; end; invariant {all} i + j + k >= n end end end;");
    stops(&text, |machine, state| {
        assert!(!matches!(machine.check(state), Check::Broken(_)));
    });
}
