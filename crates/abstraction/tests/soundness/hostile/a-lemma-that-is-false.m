-- A lemma that is false, for a rule that only four processors make possible.
-- fails with 4
-- given: invariant "lemma for late" false;
const N: 3;
type P: scalarset(N);
var l: array [P] of 0..4; flag: boolean;
startstate begin for p: P do l[p] := 0; end; flag := false; end;
ruleset p: P; s: 1..4 do
  rule "take" l[p] = 0 & (forall q: P do l[q] != s end) ==> begin l[p] := s; end;
end;
rule "late" (forall s: 1..4 do exists q: P do l[q] = s end end) ==> begin flag := true; end;
invariant "never" !flag;
