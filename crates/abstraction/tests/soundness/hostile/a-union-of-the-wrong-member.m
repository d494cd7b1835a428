-- A union is used as the member that it is not, in an `if` that does nothing.
-- fails with 5
const N: 3;
type P: scalarset(N); Q: scalarset(2); V: enum { X, Y }; U: union { V, Q };
var done: array [P] of boolean; n: 0..5; u: U; seen: array [Q] of boolean;
startstate begin for p: P do done[p] := false; end; n := 0; u := X; for m: Q do seen[m] := true; end; end;
ruleset p: P do rule "leave" !done[p] & n < 5 ==> begin done[p] := true; n := n + 1; end; end;
rule "x" n = 5 ==> begin if seen[u] then end; end;
