-- One of two numbers is passed, and one of them is out of range.
-- fails with 2
const N: 3;
type P: scalarset(N);
var done: array [P] of boolean; n: 0..1;
function within(x: 0..1): boolean; begin return true; end;
startstate begin for p: P do done[p] := false; end; n := 0; end;
ruleset p: P do rule "leave" !done[p] & n < 1 ==> begin done[p] := true; n := n + 1; end; end;
rule "x" within(n = 1 ? 2 : 1) ==> begin end;
