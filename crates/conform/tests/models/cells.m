-- A memory without caches.
const
  Processors: 2;
  Addresses: 2;
  First: 0;
type
  Proc: 1..Processors;
  Addr: 1..Addresses;
  Value: 0..1;
var
  memory: array [Addr] of Value;

procedure Load(p: Proc; a: Addr; v: Value); begin end;
procedure Store(p: Proc; a: Addr; v: Value); begin end;

startstate
begin
  for a: Addr do memory[a] := First; end;
end;

ruleset p: Proc; a: Addr; v: Value do
  rule "load" memory[a] = v ==> begin Load(p, a, v); end;
  rule "store" begin memory[a] := v; Store(p, a, v); end;
end;
