-- A guard reads what a fourth processor does not have, in a rule that does nothing.
-- fails with 4
const N: 3;
type P: scalarset(N); V: enum {A, B};
var x: array [P] of V; has: array [P] of V;
startstate begin for p: P do undefine x[p]; has[p] := A; end; end;
ruleset p: P do
  rule "give" has[p] = A ==> begin has[p] := B; x[p] := A; end;
end;
ruleset p: P; q: P; r: P; s: P do
  rule "look" p != q & p != r & q != r & has[p] = B & has[q] = B & has[r] = B & x[s] = A ==> begin end;
end;
invariant "nothing" true;
