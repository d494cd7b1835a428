-- Undefined references are compared in an `if` that does nothing.
-- fails with 5
const N: 3;
type P: scalarset(N);
var done: array [P] of boolean; n: 0..5; owner: P; second: P;
startstate begin for p: P do done[p] := false; end; n := 0; undefine owner; undefine second; end;
ruleset p: P do rule "leave" !done[p] & n < 5 ==> begin done[p] := true; n := n + 1; end; end;
rule "x" n = 5 ==> begin if owner = second then end; end;
