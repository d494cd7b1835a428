-- An argument out of range in what is only printed.
-- fails with 5
const N: 3;
type P: scalarset(N);
var done: array [P] of boolean; n: 0..5;
function within(x: 0..4): boolean; begin return true; end;
startstate begin for p: P do done[p] := false; end; n := 0; end;
ruleset p: P do rule "leave" !done[p] & n < 5 ==> begin done[p] := true; n := n + 1; end; end;
rule "x" true ==> begin put within(n); end;
