-- An error in a round beside one that is excluded.
-- fails with 3
const N: 3;
type P: scalarset(N); S: enum { I, A, B, C };
var st: array [P] of S;
startstate begin for p: P do st[p] := I; end; end;
ruleset p: P do
  rule "a" st[p] = I ==> begin st[p] := A; end;
  rule "b" st[p] = I ==> begin st[p] := B; end;
  rule "c" st[p] = I ==> begin st[p] := C; end;
  rule "look" st[p] = A & exists r: P do st[r] = B end ==>
  begin
    for q: P do
      assume st[q] != B;
      if st[q] = C then error "C beside B"; end;
    end;
  end;
end;
