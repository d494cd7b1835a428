-- A parameter has the name of a member of an enumeration.
-- fails with 5
const N: 3;
type P: scalarset(N); S: enum { A, B };
var d: array [P] of 0..1; k: 0..5;
startstate begin for p: P do d[p] := 0; end; k := 0; end;
ruleset p: P; A: S do
  rule "go" A = B & d[p] = 0 & k < 5 ==> begin d[p] := 1; k := k + 1; end;
end;
invariant "few" k != 5;
