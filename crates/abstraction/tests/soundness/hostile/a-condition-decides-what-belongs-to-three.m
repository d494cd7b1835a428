-- A condition reads what a fourth processor does not have, and what it decides belongs to three.
-- fails with 4
const N: 3;
type P: scalarset(N); V: enum {A, B};
var x: array [P] of V; has: array [P] of V; pair: array [P] of array [P] of array [P] of V;
startstate begin for p: P do undefine x[p]; has[p] := A; for q: P do for r: P do pair[p][q][r] := A; end; end; end; end;
ruleset p: P do
  rule "give" has[p] = A ==> begin has[p] := B; x[p] := A; end;
  rule "take" has[p] = B ==> begin has[p] := A; undefine x[p]; end;
end;
ruleset p: P; q: P; r: P; s: P do
  rule "look" has[p] = B & has[q] = B & has[r] = B & p != q & p != r & q != r ==> begin if x[s] = A then pair[p][q][r] := B; end; end;
end;
invariant "nothing" true;
