-- A value is copied although there is none, and the guard takes another one for it then.
-- fails with 5
const N: 3;
type P: scalarset(N); V: enum {A, B};
var x: array [P] of V; has: array[P] of V; done: array [P] of V; last: V; bad: boolean; n: 0..4; z: 0..1;
startstate begin for p: P do undefine x[p]; has[p] := A; done[p] := A; end; undefine last; bad := false; n := 0; z := 0; end;
ruleset p: P do
  rule "go" done[p] = A & (isundefined(x[p]) ? A : x[p]) = A ==> begin
last := x[p]; if n < 4 then n := n+1 else bad := true end;
    done[p] := B;
  end;
end;
invariant "never" !bad | false;
