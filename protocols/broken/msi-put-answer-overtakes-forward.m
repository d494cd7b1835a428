-- BROKEN: the directory answers every PutM with PutAck, even one that came after
-- it had forwarded a request to the evictor.  On an unordered network the answer
-- may overtake the forward, which then finds the line gone: an assertion on the
-- expected state breaks.  (Accordingly a PutAck is now expected in II_A too.)
--
-- MSI: a directory protocol on an unordered network.
--
-- What it models.  One memory line, its directory, and ProcessorCount caches.
-- The directory keeps the set of sharers or the owner.  A cache that misses asks
-- the directory; if another cache owns the line, the directory forwards the
-- request and the owner answers the requester directly (three hops).  A writer
-- gets its data with the number of invalidation acknowledgements to expect, and
-- collects them itself, from the former sharers.  The directory does not wait
-- for a writer to finish: it records the new owner and goes on, so forwards
-- reach caches that have no data yet and stall there.  Only after it has
-- forwarded a read does it block, until the owner's data is in memory.
--
-- Stable states of a cache: I (invalid), S (shared, readable), M (modified,
-- writable).  Transient states, named from_to_awaited:
--   IS_D           read miss, awaits data
--   IM_AD, SM_AD   write miss or upgrade, awaits data and acknowledgements
--   IM_A,  SM_A    has the data, awaits acknowledgements
--   MI_A,  SI_A    evicting, awaits the answer to its Put
--   II_A           evicting, and has lost the line meanwhile
--   MI_F,  SI_F    its Put came too late: awaits the forward (or invalidation)
--                  that the directory had sent before it saw the Put
-- States of the directory: DirI, DirS, DirM, and DirS_D (blocked, awaits the
-- owner's data).
--
-- Messages.  The network keeps no order at all: each kind has its own slot per
-- destination, and any slot may be emptied at any time.  That a slot is never
-- needed twice is asserted wherever a message is sent.
--   request       cache to directory   GetS, GetM, PutS, PutM (data)
--   forward       directory to owner   FwdGetS, FwdGetM (requester)
--   invalidation  directory to sharer  (requester)
--   response      to the requester     data, number of acknowledgements to await
--   ack           sharer to requester  the copy is gone
--   put_answer    directory to cache   PutAck, PutStale
--   write_back    owner to directory   data, after a FwdGetS
--
-- `latest` is not part of the machine: it remembers the value of the last store.
--
-- Properties:
--   "single writer, multiple readers"  a cache in M is the only one that can read
--   "readers see the latest value"     a readable copy holds the latest value
--   "memory is current"                without an owner, so does the memory
--   no unexpected message in any state, no slot used twice, no deadlock
--
-- Parameters: ProcessorCount, ValueCount (the number of data values).

const
  ProcessorCount : 3;
  ValueCount     : 2;

type
  Processor : scalarset(ProcessorCount);
  Value     : scalarset(ValueCount);
  AckCount  : 0..ProcessorCount-1;

  CacheState : enum { I, S, M,
                      IS_D, IM_AD, IM_A, SM_AD, SM_A,
                      MI_A, SI_A, II_A, MI_F, SI_F };
  DirectoryState : enum { DirI, DirS, DirM, DirS_D };

  RequestKind : enum { NoRequest, GetS, GetM, PutS, PutM };
  ForwardKind : enum { NoForward, FwdGetS, FwdGetM };
  PutAnswer   : enum { NoAnswer, PutAck, PutStale };

  Cache : record
    state : CacheState;
    data  : Value;      -- undefined in states without data
    acks  : AckCount;   -- in IM_AD, SM_AD: received; in IM_A, SM_A: missing
  end;

  Directory : record
    state   : DirectoryState;
    owner   : Processor;                       -- undefined but in DirM
    sharers : array [Processor] of boolean;
    memory  : Value;
  end;

  Request : record
    kind : RequestKind;
    data : Value;         -- with PutM
  end;

  Forward : record
    kind      : ForwardKind;
    requester : Processor;
  end;

  Invalidation : record
    present   : boolean;
    requester : Processor;
  end;

  Response : record
    present : boolean;
    data    : Value;
    acks    : AckCount;
  end;

  WriteBack : record
    present : boolean;
    data    : Value;
  end;

var
  cache     : array [Processor] of Cache;
  directory : Directory;

  request      : array [Processor] of Request;       -- by sender
  forward      : array [Processor] of Forward;       -- by destination
  invalidation : array [Processor] of Invalidation;  -- by destination
  response     : array [Processor] of Response;      -- by destination
  ack          : array [Processor] of array [Processor] of boolean;
                                                     -- by destination, sender
  put_answer   : array [Processor] of PutAnswer;     -- by destination
  write_back   : WriteBack;

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

procedure send_forward(destination : Processor; kind : ForwardKind; requester : Processor);
begin
  assert forward[destination].kind = NoForward "forward slot is free";
  forward[destination].kind := kind;
  forward[destination].requester := requester;
end;

procedure send_invalidation(destination : Processor; requester : Processor);
begin
  assert !invalidation[destination].present "invalidation slot is free";
  invalidation[destination].present := true;
  invalidation[destination].requester := requester;
end;

procedure send_response(destination : Processor; data : Value; acks : AckCount);
begin
  assert !response[destination].present "response slot is free";
  response[destination].present := true;
  response[destination].data := data;
  response[destination].acks := acks;
end;

procedure send_ack(destination : Processor; sender : Processor);
begin
  assert !ack[destination][sender] "acknowledgement slot is free";
  ack[destination][sender] := true;
end;

procedure send_put_answer(destination : Processor; answer : PutAnswer);
begin
  assert put_answer[destination] = NoAnswer "put answer slot is free";
  put_answer[destination] := answer;
end;

procedure send_write_back(data : Value);
begin
  assert !write_back.present "write-back slot is free";
  write_back.present := true;
  write_back.data := data;
end;

-- Receiving: empties a slot. --------------------------------------------------

procedure consume_request(p : Processor);
begin
  request[p].kind := NoRequest;
  undefine request[p].data;
end;

procedure consume_forward(p : Processor);
begin
  forward[p].kind := NoForward;
  undefine forward[p].requester;
end;

procedure consume_invalidation(p : Processor);
begin
  invalidation[p].present := false;
  undefine invalidation[p].requester;
end;

procedure consume_response(p : Processor);
begin
  response[p].present := false;
  undefine response[p].data;
  response[p].acks := 0;
end;

procedure consume_write_back();
begin
  write_back.present := false;
  undefine write_back.data;
end;

-- Caches. ---------------------------------------------------------------------

procedure become(p : Processor; state : CacheState);
begin
  cache[p].state := state;
end;

procedure drop_data(p : Processor);
begin
  undefine cache[p].data;
end;

function readable(p : Processor) : boolean;
begin
  return cache[p].state = S | cache[p].state = M |
         cache[p].state = SM_AD | cache[p].state = SM_A;
end;

-- The directory may already name p as the owner although p cannot write yet.
function becoming_owner(p : Processor) : boolean;
begin
  return cache[p].state = IM_AD | cache[p].state = IM_A |
         cache[p].state = SM_AD | cache[p].state = SM_A;
end;

-- Directory. ------------------------------------------------------------------

function sharers_other_than(p : Processor) : AckCount;
var
  number : AckCount;
begin
  number := 0;
  for q : Processor do
    if q != p & directory.sharers[q] then
      number := number + 1;
    end;
  end;
  return number;
end;

procedure invalidate_sharers_for(p : Processor);
begin
  for q : Processor do
    if q != p & directory.sharers[q] then
      send_invalidation(q, p);
    end;
    directory.sharers[q] := false;
  end;
end;

procedure remove_sharer(p : Processor);
begin
  directory.sharers[p] := false;
  if forall q : Processor do !directory.sharers[q] end then
    directory.state := DirI;
  end;
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

  rule "read miss"
    cache[p].state = I
  ==>
  begin
    send_request(p, GetS);
    become(p, IS_D);
  end;

  rule "write miss"
    cache[p].state = I
  ==>
  begin
    send_request(p, GetM);
    become(p, IM_AD);
  end;

  rule "upgrade"
    cache[p].state = S
  ==>
  begin
    send_request(p, GetM);
    become(p, SM_AD);
  end;

  rule "evict shared"
    cache[p].state = S
  ==>
  begin
    send_request(p, PutS);
    drop_data(p);
    become(p, SI_A);
  end;

  rule "evict modified"
    cache[p].state = M
  ==>
  begin
    send_request(p, PutM);
    become(p, MI_A);
  end;

end;

-- What the directory does with a message. -------------------------------------

ruleset p : Processor do

  rule "directory serves GetS"
    request[p].kind = GetS & directory.state != DirS_D
  ==>
  begin
    if directory.state = DirM then
      send_forward(directory.owner, FwdGetS, p);
      directory.sharers[directory.owner] := true;
      undefine directory.owner;
      directory.state := DirS_D;
    else
      send_response(p, directory.memory, 0);
      directory.state := DirS;
    end;
    directory.sharers[p] := true;
    consume_request(p);
  end;

  rule "directory serves GetM"
    request[p].kind = GetM & directory.state != DirS_D
  ==>
  begin
    if directory.state = DirM then
      send_forward(directory.owner, FwdGetM, p);
    else
      send_response(p, directory.memory, sharers_other_than(p));
      invalidate_sharers_for(p);
      directory.state := DirM;
    end;
    directory.owner := p;
    consume_request(p);
  end;

  rule "directory serves PutS"
    request[p].kind = PutS & directory.state != DirS_D
  ==>
  begin
    if directory.sharers[p] then
      remove_sharer(p);
      send_put_answer(p, PutAck);
    else
      send_put_answer(p, PutStale);
    end;
    consume_request(p);
  end;

  rule "directory serves PutM"
    request[p].kind = PutM & directory.state != DirS_D
  ==>
  begin
    if directory.state = DirM & directory.owner = p then
      directory.memory := request[p].data;
      undefine directory.owner;
      directory.state := DirI;
      send_put_answer(p, PutAck);
    elsif directory.sharers[p] then
      -- The owner has answered a read since, so the memory is current.
      remove_sharer(p);
      send_put_answer(p, PutAck);
    else
      send_put_answer(p, PutAck);  -- BUG: was `PutStale`
    end;
    consume_request(p);
  end;

end;

rule "directory takes the write-back"
  write_back.present
==>
begin
  assert directory.state = DirS_D "a write-back ends DirS_D";
  directory.memory := write_back.data;
  directory.state := DirS;
  consume_write_back();
end;

-- What a cache does with a message. -------------------------------------------

ruleset p : Processor do

  rule "owner serves FwdGetS"
    forward[p].kind = FwdGetS & !becoming_owner(p)
  ==>
  begin
    assert cache[p].state = M | cache[p].state = MI_A "FwdGetS in an expected state";
    send_response(forward[p].requester, cache[p].data, 0);
    send_write_back(cache[p].data);
    if cache[p].state = M then
      become(p, S);
    else
      drop_data(p);
      become(p, SI_A);
    end;
    consume_forward(p);
  end;

  rule "owner serves FwdGetM"
    forward[p].kind = FwdGetM & !becoming_owner(p)
  ==>
  begin
    assert cache[p].state = M | cache[p].state = MI_A | cache[p].state = MI_F
      "FwdGetM in an expected state";
    send_response(forward[p].requester, cache[p].data, 0);
    if cache[p].state = MI_A then
      become(p, II_A);
    else
      become(p, I);
    end;
    drop_data(p);
    consume_forward(p);
  end;

  rule "sharer serves an invalidation"
    invalidation[p].present & cache[p].state != IS_D
  ==>
  begin
    send_ack(invalidation[p].requester, p);
    switch cache[p].state
      case S:
        become(p, I);
      case SM_AD:
        become(p, IM_AD);
      case SI_A:
        become(p, II_A);
      case SI_F:
        become(p, I);
      else
        error "invalidation in an unexpected state";
    end;
    drop_data(p);
    consume_invalidation(p);
  end;

  rule "requester takes the data"
    response[p].present
  ==>
  begin
    cache[p].data := response[p].data;
    switch cache[p].state
      case IS_D:
        become(p, S);
      case IM_AD, SM_AD:
        cache[p].acks := response[p].acks - cache[p].acks;
        if cache[p].acks = 0 then
          become(p, M);
        elsif cache[p].state = IM_AD then
          become(p, IM_A);
        else
          become(p, SM_A);
        end;
      else
        error "data in an unexpected state";
    end;
    consume_response(p);
  end;

  rule "evictor learns what became of its Put"
    put_answer[p] != NoAnswer
  ==>
  begin
    if put_answer[p] = PutAck then
      assert cache[p].state = MI_A | cache[p].state = SI_A | cache[p].state = II_A
        "PutAck in an expected state";
      drop_data(p);
      become(p, I);
    else
      switch cache[p].state
        case MI_A:
          become(p, MI_F);
        case SI_A:
          become(p, SI_F);
        case II_A:
          become(p, I);
        else
          error "PutStale in an unexpected state";
      end;
    end;
    put_answer[p] := NoAnswer;
  end;

end;

ruleset p : Processor; q : Processor do
  rule "requester takes an acknowledgement"
    ack[p][q]
  ==>
  begin
    switch cache[p].state
      case IM_AD, SM_AD:
        cache[p].acks := cache[p].acks + 1;
      case IM_A, SM_A:
        cache[p].acks := cache[p].acks - 1;
        if cache[p].acks = 0 then
          become(p, M);
        end;
      else
        error "acknowledgement in an unexpected state";
    end;
    ack[p][q] := false;
  end;
end;

-- Start and properties. -------------------------------------------------------

ruleset v : Value do
  startstate "no copies, no messages, any value in memory"
  begin
    for p : Processor do
      become(p, I);
      drop_data(p);
      cache[p].acks := 0;
      directory.sharers[p] := false;
      consume_request(p);
      consume_forward(p);
      consume_invalidation(p);
      consume_response(p);
      put_answer[p] := NoAnswer;
      for q : Processor do
        ack[p][q] := false;
      end;
    end;
    directory.state := DirI;
    undefine directory.owner;
    directory.memory := v;
    consume_write_back();
    latest := v;
  end;
end;

invariant "single writer, multiple readers"
  forall p : Processor do forall q : Processor do
    p != q & cache[p].state = M -> !readable(q)
  end end;

invariant "readers see the latest value"
  forall p : Processor do
    readable(p) -> cache[p].data = latest
  end;

invariant "memory is current"
  directory.state = DirI | directory.state = DirS -> directory.memory = latest;
