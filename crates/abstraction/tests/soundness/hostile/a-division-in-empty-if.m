-- A division by zero in the condition of an `if` that does nothing.
-- fails with 5
const N: 3;
type P: scalarset(N);
var done: array [P] of boolean; n: 0..5;
startstate begin for p: P do done[p] := false; end; n := 0; end;
ruleset p: P do rule "leave" !done[p] & n < 5 ==> begin done[p] := true; n := n + 1; end; end;
rule "x" true ==> begin if n / (5 - n) > 9 then end; end;
