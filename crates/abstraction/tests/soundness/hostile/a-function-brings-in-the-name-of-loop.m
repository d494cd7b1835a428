-- A function has a variable that is called like one of a loop in the rule.
-- fails with 5
const N: 3;
type P: scalarset(N); V: 0..1;
var d: array [P] of array [V] of V; e: array [P] of V; k: 0..5; h: V;
procedure look(p: P); var a: V; begin a := 0; if d[p][a] = 1 then h := 1; end; end;
startstate begin for p: P do e[p] := 0; d[p][0] := 0; d[p][1] := 1; end; k := 0; h := 0; end;
ruleset p: P do
  rule "go" e[p] = 0 & k < 5 ==>
    var c: 0..2;
  begin
    e[p] := 1; c := 0; look(p);
    for a: V do if d[p][a] = 1 then c := c + 1; end; end;
    if c = 1 then k := k + 1; end;
  end;
end;
invariant "few" k != 5;
