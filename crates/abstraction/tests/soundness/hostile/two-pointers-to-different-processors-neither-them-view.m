-- Two pointers to different processors, neither of them in view.
-- fails with 4
const N: 3;
type P: scalarset(N);
var next: array [P] of P; aim: array [P] of boolean;
startstate begin undefine next; for p: P do aim[p] := false; end; end;
ruleset p: P; q: P do
  rule "point" p != q & isundefined(next[p]) & isundefined(next[q]) & !aim[p] ==>
  begin next[p] := q; aim[q] := true; end;
end;
invariant "same"
  forall p: P do forall q: P do
    !isundefined(next[p]) & !isundefined(next[q]) -> next[p] = next[q]
  end end;
