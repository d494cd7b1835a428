-- What a start state assigns is undefined, and it assigns more than one variable.
-- fails with 5
const N: 3;
type P: scalarset(N);
var d: array [P] of 0..1; k: 0..5; x: 0..1; y: 0..1; z: 0..1;
startstate begin for p: P do d[p] := 0; end; k := 0; x := y; z := 0; end;
ruleset p: P do rule "go" d[p] = 0 & k < 5 ==> begin k := k + 1; d[p] := 1; end; end;
rule "look" k = 5 ==> begin if x = 0 then end; end;
