-- A lock with a queue of pointers: who waits is the next of somebody who has not left.
const N: 3;
type P: scalarset(N); State: enum { Out, Waiting, In };
var state: array [P] of State; next: array [P] of P; tail: P;
startstate begin for q: P do state[q] := Out; undefine next[q]; end; undefine tail; end;
ruleset p: P do
  rule "enter" state[p] = Out & isundefined(tail) ==> begin state[p] := In; tail := p; end;
  rule "wait" state[p] = Out & !isundefined(tail) ==>
  begin state[p] := Waiting; next[tail] := p; tail := p; end;
  rule "leave" state[p] = In & !isundefined(tail) & tail = p ==>
  begin state[p] := Out; undefine tail; end;
  rule "hand over" state[p] = In & !isundefined(next[p]) ==>
  begin state[p] := Out; state[next[p]] := In; undefine next[p]; end;
end;
invariant "who waits has a predecessor"
  forall p: P do state[p] = Waiting -> exists q: P do !isundefined(next[q]) & next[q] = p end end;
