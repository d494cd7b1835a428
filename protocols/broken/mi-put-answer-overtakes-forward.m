-- BROKEN: the directory answers every PutM with PutAck, even one that came after
-- it had forwarded a request to the evictor.  On an unordered network the answer
-- may overtake the forward, which then finds the line gone: an assertion on the
-- expected state breaks.  (Accordingly a PutAck is now expected in II_A too.)
--
-- MI: the smallest directory protocol, on an unordered network.
--
-- What it models.  One memory line, its directory, and ProcessorCount caches, of
-- which at most one holds the line.  The directory knows the owner.  A cache that
-- misses asks the directory; without an owner the memory answers, otherwise the
-- directory forwards the request and the owner hands the line over (three hops).
-- The directory never waits: it names the requester as the new owner at once and
-- goes on, so that a chain of forwards builds up, each stalled at a cache that
-- still awaits its own data.
--
-- Stable states of a cache: I (invalid), M (readable and writable).
-- Transient states, named from_to_awaited:
--   IM_D   miss, awaits data
--   MI_A   evicting, awaits the answer to its Put
--   II_A   evicting, has handed the line over meanwhile, awaits the answer
--   MI_F   its Put came too late: awaits the forward that the directory had sent
--          before it saw the Put
--
-- Messages.  The network keeps no order at all: each kind has its own slot per
-- destination, and any slot may be emptied at any time.  That a slot is never
-- needed twice is asserted wherever a message is sent.
--   request     cache to directory   GetM, PutM (data)
--   forward     directory to owner   (requester)
--   response    to the requester     data
--   put_answer  directory to cache   PutAck, PutStale
--
-- `latest` is not part of the machine: it remembers the value of the last store.
--
-- Properties:
--   "single holder"                 at most one cache is in M
--   "the holder has the latest value"
--   "memory is current"             while nobody owns the line
--   no unexpected message in any state, no slot used twice, no deadlock
--
-- Parameters: ProcessorCount, ValueCount (the number of data values).

const
  ProcessorCount : 3;
  ValueCount     : 2;

type
  Processor : scalarset(ProcessorCount);
  Value     : scalarset(ValueCount);

  CacheState  : enum { I, M, IM_D, MI_A, II_A, MI_F };
  RequestKind : enum { NoRequest, GetM, PutM };
  PutAnswer   : enum { NoAnswer, PutAck, PutStale };

  Cache : record
    state : CacheState;
    data  : Value;      -- undefined in states without data
  end;

  Request : record
    kind : RequestKind;
    data : Value;         -- with PutM
  end;

  Forward : record
    present   : boolean;
    requester : Processor;
  end;

  Response : record
    present : boolean;
    data    : Value;
  end;

var
  cache  : array [Processor] of Cache;
  owner  : Processor;   -- undefined while the memory holds the line
  memory : Value;

  request    : array [Processor] of Request;    -- by sender
  forward    : array [Processor] of Forward;    -- by destination
  response   : array [Processor] of Response;   -- by destination
  put_answer : array [Processor] of PutAnswer;  -- by destination

  latest : Value;

-- Sending: every slot is free when it is needed. ------------------------------

procedure send_request(p : Processor; kind : RequestKind);
begin
  assert request[p].kind = NoRequest "request slot is free";
  request[p].kind := kind;
  if kind = PutM then
    request[p].data := cache[p].data;
  end;
end;

procedure send_forward(destination : Processor; requester : Processor);
begin
  assert !forward[destination].present "forward slot is free";
  forward[destination].present := true;
  forward[destination].requester := requester;
end;

procedure send_response(destination : Processor; data : Value);
begin
  assert !response[destination].present "response slot is free";
  response[destination].present := true;
  response[destination].data := data;
end;

procedure send_put_answer(destination : Processor; answer : PutAnswer);
begin
  assert put_answer[destination] = NoAnswer "put answer slot is free";
  put_answer[destination] := answer;
