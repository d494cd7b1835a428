-- An index out of range in a guard that holds of no processor.
-- fails with 4
const N: 3;
type P: scalarset(N);
var l: array [P] of 0..4; t: array [0..2] of boolean; noted: boolean;
startstate begin for p: P do l[p] := 0; end; for i: 0..2 do t[i] := true; end; noted := false; end;
ruleset p: P; q: P do
  rule "climb" p != q & l[p] = l[q] & l[p] < 4 ==> begin l[p] := l[p] + 1; end;
end;
ruleset p: P do rule "x" t[l[p]] & p != p ==> begin noted := true; end; end;
