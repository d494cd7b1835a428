-- An index out of range in an `alias` that does nothing.
-- fails with 5
const N: 3;
type P: scalarset(N);
var done: array [P] of boolean; n: 0..5; t: array [0..4] of boolean;
startstate begin for p: P do done[p] := false; end; n := 0; for i: 0..4 do t[i] := true; end; end;
ruleset p: P do rule "leave" !done[p] & n < 5 ==> begin done[p] := true; n := n + 1; end; end;
rule "x" true ==> begin alias a: t[n] do end; end;