end;

-- Receiving: empties a slot. --------------------------------------------------

procedure consume_request(p : Processor);
begin
  request[p].kind := NoRequest;
  undefine request[p].data;
end;

procedure consume_forward(p : Processor);
begin
  forward[p].present := false;
  undefine forward[p].requester;
end;

procedure consume_response(p : Processor);
begin
  response[p].present := false;
  undefine response[p].data;
end;

procedure become(p : Processor; state : CacheState);
begin
  cache[p].state := state;
end;

procedure drop_data(p : Processor);
begin
  undefine cache[p].data;
end;

-- What a processor does of its own accord. ------------------------------------

ruleset p : Processor; v : Value do
  rule "store"
    cache[p].state = M
  ==>
  begin
    cache[p].data := v;
    latest := v;
  end;
end;

ruleset p : Processor do

  rule "miss"
    cache[p].state = I
  ==>
  begin
    send_request(p, GetM);
    become(p, IM_D);
  end;

  rule "evict"
    cache[p].state = M
  ==>
  begin
    send_request(p, PutM);
    become(p, MI_A);
  end;

end;

-- What the directory does with a message. -------------------------------------

ruleset p : Processor do

  rule "directory serves GetM"
    request[p].kind = GetM
  ==>
  begin
    if isundefined(owner) then
      send_response(p, memory);
    else
      send_forward(owner, p);
    end;
    owner := p;
    consume_request(p);
  end;

  rule "directory serves PutM"
    request[p].kind = PutM
  ==>
  begin
    if !isundefined(owner) & owner = p then
      memory := request[p].data;
      undefine owner;
      send_put_answer(p, PutAck);
    else
      send_put_answer(p, PutAck);  -- BUG: was `PutStale`
    end;
    consume_request(p);
  end;

end;

-- What a cache does with a message. -------------------------------------------

ruleset p : Processor do

  rule "owner serves a forward"
    forward[p].present & cache[p].state != IM_D
  ==>
  begin
    assert cache[p].state = M | cache[p].state = MI_A | cache[p].state = MI_F
      "forward in an expected state";
    send_response(forward[p].requester, cache[p].data);
    if cache[p].state = MI_A then
      become(p, II_A);
    else
      become(p, I);
    end;
    drop_data(p);
    consume_forward(p);
  end;

  rule "requester takes the data"
    response[p].present
  ==>
  begin
    assert cache[p].state = IM_D "data in an expected state";
    cache[p].data := response[p].data;
    become(p, M);
    consume_response(p);
  end;

  rule "evictor learns that its Put was taken"
    put_answer[p] = PutAck
  ==>
  begin
    assert cache[p].state = MI_A | cache[p].state = II_A "PutAck in an expected state";
    drop_data(p);
    become(p, I);
    put_answer[p] := NoAnswer;
  end;

  rule "evictor learns that its Put was stale"
    put_answer[p] = PutStale
  ==>
  begin
    assert cache[p].state = MI_A | cache[p].state = II_A "PutStale in an expected state";
    if cache[p].state = MI_A then
      become(p, MI_F);
    else
      become(p, I);
    end;
    put_answer[p] := NoAnswer;
  end;

end;

-- Start and properties. -------------------------------------------------------

ruleset v : Value do
  startstate "no copies, no messages, any value in memory"
  begin
    for p : Processor do
      become(p, I);
      drop_data(p);
      consume_request(p);
      consume_forward(p);
      consume_response(p);
      put_answer[p] := NoAnswer;
    end;
    undefine owner;
    memory := v;
    latest := v;
  end;
end;

invariant "single holder"
  forall p : Processor do forall q : Processor do
    p != q -> !(cache[p].state = M & cache[q].state = M)
  end end;

invariant "the holder has the latest value"
  forall p : Processor do
    cache[p].state = M -> cache[p].data = latest
  end;

invariant "memory is current"
  isundefined(owner) -> memory = latest;
