-- That every slot is taken is compared with a truth value.
-- fails with 4
const N: 3;
type P: scalarset(N);
var l: array [P] of 0..4;
startstate begin for p: P do l[p] := 0; end; end;
ruleset p: P; s: 1..4 do
  rule "take" l[p] = 0 & (forall q: P do l[q] != s end) ==> begin l[p] := s; end;
end;
invariant "free" (forall s: 1..4 do exists q: P do l[q] = s end end) = false;
