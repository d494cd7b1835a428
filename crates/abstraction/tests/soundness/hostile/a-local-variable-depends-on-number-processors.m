-- A local variable that depends on the number of processors.
-- fails with 4
const N: 3;
type P: scalarset(N);
var here: array [P] of boolean;
startstate begin for p: P do here[p] := false; end; end;
ruleset p: P do rule "come" !here[p] ==>
  var i: -4..-N;
  begin here[p] := true; i := -N + 0; if i = -4 then error "four"; end; end;
end;
