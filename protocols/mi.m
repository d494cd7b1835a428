-- MI: the smallest directory protocol, on an unordered network.
--
-- What it models.  Memory lines with their directory, and ProcessorCount caches, of
-- which at most one holds a line.  The directory knows the owner.  A cache that
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
-- destination and line, and any slot may be emptied at any time.  That a slot is
-- never needed twice is asserted wherever a message is sent.
--   request     cache to directory   GetM, PutM (data)
--   forward     directory to owner   (requester)
--   response    to the requester     data
--   put_answer  directory to cache   PutAck, PutStale
--
-- Processors and memory events.  A processor has one miss outstanding at most, on
-- any line; lines do not interact otherwise.  A miss asks for the line only: loads
-- and stores perform as hits, in M.  All lines start with the same value in memory.
--
-- `latest` is not part of the machine: it remembers the value of the last store.
--
-- Properties:
--   "single holder"                 at most one cache is in M
--   "the holder has the latest value"
--   "memory is current"             while nobody owns the line
--   "who waits has something to wait for"   a message that will wake it is under way
--   no unexpected message in any state, no slot used twice, no deadlock
--
-- Parameters: ProcessorCount, AddressCount (the number of lines), ValueCount (the
-- number of data values).

const
  ProcessorCount : 3;
  AddressCount   : 1;
  ValueCount     : 2;

type
  Processor : scalarset(ProcessorCount);
  Address   : scalarset(AddressCount);
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
  cache  : array [Processor] of array [Address] of Cache;
  owner  : array [Address] of Processor;   -- undefined while the memory has the line
  memory : array [Address] of Value;

  -- By sender (request) or destination, and address.
  request    : array [Processor] of array [Address] of Request;
  forward    : array [Processor] of array [Address] of Forward;
  response   : array [Processor] of array [Address] of Response;
  put_answer : array [Processor] of array [Address] of PutAnswer;

  latest : array [Address] of Value;

-- Memory events: what the processors see.  The bodies are empty; a checker of the
-- memory model attaches itself here. ------------------------------------------

procedure Load(p : Processor; a : Address; v : Value);
begin
end;

procedure Store(p : Processor; a : Address; v : Value);
begin
end;

-- Sending: every slot is free when it is needed. ------------------------------

procedure send_request(p : Processor; a : Address; kind : RequestKind);
begin
  assert request[p][a].kind = NoRequest "request slot is free";
  request[p][a].kind := kind;
  if kind = PutM then
    request[p][a].data := cache[p][a].data;
  end;
end;

procedure send_forward(destination : Processor; a : Address; requester : Processor);
begin
  assert !forward[destination][a].present "forward slot is free";
  forward[destination][a].present := true;
  forward[destination][a].requester := requester;
end;

procedure send_response(destination : Processor; a : Address; data : Value);
begin
  assert !response[destination][a].present "response slot is free";
  response[destination][a].present := true;
  response[destination][a].data := data;
end;

procedure send_put_answer(destination : Processor; a : Address; answer : PutAnswer);
begin
  assert put_answer[destination][a] = NoAnswer "put answer slot is free";
  put_answer[destination][a] := answer;
end;

-- Receiving: empties a slot. --------------------------------------------------

procedure consume_request(p : Processor; a : Address);
begin
  request[p][a].kind := NoRequest;
  undefine request[p][a].data;
end;

procedure consume_forward(p : Processor; a : Address);
begin
  forward[p][a].present := false;
  undefine forward[p][a].requester;
end;

procedure consume_response(p : Processor; a : Address);
begin
  response[p][a].present := false;
  undefine response[p][a].data;
end;

procedure become(p : Processor; a : Address; state : CacheState);
begin
  cache[p][a].state := state;
end;

procedure drop_data(p : Processor; a : Address);
begin
  undefine cache[p][a].data;
end;

-- One miss at a time per processor.
function missing(p : Processor) : boolean;
begin
  return exists a : Address do cache[p][a].state = IM_D end;
end;

-- What a processor does of its own accord. ------------------------------------

ruleset p : Processor; a : Address; v : Value do
  rule "store"
    cache[p][a].state = M
  ==>
  begin
    cache[p][a].data := v;
    latest[a] := v;
    Store(p, a, v);
  end;
