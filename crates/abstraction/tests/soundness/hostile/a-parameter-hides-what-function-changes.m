-- A procedure changes the state; the one that calls it has a parameter of the same name.
-- fails with 5
const N: 3;
type P: scalarset(N);
var d: array [P] of 0..1; k: 0..5;
procedure more(); begin k := k + 1; end;
procedure step(k: 0..5); begin if k = 0 then more(); end; end;
startstate begin for p: P do d[p] := 0; end; k := 0; end;
ruleset p: P do
  rule "go" d[p] = 0 & k < 5 ==> begin step(0); d[p] := 1; end;
end;
invariant "few" k != 5;
