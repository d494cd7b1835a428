-- A counter that is too small for all.
-- fails with 2
const N: 3;
type P: scalarset(N); Count: 0..N-1;
var here: array [P] of boolean; count: Count;
startstate begin for p: P do here[p] := false; end; count := 0; end;
ruleset p: P do
  rule "come" !here[p] ==> begin here[p] := true; count := count + 1; end;
end;
