-- MESI: a directory protocol with an exclusive clean state and silent evictions,
-- on an unordered network.
--
-- What it models.  Memory lines with their directories, and ProcessorCount caches.
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
-- destination and line, and any slot may be emptied at any time.  That a slot is
-- never needed twice is asserted wherever a message is sent.
--   request       cache to directory   GetS, GetM, PutE, PutM (data)
--   forward       directory to owner   FwdGetS, FwdGetM (requester)
--   invalidation  directory to sharer  (requester)
--   response      to the requester     data, exclusive or not, number of
--                                      acknowledgements to await
--   ack           sharer to requester  the copy is gone
--   put_answer    directory to cache   PutAck, PutStale
--   write_back    owner to directory   data, after a FwdGetS
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
--   "readers see the latest value"     a readable copy holds the latest value
--   "memory is current"                without an owner, so does the memory
--   "who waits has something to wait for"   a message that will wake it is under way
--   "the directory waits for a write-back that comes"
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
  cache     : array [Processor] of array [Address] of Cache;
  directory : array [Address] of Directory;

  -- By sender (request) or destination, and address.
  request      : array [Processor] of array [Address] of Request;
  forward      : array [Processor] of array [Address] of Forward;
  invalidation : array [Processor] of array [Address] of Invalidation;
  response     : array [Processor] of array [Address] of Response;
  ack          : array [Processor] of array [Processor] of array [Address] of boolean;
                                              -- by destination, sender, address
  put_answer   : array [Processor] of array [Address] of PutAnswer;
  write_back   : array [Address] of WriteBack;

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

procedure send_forward(destination : Processor; a : Address;
                       kind : ForwardKind; requester : Processor);
begin
  assert forward[destination][a].kind = NoForward "forward slot is free";
  forward[destination][a].kind := kind;
  forward[destination][a].requester := requester;
end;

procedure send_invalidation(destination : Processor; a : Address;
                            requester : Processor);
begin
  assert !invalidation[destination][a].present "invalidation slot is free";
  invalidation[destination][a].present := true;
  invalidation[destination][a].requester := requester;
end;

procedure send_response(destination : Processor; a : Address; data : Value;
                        exclusive : boolean; acks : AckCount);
begin
  assert !response[destination][a].present "response slot is free";
  response[destination][a].present := true;
  response[destination][a].data := data;
  response[destination][a].exclusive := exclusive;
  response[destination][a].acks := acks;
end;

procedure send_ack(destination : Processor; a : Address; sender : Processor);
begin
  assert !ack[destination][sender][a] "acknowledgement slot is free";
  ack[destination][sender][a] := true;
end;

procedure send_put_answer(destination : Processor; a : Address; answer : PutAnswer);
begin
  assert put_answer[destination][a] = NoAnswer "put answer slot is free";
  put_answer[destination][a] := answer;
end;

procedure send_write_back(a : Address; data : Value);
begin
  assert !write_back[a].present "write-back slot is free";
  write_back[a].present := true;
  write_back[a].data := data;
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

procedure consume_write_back(a : Address);
begin
  write_back[a].present := false;
  undefine write_back[a].data;
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

function readable(p : Processor; a : Address) : boolean;
begin
  return cache[p][a].state = S | only_copy(p, a) |
         cache[p][a].state = SM_AD | cache[p][a].state = SM_A;
end;

-- The directory may already name p as the owner although p has no data yet.
function becoming_owner(p : Processor; a : Address) : boolean;
begin
  return cache[p][a].state = IS_D | cache[p][a].state = IS_D_I |
         cache[p][a].state = IM_AD | cache[p][a].state = IM_A |
         cache[p][a].state = SM_AD | cache[p][a].state = SM_A;
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
    cache[p][a].state = IS_D | cache[p][a].state = IS_D_I
  end;
end;

-- One miss at a time per processor.
function missing(p : Processor) : boolean;
begin
  return loading(p) | exists a : Address do
    cache[p][a].state = IM_AD | cache[p][a].state = IM_A |
    cache[p][a].state = SM_AD | cache[p][a].state = SM_A
  end;
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
    become(p, a, MI_A);
  end;

  rule "evict modified"
    cache[p][a].state = M
  ==>
  begin
    send_request(p, a, PutM);
    become(p, a, MI_A);
  end;

end;

-- What the directory does with a message. -------------------------------------

ruleset p : Processor; a : Address do

  rule "directory serves GetS"
    request[p][a].kind = GetS & directory[a].state != DirS_D
  ==>
  begin
    switch directory[a].state
      case DirI:
        send_response(p, a, directory[a].memory, true, 0);
        directory[a].owner := p;
        directory[a].state := DirX;
      case DirS:
        send_response(p, a, directory[a].memory, false, 0);
        directory[a].sharers[p] := true;
      case DirX:
        send_forward(directory[a].owner, a, FwdGetS, p);
        directory[a].sharers[directory[a].owner] := true;
        directory[a].sharers[p] := true;
        undefine directory[a].owner;
        directory[a].state := DirS_D;
    end;
    consume_request(p, a);
  end;

  rule "directory serves GetM"
    request[p][a].kind = GetM & directory[a].state != DirS_D
  ==>
  begin
    if directory[a].state = DirX then
      send_forward(directory[a].owner, a, FwdGetM, p);
    else
      send_response(p, a, directory[a].memory, true, sharers_other_than(p, a));
      invalidate_sharers_for(p, a);
      directory[a].state := DirX;
    end;
    directory[a].owner := p;
    consume_request(p, a);
  end;

  rule "directory serves PutE or PutM"
    (request[p][a].kind = PutE | request[p][a].kind = PutM) & directory[a].state != DirS_D
  ==>
  begin
    if directory[a].state = DirX & directory[a].owner = p then
      if request[p][a].kind = PutM then
        directory[a].memory := request[p][a].data;
      end;
      undefine directory[a].owner;
      directory[a].state := DirI;
      send_put_answer(p, a, PutAck);
    else
      send_put_answer(p, a, PutStale);
    end;
    consume_request(p, a);
  end;

