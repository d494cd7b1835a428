-- An alias stands for a value that was computed from what changes then.
-- fails with 5
const N: 3;
type P: scalarset(N);
var d: array [P] of 0..1; k: 0..5; h: 0..5;
startstate begin for p: P do d[p] := 0; end; k := 0; h := 0; end;
ruleset p: P do
  rule "go" d[p] = 0 & k < 5 ==> begin
    alias z: k + 1 do k := 0; h := z; k := h; end;
    d[p] := 1;
  end;
end;
invariant "few" k != 5;
