-- A function of a slot says whether it is free.
-- fails with 4
const N: 3;
type P: scalarset(N);
var l: array [P] of 0..4;
function none(s: 0..4): boolean; begin return forall q: P do l[q] != s end; end;
startstate begin for p: P do l[p] := 0; end; end;
ruleset p: P; s: 1..4 do
  rule "take" l[p] = 0 & (forall q: P do l[q] != s end) ==> begin l[p] := s; end;
end;
invariant "free" exists s: 1..4 do none(s) end;
