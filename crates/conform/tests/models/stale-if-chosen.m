-- A memory whose processors may load what an address held before, if the constants say so.
const Stale, Other: 1;

type
  Proc: scalarset(2);
  Addr: scalarset(2);
  Value: 0..1;

var
  memory, before: array [Addr] of Value;

procedure Load(p: Proc; a: Addr; v: Value); begin end;
procedure Store(p: Proc; a: Addr; v: Value); begin end;

startstate
begin
  for a: Addr do
    memory[a] := 0;
    before[a] := 0;
  end;
end;

ruleset p: Proc; a: Addr do
  rule "load" true ==> begin Load(p, a, memory[a]); end;
  rule "load what was there" Stale = 2 & Other = 1 ==> begin Load(p, a, before[a]); end;
end;

ruleset p: Proc; a: Addr; v: Value do
  rule "store" true ==>
  begin
    before[a] := memory[a];
    memory[a] := v;
    Store(p, a, v);
  end;
end;
