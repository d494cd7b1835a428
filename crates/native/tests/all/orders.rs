//! Rules that are run in all orders of members: what they lead to is the same, and whether the order
//! shows is found.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::{Both, in_portions};
use murphi::check::Options;
use murphi::machine::{Machine, Outcome, Successors};

/// Messages to all who share, sent through a parameter that keeps the last of them.
const MULTICAST: &str = "
type P: scalarset(3); U: union { P, enum { home } };
     M: record goal: U; kind: 0..3; end;
     pad: array [0..60] of 0..200;
var net: array [P] of M; sharers: multiset [3] of U; sent: multiset [3] of U; named: U; n: 0..3; large: pad;
procedure send(m: M); begin
  alias goal: m.goal do for p: P do if goal = p then net[p] := m; end; end; end;
end;
procedure multicast(var m: M; from: U); begin
  for u: U do
    if u != from & MultisetCount(i: sharers, sharers[i] = u) > 0 then
      m.goal := u; m.kind := n; EACH send(m);
    end;
  end;
end;
startstate begin undefine net; undefine sharers; undefine sent; undefine named; n := 0; undefine large; end;
ruleset p: P do
  rule \"share\" MultisetCount(i: sharers, sharers[i] = p) = 0 ==> begin MultisetAdd(p, sharers); end;
end;
ruleset u: U do
  rule \"invalidate\" MultisetCount(i: sharers, true) > 1 ==> var m: M; begin
    undefine net; undefine sent; multicast(m, u);
  end;
  rule \"name\" n = 0 ==> begin named := u; end;
  rule \"count\" n < 3 ==> begin n := n + 1; end;
end;
";

/// Expands some hundred states with and without trying all orders. Says how often a rule fired, and
/// whether the order showed.
fn tried(each: &str) -> (usize, bool) {
    let text = MULTICAST.replace("EACH", each);
    let mut both = Both::of("multicast.m", &text, &Options::default());
    assert_eq!(both.model.tried.len(), 1, "{text}");
    assert!(both.program.has_tried_loops());
    let shows = Arc::new(AtomicBool::new(false));
    let mut trying = both.program.machine();
    trying.try_orders(&shows);
    let size = both.program.state_size();
    let mut states: Vec<Vec<u8>> = vec![both.start().state(0).to_vec()];
    let (mut next, mut fired) = (0, 0);
    while next < states.len().min(200) {
        let state = states[next].clone();
        next += 1;
        let whole = both.expand(&state);
        for most in [usize::MAX, 1, 2] {
            let found = match most {
                usize::MAX => {
                    let mut found = Successors::new(size);
                    trying.expand(&state, &mut found);
                    found
                }
                _ => in_portions(&mut trying, Some(&state), most, size),
            };
            if shows.load(Ordering::Relaxed) {
                return (fired, true);
            }
            assert_eq!(found.firings, whole.firings);
            assert_eq!(found.states, whole.states);
            assert_eq!(found.written, whole.written);
        }
        for (number, firing) in whole.firings.iter().enumerate() {
            let state = whole.state(number).to_vec();
            if firing.outcome == Outcome::Done && !states.contains(&state) {
                states.push(state);
            }
        }
        fired += whole.firings.len();
    }
    (fired, false)
}

#[test]
fn what_rules_lead_to_is_the_same_in_all_orders_and_is_there_once() {
    for each in
        ["", "MultisetAdd(u, sent);", "for p: P do if u = p then net[p].kind := 1; end; end;"]
    {
        let (fired, shows) = tried(each);
        assert!(!shows && fired > 500, "{each}: {fired}");
    }
}

#[test]
fn an_order_that_shows_is_found() {
    for each in [
        // Who comes later gets another number.
        "if n < 3 then n := n + 1; end;",
        // Fails unless one that was named is the first.
        "assert u != named | MultisetCount(i: sent, true) = 0; MultisetAdd(u, sent);",
    ] {
        let (fired, shows) = tried(each);
        assert!(shows && fired > 0, "{each}: {fired}");
    }
}
