-- Stores travel to memory through an unordered network, and nobody waits for them. Values are
-- interchangeable, and what memory holds at first is any one of them.
type
  Proc: scalarset(2);
  Addr: scalarset(2);
  Value: scalarset(2);
  Message: record a: Addr; v: Value; end;
var
  memory: array [Addr] of Value;
  net: multiset [3] of Message;

procedure Load(p: Proc; a: Addr; v: Value); begin end;
procedure Store(p: Proc; a: Addr; v: Value); begin end;

ruleset v: Value do
  startstate
  begin
    for a: Addr do memory[a] := v; end;
    undefine net;
  end;
end;

ruleset p: Proc; a: Addr do
  rule "load"
  begin
    Load(p, a, memory[a]);
  end;

  ruleset v: Value do
    rule "store" MultisetCount(m: net, true) < 3 ==>
    var
      message: Message;
    begin
      message.a := a;
      message.v := v;
      MultisetAdd(message, net);
      Store(p, a, v);
    end;
  end;
end;

choose m: net do
  rule "reach memory"
  begin
    memory[net[m].a] := net[m].v;
    MultisetRemove(m, net);
  end;
end;
