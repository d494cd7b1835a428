-- An argument that adds up what three processors have.
-- fails with 6
const N: 3;
type P: scalarset(N);
var l: array [P] of 0..4; noted: boolean;
procedure note(x: 0..10); begin end;
startstate begin for p: P do l[p] := 0; end; noted := false; end;
ruleset p: P; q: P do
  rule "climb" p != q & l[p] = l[q] & l[p] < 4 ==> begin l[p] := l[p] + 1; end;
end;
ruleset p: P; q: P; r: P do
  rule "x" p != q & q != r & p != r ==> begin note(l[p] + l[q] + l[r]); noted := true; end;
end;
