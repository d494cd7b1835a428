-- An undefined value under `exists`.
-- fails with 2
const N: 3;
type P: scalarset(N);
var x: array [P] of 0..1; here: array [P] of boolean;
startstate begin for p: P do x[p] := 0; here[p] := false; end; end;
ruleset p: P do
  rule "forget" !here[p] ==> begin here[p] := true; undefine x[p]; end;
end;
rule "look" (exists p: P do x[p] = 1 end) ==> begin for p: P do here[p] := false; end; end;
