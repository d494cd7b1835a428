-- Sequentially consistent, but not by the order in which stores happen: a store waits until it
-- reaches memory, its processor waits with it, and another one may overtake it.
const
  Waits: true; -- false: loads do not wait for the store before them
  Forwards: false; -- true: loads return the store that waits, if it is for their address
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
  rule "load"
    memory[a] = v
    & (isundefined(waiting[p].a) | !Waits & !(Forwards & waiting[p].a = a))
  ==>
  begin
    Load(p, a, v);
  end;

  rule "load from the store that waits"
    Forwards & !isundefined(waiting[p].a) & waiting[p].a = a & waiting[p].v = v
  ==>
  begin
    Load(p, a, v);
  end;

  rule "store" isundefined(waiting[p].a) ==>
  begin
    waiting[p].a := a;
    waiting[p].v := v;
    Store(p, a, v);
  end;
end;

ruleset p: Proc do
  rule "reach memory" !isundefined(waiting[p].a) ==>
  begin
    memory[waiting[p].a] := waiting[p].v;
    undefine waiting[p];
  end;
end;
