-- An argument out of range in a loop over processors that does nothing.
-- fails with 5
const N: 3;
type P: scalarset(N);
var l: array [P] of 0..4;
procedure note(x: 0..6); begin end;
startstate begin for p: P do l[p] := 0; end; end;
ruleset p: P; q: P do
  rule "climb" p != q & l[p] = l[q] & l[p] < 4 ==> begin l[p] := l[p] + 1; end;
end;
ruleset p: P do rule "x" true ==> begin for q: P do note(l[p] + l[q]); end; end; end;
