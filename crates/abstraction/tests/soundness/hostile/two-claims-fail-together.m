-- Two claims that fail together need the processors of both.
-- fails with 6
const N: 3;
type P: scalarset(N);
var l: array [P] of 0..5; n: 0..5;
startstate begin for p: P do l[p] := 0; end; n := 0; end;
ruleset p: P do rule "number" l[p] = 0 & n < 5 ==> begin n := n + 1; l[p] := n; end; end;
invariant "not both"
  !((forall s: 1..5 do exists q: P do l[q] < s end end) & (forall s: 1..5 do exists q: P do l[q] = s end end));
