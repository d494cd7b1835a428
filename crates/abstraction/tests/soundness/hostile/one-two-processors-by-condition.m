-- One of two processors, by a condition.
-- fails with 2
const N: 3;
type P: scalarset(N); S: enum { I, A };
var st: array [P] of S; owner: P;
startstate begin for p: P do st[p] := I; end; undefine owner; end;
ruleset p: P; q: P do
  rule "set" p != q ==> begin owner := (st[p] = I ? p : q); st[p] := A; end;
end;
invariant "nobody" isundefined(owner);