end;

ruleset p : Processor; a : Address do

  rule "load"
    cache[p][a].state = M
  ==>
  begin
    Load(p, a, cache[p][a].data);
  end;

  rule "miss"
    cache[p][a].state = I & !missing(p)
  ==>
  begin
    send_request(p, a, GetM);
    become(p, a, IM_D);
  end;

  rule "evict"
    cache[p][a].state = M
  ==>
  begin
    send_request(p, a, PutM);
    become(p, a, MI_A);
  end;

end;

-- What the directory does with a message. -------------------------------------

ruleset p : Processor; a : Address do

  rule "directory serves GetM"
    request[p][a].kind = GetM
  ==>
  begin
    if isundefined(owner[a]) then
      send_response(p, a, memory[a]);
    else
      send_forward(owner[a], a, p);
    end;
    owner[a] := p;
    consume_request(p, a);
  end;

  rule "directory serves PutM"
    request[p][a].kind = PutM
  ==>
  begin
    if !isundefined(owner[a]) & owner[a] = p then
      memory[a] := request[p][a].data;
      undefine owner[a];
      send_put_answer(p, a, PutAck);
    else
      send_put_answer(p, a, PutStale);
    end;
    consume_request(p, a);
  end;

end;

-- What a cache does with a message. -------------------------------------------

ruleset p : Processor; a : Address do

  rule "owner serves a forward"
    forward[p][a].present & cache[p][a].state != IM_D
  ==>
  begin
    assert cache[p][a].state = M | cache[p][a].state = MI_A | cache[p][a].state = MI_F
      "forward in an expected state";
    send_response(forward[p][a].requester, a, cache[p][a].data);
    if cache[p][a].state = MI_A then
      become(p, a, II_A);
    else
      become(p, a, I);
    end;
    drop_data(p, a);
    consume_forward(p, a);
  end;

  rule "requester takes the data"
    response[p][a].present
  ==>
  begin
    assert cache[p][a].state = IM_D "data in an expected state";
    cache[p][a].data := response[p][a].data;
    become(p, a, M);
    consume_response(p, a);
  end;

  rule "evictor learns that its Put was taken"
    put_answer[p][a] = PutAck
  ==>
  begin
    assert cache[p][a].state = MI_A "PutAck in an expected state";
    drop_data(p, a);
    become(p, a, I);
    put_answer[p][a] := NoAnswer;
  end;

  rule "evictor learns that its Put was stale"
    put_answer[p][a] = PutStale
  ==>
  begin
    assert cache[p][a].state = MI_A | cache[p][a].state = II_A
      "PutStale in an expected state";
    if cache[p][a].state = MI_A then
      become(p, a, MI_F);
    else
      become(p, a, I);
    end;
    put_answer[p][a] := NoAnswer;
  end;

end;

-- Start and properties. -------------------------------------------------------

ruleset v : Value do
  startstate "no copies, no messages, any value in memory"
  begin
    for a : Address do
      for p : Processor do
        become(p, a, I);
        drop_data(p, a);
        consume_request(p, a);
        consume_forward(p, a);
        consume_response(p, a);
        put_answer[p][a] := NoAnswer;
      end;
      undefine owner[a];
      memory[a] := v;
      latest[a] := v;
    end;
  end;
end;

invariant "single holder"
  forall a : Address do forall p : Processor do forall q : Processor do
    p != q -> !(cache[p][a].state = M & cache[q][a].state = M)
  end end end;

invariant "the holder has the latest value"
  forall a : Address do forall p : Processor do
    cache[p][a].state = M -> cache[p][a].data = latest[a]
  end end;

invariant "memory is current"
  forall a : Address do
    isundefined(owner[a]) -> memory[a] = latest[a]
  end;

invariant "who waits has something to wait for"
  forall a : Address do forall p : Processor do
    (cache[p][a].state = IM_D
     -> request[p][a].kind = GetM | response[p][a].present |
        exists q : Processor do forward[q][a].present & forward[q][a].requester = p end) &
    (cache[p][a].state = MI_A | cache[p][a].state = II_A
     -> request[p][a].kind = PutM | put_answer[p][a] != NoAnswer) &
    (cache[p][a].state = MI_F -> forward[p][a].present)
  end end;
