-- Some slot is free: that fails with a processor in each of five.
-- fails with 5
const N: 3;
type P: scalarset(N);
var l: array [P] of 0..5;
startstate begin for p: P do l[p] := 0; end; end;
ruleset p: P; s: 1..5 do
  rule "take" l[p] = 0 & (forall q: P do l[q] != s end) ==> begin l[p] := s; end;
end;
invariant "free" exists s: 1..5 do forall q: P do l[q] != s end end;
