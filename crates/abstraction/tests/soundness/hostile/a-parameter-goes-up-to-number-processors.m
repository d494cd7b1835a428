-- A parameter that goes up to the number of processors.
-- fails with 4
const N: 3;
type P: scalarset(N);
var here: array [P] of boolean;
startstate begin for p: P do here[p] := false; end; end;
ruleset p: P do rule "come" !here[p] ==> begin here[p] := true; end; end;
ruleset i: 0..N do rule "four" i = 4 ==> begin error "four"; end; end;
