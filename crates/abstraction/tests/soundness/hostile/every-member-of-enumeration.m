-- A processor in each state of an enumeration.
-- fails with 4
const N: 3;
type P: scalarset(N); S: enum { I, A, B, C };
var st: array [P] of S;
startstate begin for p: P do st[p] := I; end; end;
ruleset p: P; e: S do rule "be" st[p] = I ==> begin st[p] := e; end; end;
invariant "some state is nobody's" exists e: S do forall q: P do st[q] != e end end;
