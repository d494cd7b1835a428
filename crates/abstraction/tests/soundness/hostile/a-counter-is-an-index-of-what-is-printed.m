-- A counter of processors is an index of what is only printed.
-- fails with 5
const N: 2;
type P: scalarset(N);
var st: array [P] of boolean; n: 0..N; t: array [0..4] of boolean;
startstate begin for p: P do st[p] := false; end; n := 0; for i: 0..4 do t[i] := true; end; end;
ruleset p: P do rule "go" !st[p] ==> begin st[p] := true; n := n + 1; put t[n]; end; end;
