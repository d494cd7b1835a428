-- BROKEN: when an owner evicts a line that others share, the directory takes it
-- for uncached instead of shared, and grants the next reader an exclusive copy:
-- "single writer, multiple readers" breaks.
--
-- MOESI: a directory protocol with an owned state and a blocking directory, on
-- an unordered network.
--
-- What it models.  One memory line, its directory, and ProcessorCount caches.
-- A modified line is shared without writing it back: on a forwarded read its
-- owner keeps it in O and answers this and later readers, while the memory stays
-- old.  Requests for an owned line are forwarded and answered by the owner (three
-- hops); the acknowledgements of the other sharers go to the writer, and their
-- number travels with the forward.  The directory serves one Get at a time: it is
-- busy until the requester says that it is done (Unblock).  Shared copies are
-- dropped silently, so the sharers are a superset of the truth.
--
-- Stable states of a cache: I (invalid), S (shared, readable), E (the only copy,
-- clean), O (shared, answers for the line), M (the only copy, modified).
-- Transient states, named from_to_awaited:
--   IS_D           read miss, awaits data
--   IM_AD, SM_AD   write miss or upgrade, awaits data and acknowledgements
--   IM_A,  SM_A    has the data, awaits acknowledgements
--   OM_AC, OM_A    the owner's upgrade: awaits the number of acknowledgements and
--                  the acknowledgements, or only these
--   OI_A           evicting from E, O or M, awaits PutAck; still answers for the line
--   II_A           evicting, and has handed the line over meanwhile
-- States of the directory: DirI, DirS, DirX (one owner, E or M), DirO (an owner
-- and sharers), each busy or not.
--
-- Messages.  The network keeps no order at all: each kind has its own slot per
-- destination, and any slot may be emptied at any time.  That a slot is never
-- needed twice is asserted wherever a message is sent.
--   request       cache to directory   GetS, GetM, PutE, PutM (data), PutO (data)
--   forward       directory to owner   FwdGetS, FwdGetM (requester, number of
--                                      acknowledgements)
--   invalidation  directory to sharer  (requester)
--   response      to the requester     data (none for the owner's upgrade),
--                                      exclusive or not, number of
--                                      acknowledgements to await
--   ack           sharer to requester  the copy is gone
--   put_ack       directory to cache   the Put is settled
--   unblock       requester to directory
--
-- `latest` is not part of the machine: it remembers the value of the last store.
--
-- Properties:
--   "single writer, multiple readers"  a cache in E or M is the only one that can
--                                      read
--   "single owner"                     at most one cache in E, O, M, OM_AC, OM_A
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

  CacheState : enum { I, S, E, O, M,
                      IS_D, IM_AD, IM_A, SM_AD, SM_A, OM_AC, OM_A,
                      OI_A, II_A };
  DirectoryState : enum { DirI, DirS, DirX, DirO };

  RequestKind : enum { NoRequest, GetS, GetM, PutE, PutM, PutO };
  ForwardKind : enum { NoForward, FwdGetS, FwdGetM };

  Cache : record
    state : CacheState;
    data  : Value;      -- undefined in states without data
    acks  : AckCount;   -- in IM_AD, SM_AD, OM_AC: received; in ..._A: missing
  end;

  Directory : record
    state   : DirectoryState;
    busy    : boolean;
    owner   : Processor;                       -- defined in DirX and DirO
    sharers : array [Processor] of boolean;    -- without the owner
    memory  : Value;
  end;

  Request : record
    kind : RequestKind;
    data : Value;         -- with PutM and PutO
  end;

  Forward : record
    kind      : ForwardKind;
    requester : Processor;
    acks      : AckCount;
  end;

  Invalidation : record
    present   : boolean;
    requester : Processor;
  end;

  Response : record
    present   : boolean;
    data      : Value;      -- undefined if the requester has the data already
    exclusive : boolean;
    acks      : AckCount;
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
  put_ack      : array [Processor] of boolean;       -- by destination
  unblock      : boolean;

  latest : Value;

-- Sending: every slot is free when it is needed. ------------------------------

procedure send_request(p : Processor; kind : RequestKind);
begin
  assert request[p].kind = NoRequest "request slot is free";
  request[p].kind := kind;
  if kind = PutM | kind = PutO then
    request[p].data := cache[p].data;
  end;
end;

procedure send_forward(destination : Processor; kind : ForwardKind;
                       requester : Processor; acks : AckCount);
begin
  assert forward[destination].kind = NoForward "forward slot is free";
  forward[destination].kind := kind;
  forward[destination].requester := requester;
  forward[destination].acks := acks;
end;

procedure send_invalidation(destination : Processor; requester : Processor);
begin
  assert !invalidation[destination].present "invalidation slot is free";
  invalidation[destination].present := true;
  invalidation[destination].requester := requester;
end;

procedure send_permission(destination : Processor; exclusive : boolean; acks : AckCount);
begin
  assert !response[destination].present "response slot is free";
  response[destination].present := true;
  response[destination].exclusive := exclusive;
  response[destination].acks := acks;
end;

procedure send_data(destination : Processor; data : Value;
                    exclusive : boolean; acks : AckCount);
begin
  send_permission(destination, exclusive, acks);
  response[destination].data := data;
end;

procedure send_ack(destination : Processor; sender : Processor);
begin
  assert !ack[destination][sender] "acknowledgement slot is free";
  ack[destination][sender] := true;
end;

procedure send_put_ack(destination : Processor);
begin
  assert !put_ack[destination] "put acknowledgement slot is free";
  put_ack[destination] := true;
end;

procedure send_unblock();
begin
  assert !unblock "unblock slot is free";
  unblock := true;
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
  forward[p].acks := 0;
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

function owns(p : Processor) : boolean;
begin
  return only_copy(p) | cache[p].state = O |
         cache[p].state = OM_AC | cache[p].state = OM_A;
end;

-- The directory may forward a request to p.
function expects_forward(p : Processor) : boolean;
begin
  return (owns(p) | cache[p].state = OI_A) & cache[p].state != OM_A;
end;

function readable(p : Processor) : boolean;
begin
  return owns(p) | cache[p].state = S |
         cache[p].state = SM_AD | cache[p].state = SM_A;
end;

-- All acknowledgements are in: p may write, and the directory may go on.
procedure finish_write(p : Processor);
begin
  become(p, M);
  send_unblock();
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

  rule "owner upgrades"
    cache[p].state = O
  ==>
  begin
    send_request(p, GetM);
    become(p, OM_AC);
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
    become(p, OI_A);
  end;

  rule "evict owned"
    cache[p].state = O
  ==>
  begin
    send_request(p, PutO);
    become(p, OI_A);
  end;

  rule "evict modified"
    cache[p].state = M
  ==>
  begin
    send_request(p, PutM);
    become(p, OI_A);
  end;

end;

-- What the directory does with a message. -------------------------------------

ruleset p : Processor do

  rule "directory serves GetS"
    request[p].kind = GetS & !directory.busy
  ==>
  begin
    switch directory.state
      case DirI:
        send_data(p, directory.memory, true, 0);
        directory.owner := p;
        directory.state := DirX;
      case DirS:
        send_data(p, directory.memory, false, 0);
        directory.sharers[p] := true;
      case DirX, DirO:
        send_forward(directory.owner, FwdGetS, p, 0);
        directory.sharers[p] := true;
        directory.state := DirO;
    end;
    directory.busy := true;
    consume_request(p);
  end;

  rule "directory serves GetM"
    request[p].kind = GetM & !directory.busy
  ==>
  begin
    if isundefined(directory.owner) then
      send_data(p, directory.memory, true, sharers_other_than(p));
    elsif directory.owner = p then
      send_permission(p, true, sharers_other_than(p));
    else
      send_forward(directory.owner, FwdGetM, p, sharers_other_than(p));
    end;
    invalidate_sharers_for(p);
    directory.owner := p;
    directory.state := DirX;
    directory.busy := true;
    consume_request(p);
  end;

  rule "directory serves PutE, PutM or PutO"
    (request[p].kind = PutE | request[p].kind = PutM | request[p].kind = PutO)
    & !directory.busy
  ==>
  begin
    if !isundefined(directory.owner) & directory.owner = p then
      if request[p].kind != PutE then
        directory.memory := request[p].data;
      end;
      undefine directory.owner;
      if directory.state = DirO then
        directory.state := DirI;  -- BUG: was `DirS`
      else
        directory.state := DirI;
      end;
    end;
    send_put_ack(p);
    consume_request(p);
  end;

end;

rule "directory is unblocked"
  unblock
==>
begin
  directory.busy := false;
  unblock := false;
end;

-- What a cache does with a message. -------------------------------------------

ruleset p : Processor do

  rule "owner serves FwdGetS"
    forward[p].kind = FwdGetS
  ==>
  begin
    assert expects_forward(p) "FwdGetS in an expected state";
    send_data(forward[p].requester, cache[p].data, false, 0);
    if only_copy(p) then
      become(p, O);
    end;
    consume_forward(p);
  end;

  rule "owner serves FwdGetM"
    forward[p].kind = FwdGetM
  ==>
  begin
    assert expects_forward(p) "FwdGetM in an expected state";
    send_data(forward[p].requester, cache[p].data, true, forward[p].acks);
    switch cache[p].state
      case OI_A:
        become(p, II_A);
      case OM_AC:
        become(p, IM_AD);
      else
        become(p, I);
    end;
    drop_data(p);
    consume_forward(p);
  end;

  rule "former or present sharer serves an invalidation"
    invalidation[p].present
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
      case I, IS_D, IM_AD:
        -- The copy is gone already.
      else
        error "invalidation in an unexpected state";
    end;
    consume_invalidation(p);
  end;

  rule "requester takes the response"
    response[p].present
  ==>
  begin
    if !isundefined(response[p].data) then
      cache[p].data := response[p].data;
    end;
    switch cache[p].state
      case IS_D:
        if response[p].exclusive then
          become(p, E);
        else
          become(p, S);
        end;
        send_unblock();
      case IM_AD, SM_AD, OM_AC:
        cache[p].acks := response[p].acks - cache[p].acks;
        if cache[p].acks = 0 then
          finish_write(p);
        elsif cache[p].state = IM_AD then
          become(p, IM_A);
        elsif cache[p].state = SM_AD then
          become(p, SM_A);
        else
          become(p, OM_A);
        end;
      else
        error "response in an unexpected state";
    end;
    consume_response(p);
  end;

  rule "evictor takes the acknowledgement of its Put"
    put_ack[p]
  ==>
  begin
    assert cache[p].state = OI_A | cache[p].state = II_A "PutAck in an expected state";
    drop_data(p);
    become(p, I);
    put_ack[p] := false;
  end;

end;

ruleset p : Processor; q : Processor do
  rule "requester takes an acknowledgement"
    ack[p][q]
  ==>
  begin
    switch cache[p].state
      case IM_AD, SM_AD, OM_AC:
        cache[p].acks := cache[p].acks + 1;
      case IM_A, SM_A, OM_A:
        cache[p].acks := cache[p].acks - 1;
        if cache[p].acks = 0 then
          finish_write(p);
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
      put_ack[p] := false;
      for q : Processor do
        ack[p][q] := false;
      end;
    end;
    unblock := false;
    directory.state := DirI;
    directory.busy := false;
    undefine directory.owner;
    directory.memory := v;
    latest := v;
  end;
end;

invariant "single writer, multiple readers"
  forall p : Processor do forall q : Processor do
    p != q & only_copy(p) -> !readable(q)
  end end;

invariant "single owner"
  forall p : Processor do forall q : Processor do
    p != q -> !(owns(p) & owns(q))
  end end;

invariant "readers see the latest value"
  forall p : Processor do
    readable(p) -> cache[p].data = latest
  end;

invariant "memory is current"
  isundefined(directory.owner) -> directory.memory = latest;
