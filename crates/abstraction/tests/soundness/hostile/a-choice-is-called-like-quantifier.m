-- What is chosen for d[p] would be called d_p, as a variable of the guard is.
-- fails with 5
const N: 3;
type P: scalarset(N); V: 0..1;
var d: array [P] of V; e: array [P] of V; k: 0..5; g: V; h: V;
startstate begin for p: P do d[p] := 0; e[p] := 0; end; k := 0; g := 1; h := 0; end;
ruleset p: P do
  rule "go" e[p] = 0 & k < 5 & (forall d_p: V do d[p] = d_p -> g != d_p end) ==> begin
    h := d[p]; e[p] := 1; k := k + 1;
  end;
end;
invariant "few" k != 5;
