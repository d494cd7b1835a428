-- The litmus test of Figure 3 of "Verification of a lazy cache coherence protocol against a weak
-- memory model" on store buffers, in the one schedule that gives its outcome: allowed by TSO, but
-- not by TSO-LB. The last two loads happen at once, because TSO-LB fails at the first of them, and
-- without the second its trace would be one that TSO-LB has in another order.
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

function OneLeft(): boolean;
begin
  return forall p: Proc do buffer[p].count = 1 end;
end;

function All(at: 0..5): boolean;
begin
  return forall p: Proc do next[p] = at end;
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

    rule "first load" next[p] = 2 & memory[Target(p, next[p])] = v & buffer[p].count = 2 ==>
    begin
      Load(p, Target(p, next[p]), v);
      next[p] := next[p] + 1;
    end;

    rule "second load" next[p] = 3 & memory[Target(p, next[p])] = v & OneLeft() ==>
    begin
      Load(p, Target(p, next[p]), v);
      next[p] := next[p] + 1;
    end;
  end;

  rule "flush" buffer[p].count = 2 & All(3) ==>
  begin
    memory[buffer[p].items[0].a] := buffer[p].items[0].v;
    buffer[p].items[0] := buffer[p].items[1];
    undefine buffer[p].items[1];
    buffer[p].count := buffer[p].count - 1;
  end;
end;

ruleset v: Value; w: Value do
  rule "last loads" All(4) & memory[b] = v & memory[a] = w ==>
  begin
    Load(1, b, v);
    Load(2, a, w);
    for p: Proc do next[p] := 5; end;
  end;
end;
