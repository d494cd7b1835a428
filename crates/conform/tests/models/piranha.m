-- The memory system of Figure 1 of "Verifying sequential consistency ... by model checking",
-- with bounded queues: requests wait while there is no room.
const
  Processors: 2;
  Addresses: 2;
  Values: 2;
  QueueLength: 4;
  ForgetsOwner: true; -- false: `owner` is not cleared when a shared copy is sent
type
  Proc: scalarset(Processors);
  Addr: scalarset(Addresses);
  Value: 0..Values - 1;
  Kind: enum {ACKS, ACKX, INVAL};
  Message: record kind: Kind; a: Addr; d: Value; end;
  Line: record s: enum {INV, SHD, EXC}; d: Value; end;
  Queue: record count: 0..QueueLength; items: array [0..QueueLength - 1] of Message; end;
var
  cache: array [Proc] of array [Addr] of Line;
  inQ: array [Proc] of Queue;
  owner: array [Addr] of Proc;

procedure Load(p: Proc; a: Addr; v: Value); begin end;
procedure Store(p: Proc; a: Addr; v: Value); begin end;

procedure Append(p: Proc; message: Message);
begin
  inQ[p].items[inQ[p].count] := message;
  inQ[p].count := inQ[p].count + 1;
end;

procedure Tail(p: Proc);
begin
  for n := 0 to QueueLength - 2 do
    inQ[p].items[n] := inQ[p].items[n + 1];
  end;
  undefine inQ[p].items[QueueLength - 1];
  inQ[p].count := inQ[p].count - 1;
end;

ruleset p: Proc do
  startstate "all shared"
  begin
    for i: Proc do
      inQ[i].count := 0;
      for j: Addr do
        cache[i][j].s := SHD;
        cache[i][j].d := 0;
      end;
    end;
    for j: Addr do
      owner[j] := p;
    end;
  end;
end;

ruleset i: Proc; j: Addr; k: Value do
  rule "R" cache[i][j].s != INV & cache[i][j].d = k ==>
  begin
    Load(i, j, k);
  end;

  rule "W" cache[i][j].s = EXC ==>
  begin
    cache[i][j].d := k;
    Store(i, j, k);
  end;
end;

ruleset i: Proc; j: Addr do
  rule "ACKX"
    cache[i][j].s != EXC & !isundefined(owner[j])
    & forall p: Proc do inQ[p].count < QueueLength end
  ==>
  var
    last: Proc;
    message: Message;
  begin
    last := owner[j];
    if last != i then
      cache[last][j].s := INV;
    end;
    undefine owner[j];
    message.a := j;
    for p: Proc do
      if p = i then
        message.kind := ACKX;
        message.d := cache[last][j].d;
        Append(p, message);
        undefine message.d;
      elsif p != last & cache[p][j].s != INV then
        message.kind := INVAL;
        Append(p, message);
      end;
    end;
  end;

  rule "ACKS"
    cache[i][j].s = INV & !isundefined(owner[j]) & inQ[i].count < QueueLength
  ==>
  var
    last: Proc;
    message: Message;
  begin
    last := owner[j];
    cache[last][j].s := SHD;
    if ForgetsOwner then
      undefine owner[j];
    end;
    message.kind := ACKS;
    message.a := j;
    message.d := cache[last][j].d;
    Append(i, message);
  end;
end;

ruleset i: Proc do
  rule "UPD" inQ[i].count > 0 ==>
  var
    message: Message;
  begin
    message := inQ[i].items[0];
    if message.kind = INVAL then
      cache[i][message.a].s := INV;
    else
      cache[i][message.a].s := (message.kind = ACKS ? SHD : EXC);
      cache[i][message.a].d := message.d;
      owner[message.a] := i;
    end;
    Tail(i);
  end;
end;
