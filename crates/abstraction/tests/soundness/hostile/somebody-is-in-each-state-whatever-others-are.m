-- A processor for each of four states, named under another quantifier only.
-- fails with 4
const N: 3;
type P: scalarset(N); S: enum { I, A, B, C };
var st: array [P] of S;
startstate begin for p: P do st[p] := I; end; end;
ruleset p: P do
  rule "a" true ==> begin st[p] := A; end;
  rule "b" true ==> begin st[p] := B; end;
  rule "c" true ==> begin st[p] := C; end;
end;
invariant "some state is nobody's"
  exists s: S do !(exists p: P do forall q: P do st[p] = s end end) end;
