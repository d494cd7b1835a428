-- A processor for each member of another scalarset.
-- fails with 4
const N: 3;
type P: scalarset(N); Q: scalarset(4);
var mine: array [P] of Q;
startstate begin for p: P do undefine mine[p]; end; end;
ruleset p: P; m: Q do rule "pick" isundefined(mine[p]) ==> begin mine[p] := m; end; end;
invariant "some member is nobody's"
  exists m: Q do forall q: P do isundefined(mine[q]) | mine[q] != m end end;
