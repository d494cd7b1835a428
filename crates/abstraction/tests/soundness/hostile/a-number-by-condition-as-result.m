-- One of two numbers is returned, and one of them is out of range.
-- fails with 2
const N: 3;
type P: scalarset(N);
var done: array [P] of boolean; n: 0..1;
function chosen(): 0..1; begin return n = 1 ? 2 : 1; end;
startstate begin for p: P do done[p] := false; end; n := 0; end;
ruleset p: P do rule "leave" !done[p] & n < 1 ==> begin done[p] := true; n := n + 1; end; end;
rule "x" chosen() < 9 ==> begin end;
