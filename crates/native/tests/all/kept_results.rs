//! Functions whose results are kept while a state is expanded: for other arguments and other states
//! they are evaluated again, and errors and exclusions are no results.

use std::collections::HashSet;

use crate::support::Both;
use murphi::check::Options;
use murphi::machine::Outcome;
use murphi::random::{self, Random};
use tribunal_native::Program;

/// Guards and properties that ask for the same again and again.
const ASKING: &str = "
type E: enum { low, middle, high };
     P: scalarset(2);
var v: array [0..7] of 0..3; e: E; ref: P; ok: boolean; turn: 0..9;
function sum(): 0..24; var s: 0..24; begin
  s := v[0]; s := s + v[1]; s := s + v[2]; s := s + v[3]; s := s + v[4];
  s := s + v[5]; s := s + v[6]; s := s + v[7];
  return s;
end;
function level(x: E; minimum: boolean): E; begin
  if isundefined(x) then return low; end;
  switch x
    case low: assert v[0] + v[1] + v[2] + v[3] > 0;
    case middle: assume v[1] + v[2] + v[3] + v[4] < 9;
    case high: if v[0] = v[1] & v[1] = v[2] & minimum then return low; end;
  end;
  if v[5] > v[6] & minimum then return middle; end;
  return v[6] > v[7] ? high : low;
end;
function owner(q: P): P; var p: P; begin
  if v[0] + v[1] + v[2] + v[3] + v[4] + v[5] + v[6] + v[7] > 12 then return q; end;
  if v[0] = 1 & v[1] != 2 & v[3] < v[4] then return ref; end;
  return p;
end;
startstate begin for i: 0..7 do v[i] := 1; end; e := low; ok := true; turn := 0; end;
ruleset i: 0..7 do
  rule \"more\" v[i] < 3 & sum() < 20 ==> begin v[i] := v[i] + 1; end;
  rule \"less\" sum() > 3 & v[i] > 0 ==> begin v[i] := v[i] - 1; end;
end;
ruleset x: E; b: boolean do
  rule \"to\" level(x, b) != low & sum() > 4 ==> begin e := x; ok := b; end;
  rule \"back\" level(e, b) = x ==> begin undefine e; end;
end;
ruleset p: P do
  rule \"own\" owner(p) = p & sum() % 2 = 0 ==> begin ref := p; end;
  rule \"lose\" owner(ref) = p | owner(p) != owner(ref) ==> begin undefine ref; end;
end;
rule \"turn\" turn < 9 & owner(ref) = ref ==> begin turn := turn + 1; end;
invariant sum() < 22 | level(e, ok) != high;
invariant sum() < 23 | sum() > 23;
cover sum() = 7;
";

#[test]
fn results_are_kept_for_one_state_and_the_same_arguments() {
    let mut both = Both::of("asking.m", ASKING, &Options::default());
    // Code that is shared with other models keeps no results.
    let layout = both.interpreter.layout();
    both.program = Program::compile(&both.model, layout).expect("it compiles");
    both.native = both.program.machine();
    let mut random = Random::new(7);
    let (mut seen, mut outcomes) = (HashSet::new(), HashSet::new());
    let mut pending = vec![both.start().state(0).to_vec()];
    for _ in 0..1000 {
        let state = random::state(&both.model, &mut random);
        pending.push(state.encode(&both.model, both.interpreter.layout()));
    }
    while let Some(state) = pending.pop() {
        let batch = both.expand(&state);
        outcomes.extend(batch.firings.iter().map(|firing| firing.outcome));
        both.check(&state);
        for (number, firing) in batch.firings.iter().enumerate() {
            let next = batch.state(number).to_vec();
            if firing.outcome == Outcome::Done && seen.len() < 3000 && seen.insert(next.clone()) {
                pending.push(next);
            }
        }
    }
    let all = [Outcome::Done, Outcome::GuardFailed, Outcome::Excluded];
    assert_eq!(outcomes, HashSet::from(all));
}
