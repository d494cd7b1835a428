-- MOESI: a directory protocol with an owned state and a blocking directory, on
-- an unordered network.
--
-- What it models.  Memory lines with their directories, and ProcessorCount caches.
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
-- destination and line, and any slot may be emptied at any time.  That a slot is
-- never needed twice is asserted wherever a message is sent.
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
-- Processors and memory events.  A processor has one miss outstanding at most, on
-- any line; lines do not interact otherwise.  Load is called at a hit and when the
-- data of a read miss comes, for which the processor waits and does nothing else.
-- A write miss or upgrade asks for permission only, ahead of a store: Store is
-- called at a hit, and until then the processor may go on reading what it has.  All
-- lines start with the same value in memory.
--
-- `latest` is not part of the machine: it remembers the value of the last store.
--
-- Properties:
--   "single writer, multiple readers"  a cache in E or M is the only one that can
--                                      read
--   "single owner"                     at most one cache in E, O, M, OM_AC, OM_A
--   "readers see the latest value"     a readable copy holds the latest value
--   "memory is current"                without an owner, so does the memory
--   "who waits has something to wait for"   a message that will wake it is under way
--   "a busy directory will be unblocked"
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
  cache     : array [Processor] of array [Address] of Cache;
  directory : array [Address] of Directory;

  -- By sender (request) or destination, and address.
  request      : array [Processor] of array [Address] of Request;
  forward      : array [Processor] of array [Address] of Forward;
  invalidation : array [Processor] of array [Address] of Invalidation;
  response     : array [Processor] of array [Address] of Response;
  ack          : array [Processor] of array [Processor] of array [Address] of boolean;
                                              -- by destination, sender, address
  put_ack      : array [Processor] of array [Address] of boolean;
  unblock      : array [Address] of boolean;

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
  if kind = PutM | kind = PutO then
    request[p][a].data := cache[p][a].data;
  end;
end;

procedure send_forward(destination : Processor; a : Address; kind : ForwardKind;
                       requester : Processor; acks : AckCount);
begin
  assert forward[destination][a].kind = NoForward "forward slot is free";
  forward[destination][a].kind := kind;
  forward[destination][a].requester := requester;
  forward[destination][a].acks := acks;
end;

procedure send_invalidation(destination : Processor; a : Address;
                            requester : Processor);
begin
  assert !invalidation[destination][a].present "invalidation slot is free";
  invalidation[destination][a].present := true;
  invalidation[destination][a].requester := requester;
end;

procedure send_permission(destination : Processor; a : Address;
                          exclusive : boolean; acks : AckCount);
begin
  assert !response[destination][a].present "response slot is free";
  response[destination][a].present := true;
  response[destination][a].exclusive := exclusive;
  response[destination][a].acks := acks;
end;

procedure send_data(destination : Processor; a : Address; data : Value;
                    exclusive : boolean; acks : AckCount);
begin
  send_permission(destination, a, exclusive, acks);
  response[destination][a].data := data;
end;

procedure send_ack(destination : Processor; a : Address; sender : Processor);
begin
  assert !ack[destination][sender][a] "acknowledgement slot is free";
  ack[destination][sender][a] := true;
end;

procedure send_put_ack(destination : Processor; a : Address);
begin
  assert !put_ack[destination][a] "put acknowledgement slot is free";
  put_ack[destination][a] := true;
end;

procedure send_unblock(a : Address);
begin
  assert !unblock[a] "unblock slot is free";
  unblock[a] := true;
end;

-- Receiving: empties a slot. --------------------------------------------------

procedure consume_request(p : Processor; a : Address);
begin
  request[p][a].kind := NoRequest;
  undefine request[p][a].data;
end;

procedure consume_forward(p : Processor; a : Address);
begin
  forward[p][a].kind := NoForward;
  undefine forward[p][a].requester;
  forward[p][a].acks := 0;
end;

procedure consume_invalidation(p : Processor; a : Address);
begin
  invalidation[p][a].present := false;
  undefine invalidation[p][a].requester;
end;

