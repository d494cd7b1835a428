-- BROKEN: a read miss (IS_D) leaves an invalidation in the network until its data
-- has come.  But since shared copies are dropped silently, the invalidation may
-- be meant for an earlier copy, and the data is to come from the very cache that
-- waits for the acknowledgement: deadlock.
--
-- MESI: a directory protocol with an exclusive clean state and silent evictions,
-- on an unordered network.
--
-- What it models.  One memory line, its directory, and ProcessorCount caches.
-- A read miss while nobody has a copy returns the line in E: clean, but the only
-- copy, so the first store needs no message (E becomes M silently; the directory
-- cannot tell the two apart).  A shared copy is dropped silently too, hence the
-- directory's sharers are a superset of the truth, and invalidations reach caches
-- that have no copy any more, or have asked for one again.  Reads and writes of
-- an owned line are forwarded to the owner, which answers the requester directly
-- (three hops); writers collect the invalidation acknowledgements themselves.
-- The directory blocks only after it has forwarded a read, until the owner's data
-- is in memory.
--
-- Stable states of a cache: I (invalid), S (shared, readable), E (the only copy,
-- clean), M (the only copy, modified).
-- Transient states, named from_to_awaited:
--   IS_D           read miss, awaits data
--   IS_D_I         the same, and has acknowledged an invalidation meanwhile: the
--                  data serves one load and is dropped, unless it comes exclusive
--   IM_AD, SM_AD   write miss or upgrade, awaits data and acknowledgements
--   IM_A,  SM_A    has the data, awaits acknowledgements
--   MI_A           evicting from E or M, awaits the answer to its Put
--   II_A           evicting, and has served a forward meanwhile
--   MI_F           its Put came too late: awaits the FwdGetM that the directory
--                  had sent before it saw the Put
-- States of the directory: DirI, DirS, DirX (one owner, E or M), and DirS_D
-- (blocked, awaits the owner's data).
--
-- Messages.  The network keeps no order at all: each kind has its own slot per
-- destination, and any slot may be emptied at any time.  That a slot is never
-- needed twice is asserted wherever a message is sent.
--   request       cache to directory   GetS, GetM, PutE, PutM (data)
--   forward       directory to owner   FwdGetS, FwdGetM (requester)
--   invalidation  directory to sharer  (requester)
--   response      to the requester     data, exclusive or not, number of
--                                      acknowledgements to await
--   ack           sharer to requester  the copy is gone
--   put_answer    directory to cache   PutAck, PutStale
--   write_back    owner to directory   data, after a FwdGetS
--
-- `latest` is not part of the machine: it remembers the value of the last store.
--
-- Properties:
--   "single writer, multiple readers"  a cache in E or M is the only one that can
--                                      read
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

  CacheState : enum { I, S, E, M,
                      IS_D, IS_D_I, IM_AD, IM_A, SM_AD, SM_A,
                      MI_A, II_A, MI_F };
  DirectoryState : enum { DirI, DirS, DirX, DirS_D };

  RequestKind : enum { NoRequest, GetS, GetM, PutE, PutM };
  ForwardKind : enum { NoForward, FwdGetS, FwdGetM };
  PutAnswer   : enum { NoAnswer, PutAck, PutStale };

  Cache : record
    state : CacheState;
    data  : Value;      -- undefined in states without data
    acks  : AckCount;   -- in IM_AD, SM_AD: received; in IM_A, SM_A: missing
  end;

  Directory : record
    state   : DirectoryState;
    owner   : Processor;                       -- undefined but in DirX
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
    present   : boolean;
    data      : Value;
    exclusive : boolean;
    acks      : AckCount;
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

procedure send_response(destination : Processor; data : Value;
                        exclusive : boolean; acks : AckCount);
begin
  assert !response[destination].present "response slot is free";
  response[destination].present := true;
  response[destination].data := data;
  response[destination].exclusive := exclusive;
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
  response[p].exclusive := false;
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

function only_copy(p : Processor) : boolean;
begin
  return cache[p].state = E | cache[p].state = M;
end;

function readable(p : Processor) : boolean;
begin
  return cache[p].state = S | only_copy(p) |
         cache[p].state = SM_AD | cache[p].state = SM_A;
end;

-- The directory may already name p as the owner although p has no data yet.
function becoming_owner(p : Processor) : boolean;
begin
  return cache[p].state = IS_D | cache[p].state = IS_D_I |
         cache[p].state = IM_AD | cache[p].state = IM_A |
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

-- What a processor does of its own accord. ------------------------------------

ruleset p : Processor; v : Value do
  rule "store"
    only_copy(p)
  ==>
  begin
    cache[p].data := v;
    become(p, M);
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

  rule "drop shared, silently"
    cache[p].state = S
  ==>
  begin
    drop_data(p);
    become(p, I);
  end;

  rule "evict exclusive"
    cache[p].state = E
  ==>
  begin
    send_request(p, PutE);
    become(p, MI_A);
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
    switch directory.state
      case DirI:
        send_response(p, directory.memory, true, 0);
        directory.owner := p;
        directory.state := DirX;
      case DirS:
        send_response(p, directory.memory, false, 0);
        directory.sharers[p] := true;
      case DirX:
        send_forward(directory.owner, FwdGetS, p);
        directory.sharers[directory.owner] := true;
        directory.sharers[p] := true;
        undefine directory.owner;
        directory.state := DirS_D;
    end;
    consume_request(p);
  end;

  rule "directory serves GetM"
    request[p].kind = GetM & directory.state != DirS_D
  ==>
  begin
    if directory.state = DirX then
      send_forward(directory.owner, FwdGetM, p);
    else
      send_response(p, directory.memory, true, sharers_other_than(p));
      invalidate_sharers_for(p);
      directory.state := DirX;
    end;
    directory.owner := p;
    consume_request(p);
  end;

  rule "directory serves PutE or PutM"
    (request[p].kind = PutE | request[p].kind = PutM) & directory.state != DirS_D
  ==>
  begin
    if directory.state = DirX & directory.owner = p then
      if request[p].kind = PutM then
        directory.memory := request[p].data;
      end;
      undefine directory.owner;
      directory.state := DirI;
      send_put_answer(p, PutAck);
    else
      send_put_answer(p, PutStale);
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
    assert only_copy(p) | cache[p].state = MI_A "FwdGetS in an expected state";
    send_response(forward[p].requester, cache[p].data, false, 0);
    send_write_back(cache[p].data);
    if cache[p].state = MI_A then
      drop_data(p);
      become(p, II_A);
    else
      become(p, S);
    end;
    consume_forward(p);
  end;

  rule "owner serves FwdGetM"
    forward[p].kind = FwdGetM & !becoming_owner(p)
  ==>
  begin
    assert only_copy(p) | cache[p].state = MI_A | cache[p].state = MI_F
      "FwdGetM in an expected state";
    send_response(forward[p].requester, cache[p].data, true, 0);
    if cache[p].state = MI_A then
      become(p, II_A);
    else
      become(p, I);
    end;
    drop_data(p);
    consume_forward(p);
  end;

  rule "former or present sharer serves an invalidation"
    invalidation[p].present & cache[p].state != IS_D  -- BUG: must not wait
  ==>
  begin
    send_ack(invalidation[p].requester, p);
    switch cache[p].state
      case S:
        drop_data(p);
        become(p, I);
      case SM_AD:
        drop_data(p);
        become(p, IM_AD);
      case IS_D:
        become(p, IS_D_I);
      case I, IS_D_I, IM_AD, II_A:
        -- The copy is gone already.
      else
        error "invalidation in an unexpected state";
    end;
    consume_invalidation(p);
  end;

  rule "requester takes the data"
    response[p].present
  ==>
  begin
    switch cache[p].state
      case IS_D, IS_D_I:
        if response[p].exclusive then
          cache[p].data := response[p].data;
          become(p, E);
        elsif cache[p].state = IS_D then
          cache[p].data := response[p].data;
          become(p, S);
        else
          become(p, I);
        end;
      case IM_AD, SM_AD:
        cache[p].data := response[p].data;
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
      assert cache[p].state = MI_A "PutAck in an expected state";
      drop_data(p);
      become(p, I);
    else
      switch cache[p].state
        case MI_A:
          become(p, MI_F);
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
    p != q & only_copy(p) -> !readable(q)
  end end;

invariant "readers see the latest value"
  forall p : Processor do
    readable(p) -> cache[p].data = latest
  end;

invariant "memory is current"
  directory.state = DirI | directory.state = DirS -> directory.memory = latest;
