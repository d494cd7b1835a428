-- A member or a union is passed as the member that it is not.
-- fails with 5
const N: 3;
type P: scalarset(N); Q: scalarset(2); V: enum { X, Y }; U: union { V, Q };
var done: array [P] of boolean; n: 0..5; u: U; flag: boolean; one: Q;
function has(m: Q): boolean; begin return true; end;
startstate begin for p: P do done[p] := false; end; n := 0; u := X; flag := false; undefine one; end;
ruleset p: P do rule "leave" !done[p] & n < 5 ==> begin done[p] := true; n := n + 1; end; end;
rule "x" n = 5 ==> begin put has(flag ? one : u); end;
