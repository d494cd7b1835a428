-- TSO-LB itself as a protocol: every processor has a buffer that it loads from, stores go to the
-- global buffer as well, and at any time a buffer may be brought up to date.
const
  Processors: 2;
  Addresses: 2;
  Values: 2;
  Whole: true; -- false: a buffer is brought up to date one address at a time
type
  Proc: scalarset(Processors);
  Addr: scalarset(Addresses);
  Value: 0..Values - 1;
  Buffer: array [Addr] of Value;
var
  global: Buffer;
  local: array [Proc] of Buffer;

procedure Load(p: Proc; a: Addr; v: Value); begin end;
procedure Store(p: Proc; a: Addr; v: Value); begin end;

startstate
begin
  for a: Addr do global[a] := 0; end;
  for p: Proc do local[p] := global; end;
end;

ruleset p: Proc; a: Addr; v: Value do
  rule "load" local[p][a] = v ==>
  begin
    Load(p, a, v);
  end;

  rule "store"
  begin
    local[p][a] := v;
    global[a] := v;
    Store(p, a, v);
  end;
end;

ruleset p: Proc do
  rule "propagate" Whole ==>
  begin
    local[p] := global;
  end;

  ruleset a: Addr do
    rule "propagate one address" !Whole ==>
    begin
      local[p][a] := global[a];
    end;
  end;
end;
