-- What a rule has written of another processor it reads again, beside a local variable.
-- fails with 3
const N: 3;
type P: scalarset(N); S: enum { I, A, B };
var st: array [P] of S; flag: boolean; at: array [P] of S;
startstate begin for p: P do st[p] := I; at[p] := I; end; flag := false; end;
ruleset p: P do
  rule "change" st[p] = I ==>
  var t: S;
  begin t := A; st[p] := A; if st[p] = A then flag := true; end; st[p] := t; end;
  rule "left" flag & at[p] = I & st[p] = I ==> begin at[p] := A; end;
  rule "right" flag & at[p] = I & st[p] = I ==> begin at[p] := B; end;
end;
invariant "not both"
  forall p: P do forall q: P do at[p] = A & st[p] = I & st[q] = I -> at[q] != B end end;
