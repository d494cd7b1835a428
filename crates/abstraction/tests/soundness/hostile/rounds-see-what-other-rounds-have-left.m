-- Rounds that see what other rounds have left.
-- fails with 2
const N: 3;
type P: scalarset(N); S: enum { I, A, B };
var st: array [P] of S; flag: boolean;
startstate begin for p: P do st[p] := I; end; flag := false; end;
ruleset p: P do
  rule "a" st[p] = I ==> begin st[p] := A; end;
  rule "look" st[p] = A & !flag ==>
  begin
    for q: P do
      if flag & st[q] = I then st[q] := B; end;
      if st[q] = A then flag := true; end;
    end;
  end;
end;
invariant "nobody is told" forall p: P do st[p] != B end;