procedure consume_response(p : Processor; a : Address);
begin
  response[p][a].present := false;
  undefine response[p][a].data;
  response[p][a].exclusive := false;
  response[p][a].acks := 0;
end;

-- Caches. ---------------------------------------------------------------------

procedure become(p : Processor; a : Address; state : CacheState);
begin
  cache[p][a].state := state;
end;

procedure drop_data(p : Processor; a : Address);
begin
  undefine cache[p][a].data;
end;

function only_copy(p : Processor; a : Address) : boolean;
begin
  return cache[p][a].state = E | cache[p][a].state = M;
end;

function owns(p : Processor; a : Address) : boolean;
begin
  return only_copy(p, a) | cache[p][a].state = O |
         cache[p][a].state = OM_AC | cache[p][a].state = OM_A;
end;

-- The directory may forward a request to p.
function expects_forward(p : Processor; a : Address) : boolean;
begin
  return (owns(p, a) | cache[p][a].state = OI_A) & cache[p][a].state != OM_A;
end;

function readable(p : Processor; a : Address) : boolean;
begin
  return owns(p, a) | cache[p][a].state = S |
         cache[p][a].state = SM_AD | cache[p][a].state = SM_A;
end;

-- All acknowledgements are in: p may write, and the directory may go on.
procedure finish_write(p : Processor; a : Address);
begin
  become(p, a, M);
  send_unblock(a);
end;

-- Directory. ------------------------------------------------------------------

function sharers_other_than(p : Processor; a : Address) : AckCount;
var
  number : AckCount;
begin
  number := 0;
  for q : Processor do
    if q != p & directory[a].sharers[q] then
      number := number + 1;
    end;
  end;
  return number;
end;

procedure invalidate_sharers_for(p : Processor; a : Address);
begin
  for q : Processor do
    if q != p & directory[a].sharers[q] then
      send_invalidation(q, a, p);
    end;
    directory[a].sharers[q] := false;
  end;
end;

-- A load that missed: the processor waits for it.
function loading(p : Processor) : boolean;
begin
  return exists a : Address do
    cache[p][a].state = IS_D
  end;
end;

-- One miss at a time per processor.
function missing(p : Processor) : boolean;
begin
  return loading(p) | exists a : Address do
    cache[p][a].state = IM_AD | cache[p][a].state = IM_A |
    cache[p][a].state = SM_AD | cache[p][a].state = SM_A |
    cache[p][a].state = OM_AC | cache[p][a].state = OM_A
  end;
end;

-- Has the data, awaits acknowledgements.
function collecting(p : Processor; a : Address) : boolean;
begin
  return cache[p][a].state = IM_A | cache[p][a].state = SM_A | cache[p][a].state = OM_A;
end;

-- What a processor does of its own accord. ------------------------------------

ruleset p : Processor; a : Address; v : Value do
  rule "store"
    only_copy(p, a) & !loading(p)
  ==>
  begin
    cache[p][a].data := v;
    become(p, a, M);
    latest[a] := v;
    Store(p, a, v);
  end;
end;

ruleset p : Processor; a : Address do

  rule "load"
    readable(p, a) & !loading(p)
  ==>
  begin
    Load(p, a, cache[p][a].data);
  end;

  rule "read miss"
    cache[p][a].state = I & !missing(p)
  ==>
  begin
    send_request(p, a, GetS);
    become(p, a, IS_D);
  end;

  rule "write miss"
    cache[p][a].state = I & !missing(p)
  ==>
  begin
    send_request(p, a, GetM);
    become(p, a, IM_AD);
  end;

  rule "upgrade"
    cache[p][a].state = S & !missing(p)
  ==>
  begin
    send_request(p, a, GetM);
    become(p, a, SM_AD);
  end;

  rule "owner upgrades"
    cache[p][a].state = O & !missing(p)
  ==>
  begin
    send_request(p, a, GetM);
    become(p, a, OM_AC);
  end;

  rule "drop shared, silently"
    cache[p][a].state = S
  ==>
  begin
    drop_data(p, a);
    become(p, a, I);
  end;

  rule "evict exclusive"
    cache[p][a].state = E
  ==>
  begin
    send_request(p, a, PutE);
    become(p, a, OI_A);
  end;

  rule "evict owned"
    cache[p][a].state = O
  ==>
  begin
    send_request(p, a, PutO);
    become(p, a, OI_A);
  end;

  rule "evict modified"
    cache[p][a].state = M
  ==>
  begin
    send_request(p, a, PutM);
    become(p, a, OI_A);
  end;

