-- A loop counts down and leaves the array at its lower end, where nothing changes.
-- fails with 5
const N: 3;
type P: scalarset(N);
var d: array [P] of 0..1; k: 0..5; t: array [5..9] of 0..1;
startstate begin
  for p: P do d[p] := 0; end;
  for i: 5..9 do t[i] := 0; end;
  k := 0;
end;
ruleset p: P do rule "go" d[p] = 0 & k < 5 ==> begin k := k + 1; d[p] := 1; end; end;
rule "look" k = 5 ==> begin for i := 5 to 4 by -1 do if t[i] = 0 then end; end; end;
