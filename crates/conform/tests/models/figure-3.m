-- The litmus test of Figure 3 of "Verification of a lazy cache coherence protocol against a weak
-- memory model" on store buffers: its outcome is allowed by TSO, but not by TSO-LB.
type
  Proc: 1..2;
  Addr: enum {x, y, a, b};
  Value: 0..1;
  Buffered: record a: Addr; v: Value; end;
var
  memory: array [Addr] of Value;
  buffer: array [Proc] of record count: 0..2; items: array [0..1] of Buffered; end;
  next: array [Proc] of 0..5;

procedure Load(p: Proc; a: Addr; v: Value); begin end;
procedure Store(p: Proc; a: Addr; v: Value); begin end;

-- x := 1; a := 1; y; y; b      y := 1; b := 1; x; x; a
function Target(p: Proc; at: 0..5): Addr;
begin
  switch at
  case 0: return (p = 1 ? x : y);
  case 1: return (p = 1 ? a : b);
  case 2, 3: return (p = 1 ? y : x);
  else return (p = 1 ? b : a);
  end;
end;

startstate
begin
  for d: Addr do memory[d] := 0; end;
  for p: Proc do
    next[p] := 0;
    buffer[p].count := 0;
  end;
end;

ruleset p: Proc do
  ruleset v: Value do
    rule "store" next[p] < 2 ==>
    begin
      buffer[p].items[buffer[p].count].a := Target(p, next[p]);
      buffer[p].items[buffer[p].count].v := v;
      buffer[p].count := buffer[p].count + 1;
      Store(p, Target(p, next[p]), v);
      next[p] := next[p] + 1;
    end;

    -- What is loaded is never in the own buffer.
    rule "load" next[p] >= 2 & next[p] < 5 & memory[Target(p, next[p])] = v ==>
    begin
      Load(p, Target(p, next[p]), v);
      next[p] := next[p] + 1;
    end;
  end;

  rule "flush" buffer[p].count > 0 ==>
  begin
    memory[buffer[p].items[0].a] := buffer[p].items[0].v;
    buffer[p].items[0] := buffer[p].items[1];
    undefine buffer[p].items[1];
    buffer[p].count := buffer[p].count - 1;
  end;
end;
