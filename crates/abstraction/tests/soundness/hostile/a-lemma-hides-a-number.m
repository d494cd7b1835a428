-- The witness of a false lemma has the name of a number that the guard reads, and is another number.
-- fails with 5
-- given: invariant "lemma for go" forall p: P; k: 5..5 do false end;
const N: 3;
type P: scalarset(N);
var d: array [P] of 0..1; k: 0..5; own: P; b: boolean;
startstate begin for p: P do d[p] := 0; end; k := 0; undefine own; b := false; end;
ruleset p: P do
  rule "take" !b & d[p] = 0 ==> begin own := p; b := true; end;
  rule "go" b & own = p & d[p] = 0 & k < 5 ==> begin d[p] := 1; k := k + 1; b := false; end;
end;
invariant "few" k != 5;
