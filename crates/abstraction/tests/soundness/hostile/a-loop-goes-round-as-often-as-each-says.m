-- In the round of another processor an inner loop goes round, in those of the concrete ones it does not.
-- fails with 5
const N: 3;
type P: scalarset(N);
var d: array [P] of 0..1; n: array [P] of 0..1; k: 0..5; x: boolean;
startstate begin for p: P do d[p] := 0; n[p] := 0; end; k := 0; x := false; end;
ruleset p: P do
  rule "go" d[p] = 0 & k < 5 ==> begin
    d[p] := 1; k := k + 1;
    if k = 5 then n[p] := 1; end;
  end;
end;
rule "scan" begin for q: P do for i := 1 to n[q] do x := true; end; end; end;
invariant "seen" forall p: P; q: P do p != q & x -> n[p] = 1 | n[q] = 1 end;
