-- Three that each are somewhere.
-- fails with 3
const N: 3;
type P: scalarset(N); S: enum { I, A, B, C };
var st: array [P] of S;
startstate begin for p: P do st[p] := I; end; end;
ruleset p: P do
  rule "a" st[p] = I ==> begin st[p] := A; end;
  rule "b" st[p] = I ==> begin st[p] := B; end;
  rule "c" st[p] = I ==> begin st[p] := C; end;
end;
invariant "not all of them"
  !((exists p: P do st[p] = A end) & (exists p: P do st[p] = B end)
    & (exists p: P do st[p] = C end));
