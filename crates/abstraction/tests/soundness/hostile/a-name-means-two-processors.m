-- A name that means two processors.
-- fails with 3
const N: 3;
type P: scalarset(N); S: enum { I, A, B };
var st: array [P] of S; bad: boolean;
startstate begin for p: P do st[p] := I; end; bad := false; end;
ruleset p: P do
  rule "a" st[p] = I ==> begin st[p] := A; end;
  rule "b" st[p] = I & (exists p: P do st[p] = A end) ==> begin
    if st[p] = I then bad := bad; else bad := true; end;
    if (exists p: P do st[p] = A end) & (exists p: P do st[p] = B end)
    then bad := true; end;
    st[p] := B;
  end;
end;
invariant "never" !bad | false;
