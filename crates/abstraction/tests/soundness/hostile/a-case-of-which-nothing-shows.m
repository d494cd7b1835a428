-- The first of two cases that both apply changes what belongs to the processor alone.
-- fails with 5
const N: 3;
type P: scalarset(N);
var d: array [P] of 0..1; k: 0..5; x: 0..1; a: 0..1; b: 0..1;
startstate begin for p: P do d[p] := 0; end; k := 0; x := 1; a := 1; b := 1; end;
ruleset p: P do
  rule "go" d[p] = 0 & k < 5 ==> begin
    k := k + 1;
    switch x case a: d[p] := 1; case b: k := 0; end;
  end;
end;
invariant "few" k != 5;
