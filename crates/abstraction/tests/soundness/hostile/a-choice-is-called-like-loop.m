-- What is chosen for d[p] would be called d_p, as the variable of a loop is.
-- fails with 5
const N: 3;
type P: scalarset(N); V: 0..1;
var d: array [P] of V; e: array [P] of V; k: 0..5; h: V;
startstate begin for p: P do d[p] := 0; e[p] := 0; end; k := 0; h := 0; end;
ruleset p: P do
  rule "go" e[p] = 0 & k < 5 ==> begin
    h := d[p]; e[p] := 1;
    for d_p: V do if d[p] != d_p then k := k + 1; end; end;
  end;
end;
invariant "few" k != 5;
