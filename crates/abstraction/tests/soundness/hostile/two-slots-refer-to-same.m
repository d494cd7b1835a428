-- Of four slots, two are empty or refer to the same processor.
-- fails with 4
const N: 3;
type P: scalarset(N);
var holder: array [1..4] of P; done: array [P] of boolean;
startstate begin for s: 1..4 do undefine holder[s]; end; for p: P do done[p] := false; end; end;
ruleset p: P; s: 1..4 do
  rule "hold" isundefined(holder[s]) & !done[p] ==> begin holder[s] := p; done[p] := true; end;
end;
invariant "room"
  exists i: 1..4; j: 1..4 do
    i != j & (isundefined(holder[i]) | isundefined(holder[j]) | holder[i] = holder[j])
  end;
