-- A parameter is called `false`, and is true in half of its instances.
-- fails with 5
const N: 3;
type P: scalarset(N);
var d: array [P] of 0..1; k: 0..5;
startstate begin for p: P do d[p] := 0; end; k := 0; end;
ruleset p: P; false: boolean do
  rule "go" false & d[p] = 0 & k < 5 ==> begin d[p] := 1; k := k + 1; end;
end;
invariant "few" k != 5;
