-- A loop that goes up to the number of processors.
-- fails with 4
const N: 3;
type P: scalarset(N);
var here: array [P] of boolean;
startstate begin for p: P do here[p] := false; end; end;
ruleset p: P do rule "come" !here[p] ==>
  begin here[p] := true; for i: 0..N do if i = 4 then error "four"; end; end; end;
end;
