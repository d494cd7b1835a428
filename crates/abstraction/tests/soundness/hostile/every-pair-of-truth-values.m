-- A processor for each of four pairs of truth values.
-- fails with 4
const N: 3;
type P: scalarset(N);
var one: array [P] of boolean; two: array [P] of boolean;
startstate begin for p: P do one[p] := false; two[p] := false; end; end;
ruleset p: P do
  rule "one" true ==> begin one[p] := !one[p]; end;
  rule "two" true ==> begin two[p] := !two[p]; end;
end;
invariant "some pair is nobody's"
  exists a: boolean do exists b: boolean do forall q: P do one[q] != a | two[q] != b end end end;
