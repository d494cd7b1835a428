-- Two pointers to a third processor.
-- fails with 3
const N: 3;
type P: scalarset(N);
var next: array [P] of P;
startstate begin undefine next; end;
ruleset p: P; q: P do
  rule "point" p != q & isundefined(next[p]) ==> begin next[p] := q; end;
end;
invariant "different"
  forall p: P do forall q: P do
    p != q & !isundefined(next[p]) & !isundefined(next[q]) -> next[p] != next[q]
  end end;
