-- One element more than a multiset has room for.
-- fails with 5
const N: 3;
type P: scalarset(N); V: enum { X, Y };
var done: array [P] of boolean; bag: multiset [4] of V;
startstate begin for p: P do done[p] := false; end; undefine bag; end;
ruleset p: P do rule "send" !done[p] ==> begin done[p] := true; multisetadd(X, bag); end; end;
