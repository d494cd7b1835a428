-- The invariant without a name fails with five processors; it is called by its number, as the other
-- one calls itself.
const N: 3;
type P: scalarset(N); Place: enum { Nowhere, Here };
var token: array [P] of Place; left: array [P] of boolean; number: 0..5;
ruleset p: P do
  startstate begin
    for q: P do token[q] := Nowhere; left[q] := false; end;
    token[p] := Here; number := 0;
  end;
end;
ruleset p: P; q: P do
  rule "send" token[p] = Here & p != q ==> begin token[p] := Nowhere; token[q] := Here; end;
end;
ruleset p: P do
  rule "leave" !left[p] & number < 5 ==> begin left[p] := true; number := number + 1; end;
end;
invariant "Invariant 1" exists q: P do token[q] = Here end;
invariant number < 5;
