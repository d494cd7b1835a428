-- An index out of range in a guard that is false whatever the state.
-- fails with 5
const N: 3;
type P: scalarset(N);
var done: array [P] of boolean; n: 0..5; t: array [0..4] of boolean; noted: boolean;
startstate begin for p: P do done[p] := false; end; n := 0; for i: 0..4 do t[i] := true; end; noted := false; end;
ruleset p: P do rule "leave" !done[p] & n < 5 ==> begin done[p] := true; n := n + 1; end; end;
rule "x" t[n] & false ==> begin noted := true; end;
