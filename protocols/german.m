-- German's directory protocol: caches kept coherent by one home node.
--
-- What it models.  One memory line, one home, N caches.  A cache asks the home
-- for a shared or an exclusive copy.  The home serves one request at a time: it
-- first invalidates whoever stands in the way, waits for all the
-- acknowledgements (an exclusive copy comes back with its data), then grants.
--
-- Messages, one slot per cache and channel:
--   channel 1, cache to home:  RequestShared, RequestExclusive
--   channel 2, home to cache:  GrantShared (data), GrantExclusive (data), Invalidate
--   channel 3, cache to home:  InvalidateAck (data, if it was exclusive)
--
-- States of a cache: Invalid, Shared, Exclusive.  There are no transient states:
-- what a cache waits for is visible in its channels.
--
-- State of the home: the request it serves (`serving`, for `client`), a superset
-- of the caches with a copy (`holders`), those it has still to send an
-- Invalidate (`to_invalidate`), whether an exclusive copy is out
-- (`exclusive_granted`), and the memory.
--
-- `latest` is not part of the machine: it remembers the value of the last store.
--
-- Properties:
--   "single writer"         an Exclusive cache is alone
--   "data is current"       a readable cache holds the latest value, and so
--                           does the memory while no exclusive copy is out
--   no deadlock
--
-- Parameters: NodeCount, the number of caches; ValueCount, of data values.

const
  NodeCount  : 3;
  ValueCount : 2;

type
  Node  : scalarset(NodeCount);
  Value : scalarset(ValueCount);

  CacheState  : enum { Invalid, Shared, Exclusive };
  MessageKind : enum { None,
                       RequestShared, RequestExclusive,
                       GrantShared, GrantExclusive, Invalidate,
                       InvalidateAck };

  Line : record
    state : CacheState;
    data  : Value;        -- undefined while Invalid
  end;

  Message : record
    kind : MessageKind;
    data : Value;         -- undefined unless the message carries data
  end;

var
  cache    : array [Node] of Line;
  channel1 : array [Node] of Message;
  channel2 : array [Node] of Message;
  channel3 : array [Node] of Message;

  serving           : MessageKind;   -- None, RequestShared or RequestExclusive
  client            : Node;          -- undefined while serving nobody
  -- In one declaration, since CMurphi assigns arrays of one type only.
  holders, to_invalidate : array [Node] of boolean;
  exclusive_granted : boolean;
  memory            : Value;

  latest : Value;

-- Empties a slot.
procedure consume(var message : Message);
begin
  message.kind := None;
  undefine message.data;
end;

-- The request has been granted.
procedure finish();
begin
  serving := None;
  undefine client;
end;

ruleset n : Node; v : Value do
  rule "store"
    cache[n].state = Exclusive
  ==>
  begin
    cache[n].data := v;
    latest := v;
  end;
end;

ruleset n : Node do

  rule "cache asks for a shared copy"
    cache[n].state = Invalid & channel1[n].kind = None
  ==>
  begin
    channel1[n].kind := RequestShared;
  end;

  rule "cache asks for an exclusive copy"
    cache[n].state != Exclusive & channel1[n].kind = None
  ==>
  begin
    channel1[n].kind := RequestExclusive;
  end;

  rule "home takes up a request"
    serving = None & channel1[n].kind != None
  ==>
  begin
    serving := channel1[n].kind;
    client := n;
    consume(channel1[n]);
    to_invalidate := holders;
  end;

  rule "home sends an invalidation"
    channel2[n].kind = None & to_invalidate[n] &
    (serving = RequestExclusive | (serving = RequestShared & exclusive_granted))
  ==>
  begin
    channel2[n].kind := Invalidate;
    to_invalidate[n] := false;
  end;

  rule "cache gives up its copy"
    channel2[n].kind = Invalidate & channel3[n].kind = None
  ==>
  begin
    consume(channel2[n]);
    channel3[n].kind := InvalidateAck;
    if cache[n].state = Exclusive then
      channel3[n].data := cache[n].data;
    end;
    cache[n].state := Invalid;
    undefine cache[n].data;
  end;

  rule "home collects an acknowledgement"
    serving != None & channel3[n].kind = InvalidateAck
  ==>
  begin
    holders[n] := false;
    if exclusive_granted then
      exclusive_granted := false;
      memory := channel3[n].data;
    end;
    consume(channel3[n]);
  end;

  rule "home grants a shared copy"
    serving = RequestShared & client = n &
    channel2[n].kind = None & !exclusive_granted
  ==>
  begin
    channel2[n].kind := GrantShared;
    channel2[n].data := memory;
    holders[n] := true;
    finish();
  end;

  rule "home grants an exclusive copy"
    serving = RequestExclusive & client = n &
    channel2[n].kind = None & forall m : Node do !holders[m] end
  ==>
  begin
    channel2[n].kind := GrantExclusive;
    channel2[n].data := memory;
    holders[n] := true;
    exclusive_granted := true;
    finish();
  end;

  rule "cache takes a shared copy"
    channel2[n].kind = GrantShared
  ==>
  begin
    cache[n].state := Shared;
    cache[n].data := channel2[n].data;
    consume(channel2[n]);
  end;

  rule "cache takes an exclusive copy"
    channel2[n].kind = GrantExclusive
  ==>
  begin
    cache[n].state := Exclusive;
    cache[n].data := channel2[n].data;
    consume(channel2[n]);
  end;

end;

ruleset v : Value do
  startstate "no copies; the memory holds any value"
  begin
    for n : Node do
      cache[n].state := Invalid;
      undefine cache[n].data;
      consume(channel1[n]);
      consume(channel2[n]);
      consume(channel3[n]);
      holders[n] := false;
      to_invalidate[n] := false;
    end;
    finish();
    exclusive_granted := false;
    memory := v;
    latest := v;
  end;
end;

invariant "single writer"
  forall n : Node do forall m : Node do
    n != m & cache[n].state = Exclusive -> cache[m].state = Invalid
  end end;

invariant "data is current"
  (!exclusive_granted -> memory = latest) &
  forall n : Node do
    cache[n].state != Invalid -> cache[n].data = latest
  end;
