-- The same as a supposition, with a condition about both processors.
-- fails with 4
const N: 3;
type P: scalarset(N); S: enum { I, A, B, C };
var st: array [P] of S; flag: boolean;
startstate begin for p: P do st[p] := I; end; flag := false; end;
ruleset p: P do
  rule "a" true ==> begin st[p] := A; end;
  rule "b" true ==> begin st[p] := B; end;
  rule "c" true ==> begin st[p] := C; end;
end;
invariant "some state is nobody's"
  (forall s: S do exists p: P do forall q: P do st[p] = s | (p = q & flag) end end end) -> flag;
