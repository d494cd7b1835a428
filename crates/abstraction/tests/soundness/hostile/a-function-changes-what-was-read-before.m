-- A function that changes what was read before.
-- fails with 1
const N: 3;
type P: scalarset(N);
var here: array [P] of boolean; a: 0..3; b: 0..3;
function step(): 0..1;
begin a := 2; return 1; end;
startstate begin for p: P do here[p] := false; end; a := 1; b := 0; end;
ruleset p: P do
  rule "go" !here[p] ==> begin here[p] := true; a := 1; b := a + step(); end;
end;
invariant "three" b != 2;