end;

-- What the directory does with a message. -------------------------------------

ruleset p : Processor; a : Address do

  rule "directory serves GetS"
    request[p][a].kind = GetS & !directory[a].busy
  ==>
  begin
    switch directory[a].state
      case DirI:
        send_data(p, a, directory[a].memory, true, 0);
        directory[a].owner := p;
        directory[a].state := DirX;
      case DirS:
        send_data(p, a, directory[a].memory, false, 0);
        directory[a].sharers[p] := true;
      case DirX, DirO:
        send_forward(directory[a].owner, a, FwdGetS, p, 0);
        directory[a].sharers[p] := true;
        directory[a].state := DirO;
    end;
    directory[a].busy := true;
    consume_request(p, a);
  end;

  rule "directory serves GetM"
    request[p][a].kind = GetM & !directory[a].busy
  ==>
  begin
    if isundefined(directory[a].owner) then
      send_data(p, a, directory[a].memory, true, sharers_other_than(p, a));
    elsif directory[a].owner = p then
      send_permission(p, a, true, sharers_other_than(p, a));
    else
      send_forward(directory[a].owner, a, FwdGetM, p, sharers_other_than(p, a));
    end;
    invalidate_sharers_for(p, a);
    directory[a].owner := p;
    directory[a].state := DirX;
    directory[a].busy := true;
    consume_request(p, a);
  end;

  rule "directory serves PutE, PutM or PutO"
    (request[p][a].kind = PutE | request[p][a].kind = PutM | request[p][a].kind = PutO)
    & !directory[a].busy
  ==>
  begin
    if !isundefined(directory[a].owner) & directory[a].owner = p then
      if request[p][a].kind != PutE then
        directory[a].memory := request[p][a].data;
      end;
      undefine directory[a].owner;
      if directory[a].state = DirO then
        directory[a].state := DirS;
      else
        directory[a].state := DirI;
      end;
    end;
    send_put_ack(p, a);
    consume_request(p, a);
  end;

end;

ruleset a : Address do
  rule "directory is unblocked"
    unblock[a]
  ==>
  begin
    directory[a].busy := false;
    unblock[a] := false;
  end;
end;

-- What a cache does with a message. -------------------------------------------

ruleset p : Processor; a : Address do

  rule "owner serves FwdGetS"
    forward[p][a].kind = FwdGetS
  ==>
  begin
    assert expects_forward(p, a) "FwdGetS in an expected state";
    send_data(forward[p][a].requester, a, cache[p][a].data, false, 0);
    if only_copy(p, a) then
      become(p, a, O);
    end;
    consume_forward(p, a);
  end;

  rule "owner serves FwdGetM"
    forward[p][a].kind = FwdGetM
  ==>
  begin
    assert expects_forward(p, a) "FwdGetM in an expected state";
    send_data(forward[p][a].requester, a, cache[p][a].data, true, forward[p][a].acks);
    switch cache[p][a].state
      case OI_A:
        become(p, a, II_A);
      case OM_AC:
        become(p, a, IM_AD);
      else
        become(p, a, I);
    end;
    drop_data(p, a);
    consume_forward(p, a);
  end;

  rule "former or present sharer serves an invalidation"
    invalidation[p][a].present
  ==>
  begin
    send_ack(invalidation[p][a].requester, a, p);
    switch cache[p][a].state
      case S:
        drop_data(p, a);
        become(p, a, I);
      case SM_AD:
        drop_data(p, a);
        become(p, a, IM_AD);
      case I, IS_D, IM_AD:
        -- The copy is gone already.
      else
        error "invalidation in an unexpected state";
    end;
    consume_invalidation(p, a);
  end;

  rule "requester takes the response"
    response[p][a].present
  ==>
  begin
    if !isundefined(response[p][a].data) then
      cache[p][a].data := response[p][a].data;
    end;
    switch cache[p][a].state
      case IS_D:
        Load(p, a, response[p][a].data);
        if response[p][a].exclusive then
          become(p, a, E);
        else
          become(p, a, S);
        end;
        send_unblock(a);
      case IM_AD, SM_AD, OM_AC:
        cache[p][a].acks := response[p][a].acks - cache[p][a].acks;
        if cache[p][a].acks = 0 then
          finish_write(p, a);
        elsif cache[p][a].state = IM_AD then
          become(p, a, IM_A);
        elsif cache[p][a].state = SM_AD then
          become(p, a, SM_A);
        else
          become(p, a, OM_A);
        end;
      else
        error "response in an unexpected state";
    end;
    consume_response(p, a);
  end;

  rule "evictor takes the acknowledgement of its Put"
    put_ack[p][a]
  ==>
  begin
    assert cache[p][a].state = OI_A | cache[p][a].state = II_A
      "PutAck in an expected state";
    drop_data(p, a);
    become(p, a, I);
    put_ack[p][a] := false;
  end;

