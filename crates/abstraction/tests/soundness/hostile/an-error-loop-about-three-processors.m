-- An error in a loop, about three processors.
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
ruleset p: P; q: P do
  rule "look" st[p] = A & st[q] = B ==>
  begin for r: P do if st[r] = C then error "all of them"; end; end; end;
end;
