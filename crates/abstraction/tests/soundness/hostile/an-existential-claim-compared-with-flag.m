-- An existential claim compared with a flag.
-- fails with 3
const N: 3;
type P: scalarset(N); S: enum { I, A, B };
var st: array [P] of S; flag: boolean;
startstate begin for p: P do st[p] := I; end; flag := false; end;
ruleset p: P do
  rule "a" st[p] = I & !flag ==> begin st[p] := A; flag := true; end;
end;
ruleset p: P; q: P; r: P do
  rule "b" p != q & p != r & q != r & st[p] = A ==> begin st[p] := B; end;
end;
invariant "the flag is right" (exists p: P do st[p] = A end) = flag;
