-- A processor may load what it is about to store: stores are marked too late.
type
  Proc: scalarset(2);
  Addr: scalarset(2);
  Value: 0..1;
var
  memory: array [Addr] of Value;
  waiting: array [Proc] of record a: Addr; v: Value; end;

procedure Load(p: Proc; a: Addr; v: Value); begin end;
procedure Store(p: Proc; a: Addr; v: Value); begin end;

startstate
begin
  for a: Addr do memory[a] := 0; end;
end;

ruleset p: Proc; a: Addr; v: Value do
  rule "request" isundefined(waiting[p].a) ==>
  begin
    waiting[p].a := a;
    waiting[p].v := v;
  end;
end;

ruleset p: Proc do
  rule "load" !isundefined(waiting[p].a) ==>
  begin
    Load(p, waiting[p].a, waiting[p].v);
  end;

  rule "store" !isundefined(waiting[p].a) ==>
  begin
    memory[waiting[p].a] := waiting[p].v;
    Store(p, waiting[p].a, waiting[p].v);
    undefine waiting[p];
  end;
end;