end;

ruleset a : Address do
  rule "directory takes the write-back"
    write_back[a].present
  ==>
  begin
    assert directory[a].state = DirS_D "a write-back ends DirS_D";
    directory[a].memory := write_back[a].data;
    directory[a].state := DirS;
    consume_write_back(a);
  end;
end;

-- What a cache does with a message. -------------------------------------------

ruleset p : Processor; a : Address do

  rule "owner serves FwdGetS"
    forward[p][a].kind = FwdGetS & !becoming_owner(p, a)
  ==>
  begin
    assert only_copy(p, a) | cache[p][a].state = MI_A "FwdGetS in an expected state";
    send_response(forward[p][a].requester, a, cache[p][a].data, false, 0);
    send_write_back(a, cache[p][a].data);
    if cache[p][a].state = MI_A then
      drop_data(p, a);
      become(p, a, II_A);
    else
      become(p, a, S);
    end;
    consume_forward(p, a);
  end;

  rule "owner serves FwdGetM"
    forward[p][a].kind = FwdGetM & !becoming_owner(p, a)
  ==>
  begin
    assert only_copy(p, a) | cache[p][a].state = MI_A | cache[p][a].state = MI_F
      "FwdGetM in an expected state";
    send_response(forward[p][a].requester, a, cache[p][a].data, true, 0);
    if cache[p][a].state = MI_A then
      become(p, a, II_A);
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
      case IS_D:
        become(p, a, IS_D_I);
      case I, IS_D_I, IM_AD, II_A:
        -- The copy is gone already.
      else
        error "invalidation in an unexpected state";
    end;
    consume_invalidation(p, a);
  end;

  rule "requester takes the data"
    response[p][a].present
  ==>
  begin
    switch cache[p][a].state
      case IS_D, IS_D_I:
        Load(p, a, response[p][a].data);
        if response[p][a].exclusive then
          cache[p][a].data := response[p][a].data;
          become(p, a, E);
        elsif cache[p][a].state = IS_D then
          cache[p][a].data := response[p][a].data;
          become(p, a, S);
        else
          become(p, a, I);
        end;
      case IM_AD, SM_AD:
        cache[p][a].data := response[p][a].data;
        cache[p][a].acks := response[p][a].acks - cache[p][a].acks;
        if cache[p][a].acks = 0 then
          become(p, a, M);
        elsif cache[p][a].state = IM_AD then
          become(p, a, IM_A);
        else
          become(p, a, SM_A);
        end;
      else
        error "data in an unexpected state";
    end;
    consume_response(p, a);
  end;

  rule "evictor learns what became of its Put"
    put_answer[p][a] != NoAnswer
  ==>
  begin
    if put_answer[p][a] = PutAck then
      assert cache[p][a].state = MI_A "PutAck in an expected state";
      drop_data(p, a);
      become(p, a, I);
    else
      switch cache[p][a].state
        case MI_A:
          become(p, a, MI_F);
        case II_A:
          become(p, a, I);
        else
          error "PutStale in an unexpected state";
      end;
    end;
    put_answer[p][a] := NoAnswer;
  end;

end;

ruleset p : Processor; q : Processor; a : Address do
  rule "requester takes an acknowledgement"
    ack[p][q][a]
  ==>
  begin
    switch cache[p][a].state
      case IM_AD, SM_AD:
        cache[p][a].acks := cache[p][a].acks + 1;
      case IM_A, SM_A:
        cache[p][a].acks := cache[p][a].acks - 1;
        if cache[p][a].acks = 0 then
          become(p, a, M);
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
        put_answer[p][a] := NoAnswer;
        for q : Processor do
          ack[p][q][a] := false;
        end;
      end;
      directory[a].state := DirI;
      undefine directory[a].owner;
      directory[a].memory := v;
      consume_write_back(a);
      latest[a] := v;
    end;
  end;
end;

invariant "single writer, multiple readers"
  forall a : Address do forall p : Processor do forall q : Processor do
    p != q & only_copy(p, a) -> !readable(q, a)
  end end end;

invariant "readers see the latest value"
  forall a : Address do forall p : Processor do
    readable(p, a) -> cache[p][a].data = latest[a]
  end end;

invariant "memory is current"
  forall a : Address do
    directory[a].state = DirI | directory[a].state = DirS
    -> directory[a].memory = latest[a]
  end;

invariant "who waits has something to wait for"
  forall a : Address do forall p : Processor do
    (cache[p][a].state = IS_D | cache[p][a].state = IS_D_I |
     cache[p][a].state = IM_AD | cache[p][a].state = SM_AD
     -> request[p][a].kind != NoRequest | response[p][a].present |
        exists q : Processor do
          forward[q][a].kind != NoForward & forward[q][a].requester = p
        end) &
    (cache[p][a].state = IM_A | cache[p][a].state = SM_A
     -> exists q : Processor do
          ack[p][q][a] | (invalidation[q][a].present & invalidation[q][a].requester = p)
        end) &
    (cache[p][a].state = MI_A | cache[p][a].state = II_A
     -> request[p][a].kind != NoRequest | put_answer[p][a] != NoAnswer) &
    (cache[p][a].state = MI_F -> forward[p][a].kind = FwdGetM)
  end end;

invariant "the directory waits for a write-back that comes"
  forall a : Address do
    directory[a].state = DirS_D
    -> write_back[a].present | exists p : Processor do forward[p][a].kind = FwdGetS end
  end;
