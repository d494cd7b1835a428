-- A condition over nothing.
-- fails with 2
const N: 3;
type P: scalarset(N);
var here: array [P] of boolean; count: 0..2; bad: boolean;
startstate begin for p: P do here[p] := false; end; count := 0; bad := false; end;
ruleset p: P; q: P do
  rule "go" p != q & (forall i := 1 to count do p = q end) ==> begin bad := true; end;
end;
invariant "never" !bad | false;
