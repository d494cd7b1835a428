type Proc: scalarset(2); Message: record from: Proc; ok: boolean; end; Bag: multiset [2] of Message;
var net: array [Proc] of Bag; bag: Bag; owner: Proc; n: 0..2;
procedure drop(var b: Bag; p: Proc); begin MultisetRemovePred(i: b, b[i].from = p); end;
startstate begin n := 0; for p: Proc do undefine net[p]; end; end;
ruleset p: Proc do choose i: net[p] do choose j: net[p] do alias m: net[p][i] do
  rule i != j & m.ok ==> begin MultisetRemove(i, net[p]); net[p][j].ok := true; end;
end; end; end; end;
rule !isundefined(owner) & MultisetCount(i: net[owner], net[owner][i].ok) = 1 ==> begin
  alias b: net[owner] do MultisetRemovePred(i: b, b[i].ok); n := MultisetCount(i: b, b[i].ok); end;
  drop(bag, owner);
end;
-- An alias is another name of the multiset if its indices cannot change.
ruleset p: Proc do choose i: net[p] do alias chan: net[p]; msg: chan[i] do
  rule msg.ok ==> begin if p != msg.from then bag := bag; end; MultisetRemove(i, chan); end;
end; end; end;