end;

ruleset p : Processor; q : Processor; a : Address do
  rule "requester takes an acknowledgement"
    ack[p][q][a]
  ==>
  begin
    switch cache[p][a].state
      case IM_AD, SM_AD, OM_AC:
        cache[p][a].acks := cache[p][a].acks + 1;
      case IM_A, SM_A, OM_A:
        cache[p][a].acks := cache[p][a].acks - 1;
        if cache[p][a].acks = 0 then
          finish_write(p, a);
        end;
      else
        error "acknowledgement in an unexpected state";
    end;
    ack[p][q][a] := false;
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
        cache[p][a].acks := 0;
        directory[a].sharers[p] := false;
        consume_request(p, a);
        consume_forward(p, a);
        consume_invalidation(p, a);
        consume_response(p, a);
        put_ack[p][a] := false;
        for q : Processor do
          ack[p][q][a] := false;
        end;
      end;
      unblock[a] := false;
      directory[a].state := DirI;
      directory[a].busy := false;
      undefine directory[a].owner;
      directory[a].memory := v;
      latest[a] := v;
    end;
  end;
end;

invariant "single writer, multiple readers"
  forall a : Address do forall p : Processor do forall q : Processor do
    p != q & only_copy(p, a) -> !readable(q, a)
  end end end;

invariant "single owner"
  forall a : Address do forall p : Processor do forall q : Processor do
    p != q -> !(owns(p, a) & owns(q, a))
  end end end;

invariant "readers see the latest value"
  forall a : Address do forall p : Processor do
    readable(p, a) -> cache[p][a].data = latest[a]
  end end;

invariant "memory is current"
  forall a : Address do
    isundefined(directory[a].owner) -> directory[a].memory = latest[a]
  end;

invariant "who waits has something to wait for"
  forall a : Address do forall p : Processor do
    (cache[p][a].state = IS_D | cache[p][a].state = IM_AD |
     cache[p][a].state = SM_AD | cache[p][a].state = OM_AC
     -> request[p][a].kind != NoRequest | response[p][a].present |
        exists q : Processor do
          forward[q][a].kind != NoForward & forward[q][a].requester = p
        end) &
    (collecting(p, a)
     -> exists q : Processor do
          ack[p][q][a] | (invalidation[q][a].present & invalidation[q][a].requester = p)
        end) &
    (cache[p][a].state = OI_A | cache[p][a].state = II_A
     -> request[p][a].kind != NoRequest | put_ack[p][a])
  end end;

invariant "a busy directory will be unblocked"
  forall a : Address do
    directory[a].busy
    -> unblock[a] | exists p : Processor do
         response[p][a].present | forward[p][a].kind != NoForward | collecting(p, a)
       end
  end;
