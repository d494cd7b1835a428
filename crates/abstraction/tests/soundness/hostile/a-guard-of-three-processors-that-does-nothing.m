-- The same in a rule that does nothing.
-- fails with 6
const N: 3;
type P: scalarset(N);
var l: array [P] of 0..4; t: array [0..10] of boolean; noted: boolean;
startstate begin for p: P do l[p] := 0; end; for i: 0..10 do t[i] := true; end; noted := false; end;
ruleset p: P; q: P do
  rule "climb" p != q & l[p] = l[q] & l[p] < 4 ==> begin l[p] := l[p] + 1; end;
end;
ruleset p: P; q: P; r: P do
  rule "x" p != q & q != r & p != r & t[l[p] + l[q] + l[r]] ==> begin end;
end;
