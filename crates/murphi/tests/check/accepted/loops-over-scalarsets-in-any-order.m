type Proc: scalarset(3); Kind: enum { None, Some };
     Message: record kind: Kind; from: Proc; end;
var count: 0..9; least: 0..9; all: boolean; any: boolean; rank: array [Proc] of 0..9; seen: Kind;
    net: multiset [3] of Message; queue: array [Proc] of record size: 0..3; first: array [0..3] of Kind; end;
    parity: 0..9; other: array [0..1] of 0..9; last: Proc;
    sharers: multiset [3] of Proc;
procedure send(goal: Proc; k: Kind);
begin
  alias q: queue[goal] do q.first[q.size] := k; q.size := q.size + 1; end;
end;
procedure post(k: Kind; p: Proc); var m: Message;
begin
  m.kind := k; m.from := p; MultisetAdd(m, net);
end;
startstate begin
  count := 0; least := 9; all := true; any := false; seen := None; parity := 0; undefine net; undefine sharers;
  for p: Proc do rank[p] := 0; clear queue[p]; end;
  for k: 0..1 do other[k] := 0; end;
  -- The last member is distinguished, in a start state only.
  for p: Proc do last := p; end;
end;
rule "add up" parity = 0 ==>
var t: 0..9; m: Message;
begin
  parity := 1;
  for p: Proc do
    t := rank[p] + 1;
    if t > 3 then count := count + t + 1; all := false; end;
    if rank[p] = 2 then any := true; end;
    if rank[p] < least then least := rank[p]; end;
    m.kind := rank[p] = 0 ? None : Some; MultisetAdd(m, net);
    if rank[p] = 1 then seen := Some; end;
    other[1] := other[1] + other[0];
    rank[p] := rank[p] > 5 ? 0 : rank[p] + 1;
  end;
  for p: Proc do for q: Proc do if q != p & rank[q] = 9 then all := false; end; end; end;
end;
rule "send" parity = 1 ==>
begin
  parity := 2; undefine net;
  for p: Proc do send(p, None); post(Some, p); end;
  MultisetRemovePred(i: net, net[i].kind = None);
  for p: Proc do assume rank[p] < 9; if rank[p] = 1 then seen := Some; end; assume rank[p] != 5; end;
  for p: Proc do if rank[p] = 9 then return; end; end;
end;
rule "least" var lowest: -9223372036854775808..-9223372036854775800; begin
  lowest := -9223372036854775808; lowest := lowest - -1;
end;
rule "invalidate all but the last" begin
  for p: Proc do
    if p != last & MultisetCount(i: sharers, sharers[i] = p) != 0 then
      MultisetRemovePred(i: sharers, p = sharers[i]); send(p, Some);
    end;
  end;
end;
