-- A function reads the state; the one that calls it binds the same name.
-- fails with 5
const N: 3;
type P: scalarset(N);
var d: array [P] of 0..1; k: 0..5;
function size(): 0..5; begin return k; end;
function isThree(): boolean; begin return forall k: 0..5 do k != 3 | size() = k end; end;
startstate begin for p: P do d[p] := 0; end; k := 0; end;
ruleset p: P do
  rule "go" d[p] = 0 & k < 5 & (k = 3 | !isThree()) ==> begin k := k + 1; d[p] := 1; end;
end;
invariant "few" k != 5;
