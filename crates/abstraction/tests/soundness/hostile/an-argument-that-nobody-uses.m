-- An argument out of range, for a procedure that does nothing.
-- fails with 5
const N: 3;
type P: scalarset(N);
var done: array [P] of boolean; n: 0..5;
procedure note(x: 0..4); begin end;
startstate begin for p: P do done[p] := false; end; n := 0; end;
ruleset p: P do rule "leave" !done[p] & n < 5 ==> begin done[p] := true; n := n + 1; end; end;
rule "x" true ==> begin note(n); end;
