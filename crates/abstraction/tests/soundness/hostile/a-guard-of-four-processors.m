-- A guard adds up what four processors have.
-- fails with 6
const N: 3;
type P: scalarset(N);
var l: array [P] of 0..6; n: 0..6; t: array [0..17] of boolean; noted: boolean;
startstate begin for p: P do l[p] := 0; end; n := 0; for i: 0..17 do t[i] := true; end; noted := false; end;
ruleset p: P do rule "number" l[p] = 0 & n < 6 ==> begin n := n + 1; l[p] := n; end; end;
ruleset p: P; q: P; r: P; z: P do
  rule "x" p != q & p != r & p != z & q != r & q != z & r != z & t[l[p] + l[q] + l[r] + l[z]]
  ==> begin noted := true; end;
end;
