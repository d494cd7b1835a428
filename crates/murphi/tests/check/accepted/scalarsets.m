type Proc: scalarset(3);
var turn: Proc; wants: array [Proc] of boolean; link: array [Proc] of Proc;
startstate begin undefine turn; for p: Proc do wants[p] := false; undefine link[p]; end; end;
ruleset p: Proc do
  rule isundefined(turn) & exists q: Proc do q != p & wants[q] end ==> begin turn := p; end;
  rule !isundefined(turn) & turn = p ==> begin link[turn] := p; undefine turn; end;
end;
