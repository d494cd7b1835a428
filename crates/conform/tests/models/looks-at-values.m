-- A store of what the address held before its last store is dropped: it looks like one that comes
-- late. Data is not independent, and two processors that store the same values in turn see it.
type
  Proc: scalarset(2);
  Addr: scalarset(2);
  Value: 0..2;
var
  memory: array [Addr] of Value;
  before: array [Addr] of Value;

procedure Load(p: Proc; a: Addr; v: Value); begin end;
procedure Store(p: Proc; a: Addr; v: Value); begin end;

startstate
begin
  for a: Addr do memory[a] := 0; before[a] := 0; end;
end;

ruleset p: Proc; a: Addr do
  rule "load" begin Load(p, a, memory[a]); end;
end;

ruleset p: Proc; a: Addr; v: Value do
  rule "store"
  begin
    if v != memory[a] -> v != before[a] then
      before[a] := memory[a];
      memory[a] := v;
    end;
    Store(p, a, v);
  end;
end;
