-- TSO-CC: a lazy coherence protocol for total store order, the basic version
-- (without timestamps), on an unordered network.
--
-- What it models.  Private caches, and one shared cache with a directory.  The
-- directory knows the owner of an exclusive line and the sharers of a read-only
-- one, but not who has a Shared copy: nobody tells such a copy that the line is
-- written.  Instead a cache drops all its other Shared copies itself whenever a
-- miss of its own completes (self-invalidation), and reads a Shared copy anew from
-- time to time.  Readers may thus see old values, but never an old one after they
-- could know of a newer one: total store order.
--
-- Stable states of a cache line: I, E (the only copy, clean), M (written), S
-- (shared, may be stale), SRO (shared, read-only, tracked).  Waiting:
--   WS      for data to read
--   WSROI   the same, and an InvRO came meanwhile
--   WX      for permission to write
--   WEI     evicting from E, for the Ack
--   WMI     evicting from M, for the Ack
-- States of the directory, per line: DirU (nobody has it exclusively or read-only,
-- the value is valid here), DirE (one owner), DirS (there are Shared copies), DirSRO
-- (read-only, with the set of sharers).  Waiting, while requests stall:
--   DirWE1, DirWE2   for one or two confirmations of a new owner
--   DirWU1, DirWU2   the same, but the owner has already evicted the line
--   DirWEn           for AckROs
--   DirWS            for the answer of the old owner to a FwdS
-- The shared cache evicts nothing, so that "not even here" and DirU are one state.
--
-- Messages, without any order: each kind has its own slot per cache and line, and
-- any slot may be emptied at any time.  That a slot is never needed twice is
-- asserted wherever a message is sent.
--   request        cache to directory   GetS, GetX
--   write_back     cache to directory   PutE, Data (value): evictions, and the Data
--                                       of an owner in M that served a FwdS
--   confirmation   cache to directory   AckC(n): I have the line (n = 1: and the
--                                       old owner knows, expect nothing from it)
--   ack_ro         cache to directory   AckRO: the read-only copy is gone
--   inv_ro         directory to cache   InvRO
--   forward        directory to owner   FwdS, FwdX (requester)
--   ack            directory to cache   the eviction is settled
--   response       to the requester     DataS (value, state to take), DataX(n)
--
-- Abstractions.  Whether a read of a Shared copy hits or is sent to the directory
-- (the access counter of the protocol) is a free choice at every read.  A store
-- overwrites the whole line, so DataX has no value.
--
-- Processors and memory events.  A processor does its operations one after the
-- other: while one line of its cache is in WS, WSROI or WX it does nothing else,
-- but lines may be evicted at any time.  (With BackgroundEvictions = 0 an eviction
-- is an operation like others: at most one line of a cache is waiting at a time,
-- which makes three processors with two lines feasible.)  Load is called at a hit
-- (in E, M, S, SRO) and when DataS comes; Store at a hit (in E, M) and when DataX
-- comes, with a value that is chosen then.  All lines start with the same value.
--
-- Properties:
--   "one owner"                 at most one cache has a line in E or M
--   "read-only is exclusive"    no SRO copy beside one in E or M
--   "clean copies agree"        copies in E and SRO hold the value of the directory
--   "who waits has something to wait for"   a message that will wake it is under way
--   "a directory that waits will hear of something"
--   no unexpected message in any state, no slot used twice, no deadlock
-- None of them says anything about S.  That is what the memory model is for.
--
-- What was found.  The tables of the protocol, taken literally, need no repair: no
-- message is unhandled and nothing deadlocks at the sizes of expected.tsv.  The
-- self-invalidation when a store completes (DataX) is not needed for total store
-- order as far as loads and stores go: a processor learns nothing of others by
-- overwriting a line, and its later loads may pass the store anyway.  It is needed
-- for fences and atomic operations, which are not modelled.  The one when a load
-- completes (DataS) is what everything rests on: see the broken variant.
--
-- Parameters: ProcessorCount, AddressCount, ValueCount, BackgroundEvictions.

const
  ProcessorCount      : 2;
  AddressCount        : 2;
  ValueCount          : 2;
  BackgroundEvictions : 1;

type
  Processor : scalarset(ProcessorCount);
  Address   : scalarset(AddressCount);
  Value     : scalarset(ValueCount);
  Awaited   : 0..ProcessorCount-1;

  LineState : enum { I, E, M, S, SRO, WS, WSROI, WX, WEI, WMI };
  DirectoryState : enum { DirU, DirE, DirS, DirSRO,
                          DirWE1, DirWE2, DirWU1, DirWU2, DirWEn, DirWS };

  RequestKind   : enum { NoRequest, GetS, GetX };
  WriteBackKind : enum { NoWriteBack, PutE, Data };
  Confirmation  : enum { NoConfirmation, AckC0, AckC1 };
  ForwardKind   : enum { NoForward, FwdS, FwdX };
  ResponseKind  : enum { NoResponse, DataS_S, DataS_SRO, DataS_E, DataX0, DataX1 };

  Line : record
    state : LineState;
    value : Value;      -- defined in E, M, S, SRO, WEI, WMI
  end;

  Directory : record
    state   : DirectoryState;
    value   : Value;
    owner   : Processor;    -- defined in DirE, DirWE1, DirWE2, DirWEn
    sharers : array [Processor] of boolean;  -- in DirSRO; in DirWS: the reader
    acks    : Awaited;      -- in DirWEn
  end;

  WriteBack : record
    kind  : WriteBackKind;
    value : Value;      -- with Data
  end;

  Forward : record
    kind      : ForwardKind;
    requester : Processor;
  end;

  Response : record
    kind  : ResponseKind;
    value : Value;      -- with DataS
  end;

var
  cache     : array [Processor] of array [Address] of Line;
  directory : array [Address] of Directory;

  -- By sender.
  request      : array [Processor] of array [Address] of RequestKind;
  write_back   : array [Processor] of array [Address] of WriteBack;
  confirmation : array [Processor] of array [Address] of Confirmation;
  ack_ro       : array [Processor] of array [Address] of boolean;
  -- By destination.
  inv_ro       : array [Processor] of array [Address] of boolean;
  forward      : array [Processor] of array [Address] of Forward;
  ack          : array [Processor] of array [Address] of boolean;
  response     : array [Processor] of array [Address] of Response;

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
  assert request[p][a] = NoRequest "request slot is free";
  request[p][a] := kind;
end;

procedure send_write_back(p : Processor; a : Address; kind : WriteBackKind);
begin
  assert write_back[p][a].kind = NoWriteBack "write-back slot is free";
  write_back[p][a].kind := kind;
  if kind = Data then
    write_back[p][a].value := cache[p][a].value;
  end;
end;

procedure send_confirmation(p : Processor; a : Address; kind : Confirmation);
begin
  assert confirmation[p][a] = NoConfirmation "confirmation slot is free";
  confirmation[p][a] := kind;
end;

procedure send_ack_ro(p : Processor; a : Address);
begin
  assert !ack_ro[p][a] "AckRO slot is free";
  ack_ro[p][a] := true;
end;

procedure send_inv_ro(p : Processor; a : Address);
begin
  assert !inv_ro[p][a] "InvRO slot is free";
  inv_ro[p][a] := true;
end;

procedure send_forward(p : Processor; a : Address;
                       kind : ForwardKind; requester : Processor);
begin
  assert forward[p][a].kind = NoForward "forward slot is free";
  forward[p][a].kind := kind;
  forward[p][a].requester := requester;
end;

procedure send_ack(p : Processor; a : Address);
begin
  assert !ack[p][a] "Ack slot is free";
  ack[p][a] := true;
end;

procedure send_data_s(p : Processor; a : Address; kind : ResponseKind; value : Value);
begin
  assert response[p][a].kind = NoResponse "response slot is free";
  response[p][a].kind := kind;
  response[p][a].value := value;
end;

procedure send_data_x(p : Processor; a : Address; kind : ResponseKind);
begin
  assert response[p][a].kind = NoResponse "response slot is free";
  response[p][a].kind := kind;
end;

-- Receiving: empties a slot. --------------------------------------------------

procedure consume_write_back(p : Processor; a : Address);
begin
  write_back[p][a].kind := NoWriteBack;
  undefine write_back[p][a].value;
end;

procedure consume_forward(p : Processor; a : Address);
begin
  forward[p][a].kind := NoForward;
  undefine forward[p][a].requester;
end;

procedure consume_response(p : Processor; a : Address);
begin
  response[p][a].kind := NoResponse;
  undefine response[p][a].value;
end;

-- Caches. ---------------------------------------------------------------------

procedure become(p : Processor; a : Address; state : LineState);
begin
  cache[p][a].state := state;
end;

procedure drop(p : Processor; a : Address; state : LineState);
begin
  undefine cache[p][a].value;
  become(p, a, state);
end;

function readable(p : Processor; a : Address) : boolean;
begin
  return cache[p][a].state = E | cache[p][a].state = M |
         cache[p][a].state = S | cache[p][a].state = SRO;
end;

function exclusive(p : Processor; a : Address) : boolean;
begin
  return cache[p][a].state = E | cache[p][a].state = M;
end;

-- The processor's own operation is not complete yet.
function waiting(p : Processor) : boolean;
begin
  return exists a : Address do
    cache[p][a].state = WS | cache[p][a].state = WSROI | cache[p][a].state = WX |
    (BackgroundEvictions = 0 & (cache[p][a].state = WEI | cache[p][a].state = WMI))
  end;
end;

function may_evict(p : Processor) : boolean;
begin
  return BackgroundEvictions = 1 | !waiting(p);
end;

procedure self_invalidate_other_than(p : Processor; a : Address);
begin
  for b : Address do
    if b != a & cache[p][b].state = S then
      drop(p, b, I);
    end;
  end;
end;

-- Directory. ------------------------------------------------------------------

procedure dir_become(a : Address; state : DirectoryState);
begin
  directory[a].state := state;
end;

procedure forget_sharers(a : Address);
begin
  for p : Processor do
    directory[a].sharers[p] := false;
  end;
end;

procedure take_value(p : Processor; a : Address);
begin
  if write_back[p][a].kind = Data then
    directory[a].value := write_back[p][a].value;
  end;
end;

-- p evicts what it owns.
procedure settle_eviction(p : Processor; a : Address; state : DirectoryState);
begin
  take_value(p, a);
  send_ack(p, a);
  undefine directory[a].owner;
  dir_become(a, state);
end;

procedure grant_exclusive(p : Processor; a : Address);
begin
  send_data_x(p, a, DataX0);
  directory[a].owner := p;
  dir_become(a, DirWE1);
end;

-- What a processor does of its own accord. ------------------------------------

ruleset p : Processor; a : Address do

  rule "load hits"
    readable(p, a) & !waiting(p)
  ==>
  begin
    Load(p, a, cache[p][a].value);
  end;

  rule "load misses"
    (cache[p][a].state = I | cache[p][a].state = S) & !waiting(p)
  ==>
  begin
    send_request(p, a, GetS);
    drop(p, a, WS);
  end;

  rule "store misses"
    (cache[p][a].state = I | cache[p][a].state = S | cache[p][a].state = SRO) &
    !waiting(p)
  ==>
  begin
    send_request(p, a, GetX);
    drop(p, a, WX);
  end;

  rule "drop a shared copy, silently"
    cache[p][a].state = S | cache[p][a].state = SRO
  ==>
  begin
    drop(p, a, I);
  end;

  rule "evict E"
    cache[p][a].state = E & may_evict(p)
  ==>
  begin
    send_write_back(p, a, PutE);
    become(p, a, WEI);
  end;

  rule "evict M"
    cache[p][a].state = M & may_evict(p)
  ==>
  begin
    send_write_back(p, a, Data);
    become(p, a, WMI);
  end;

end;

ruleset p : Processor; a : Address; v : Value do
  rule "store hits"
    exclusive(p, a) & !waiting(p)
  ==>
  begin
    cache[p][a].value := v;
    become(p, a, M);
    Store(p, a, v);
  end;
end;

-- What a cache does with a message. -------------------------------------------

ruleset p : Processor; a : Address do

  rule "cache receives InvRO"
    inv_ro[p][a]
  ==>
  begin
    send_ack_ro(p, a);
    if cache[p][a].state = SRO then
      drop(p, a, I);
    elsif cache[p][a].state = WS then
      become(p, a, WSROI);
    end;
    inv_ro[p][a] := false;
  end;

  rule "cache receives FwdS"
    forward[p][a].kind = FwdS
  ==>
  begin
    alias requester : forward[p][a].requester do
      switch cache[p][a].state
        case E:
          send_data_s(requester, a, DataS_SRO, cache[p][a].value);
          send_confirmation(p, a, AckC0);
          become(p, a, SRO);
        case M:
          send_data_s(requester, a, DataS_S, cache[p][a].value);
          send_write_back(p, a, Data);
          become(p, a, S);
        case WEI:
          send_data_s(requester, a, DataS_SRO, cache[p][a].value);
          drop(p, a, I);
        case WMI:
          send_data_s(requester, a, DataS_S, cache[p][a].value);
          drop(p, a, I);
        else
          error "FwdS in an unexpected state";
      end;
    end;
    consume_forward(p, a);
  end;

  rule "cache receives FwdX"
    forward[p][a].kind = FwdX
  ==>
  begin
    switch cache[p][a].state
      case E, M:
        send_data_x(forward[p][a].requester, a, DataX1);
        become(p, a, S);
      case WEI, WMI:
        send_data_x(forward[p][a].requester, a, DataX0);
        drop(p, a, I);
      else
        error "FwdX in an unexpected state";
    end;
    consume_forward(p, a);
  end;

  rule "cache receives Ack"
    ack[p][a]
  ==>
  begin
    assert cache[p][a].state = WEI | cache[p][a].state = WMI "Ack in an expected state";
    drop(p, a, I);
    ack[p][a] := false;
  end;

  rule "cache receives DataS"
    response[p][a].kind = DataS_S | response[p][a].kind = DataS_SRO |
    response[p][a].kind = DataS_E
  ==>
  begin
    assert cache[p][a].state = WS | cache[p][a].state = WSROI
      "DataS in an expected state";
    Load(p, a, response[p][a].value);
    cache[p][a].value := response[p][a].value;
    switch response[p][a].kind
      case DataS_S:
        become(p, a, S);
      case DataS_SRO:
        if cache[p][a].state = WSROI then
          drop(p, a, I);
        else
          become(p, a, SRO);
        end;
      case DataS_E:
        send_confirmation(p, a, AckC0);
        become(p, a, E);
    end;
    self_invalidate_other_than(p, a);
    consume_response(p, a);
  end;

end;

ruleset p : Processor; a : Address; v : Value do
  rule "cache receives DataX"
    response[p][a].kind = DataX0 | response[p][a].kind = DataX1
  ==>
  begin
    assert cache[p][a].state = WX "DataX in an expected state";
    cache[p][a].value := v;
    become(p, a, M);
    Store(p, a, v);
    if response[p][a].kind = DataX0 then
      send_confirmation(p, a, AckC0);
    else
      send_confirmation(p, a, AckC1);
    end;
    self_invalidate_other_than(p, a);
    consume_response(p, a);
  end;
end;

-- What the directory does with a message. -------------------------------------

ruleset p : Processor; a : Address do

  rule "directory receives GetS"
    request[p][a] = GetS &
    (directory[a].state = DirU | directory[a].state = DirE |
     directory[a].state = DirS | directory[a].state = DirSRO)
  ==>
  begin
    switch directory[a].state
      case DirU:
        send_data_s(p, a, DataS_E, directory[a].value);
        directory[a].owner := p;
        dir_become(a, DirWE1);
      case DirE:
        send_forward(directory[a].owner, a, FwdS, p);
        directory[a].sharers[p] := true;
        undefine directory[a].owner;
        dir_become(a, DirWS);
      case DirS:
        send_data_s(p, a, DataS_S, directory[a].value);
      case DirSRO:
        send_data_s(p, a, DataS_SRO, directory[a].value);
        directory[a].sharers[p] := true;
    end;
    request[p][a] := NoRequest;
  end;

  rule "directory receives GetX"
    request[p][a] = GetX &
    (directory[a].state = DirU | directory[a].state = DirE |
     directory[a].state = DirS | directory[a].state = DirSRO)
  ==>
  begin
    switch directory[a].state
      case DirU, DirS:
        grant_exclusive(p, a);
      case DirE:
        send_forward(directory[a].owner, a, FwdX, p);
        directory[a].owner := p;
        dir_become(a, DirWE2);
      case DirSRO:
        for q : Processor do
          if q != p & directory[a].sharers[q] then
            send_inv_ro(q, a);
            directory[a].acks := directory[a].acks + 1;
          end;
        end;
        forget_sharers(a);
        if directory[a].acks = 0 then
          grant_exclusive(p, a);
        else
          directory[a].owner := p;
          dir_become(a, DirWEn);
        end;
    end;
    request[p][a] := NoRequest;
  end;

  rule "directory receives PutE or Data"
    write_back[p][a].kind != NoWriteBack
  ==>
  begin
    switch directory[a].state
      case DirE:
        assert directory[a].owner = p "the owner evicts";
        settle_eviction(p, a, DirU);
      case DirWE1:
        if directory[a].owner = p then
          settle_eviction(p, a, DirWU1);
        else
          dir_become(a, DirE);
        end;
      case DirWE2:
        if directory[a].owner = p then
          settle_eviction(p, a, DirWU2);
        else
          dir_become(a, DirWE1);
        end;
      case DirWU1:
        dir_become(a, DirU);
      case DirWU2:
        dir_become(a, DirWU1);
      case DirWS:
        if write_back[p][a].kind = Data then
          take_value(p, a);
          forget_sharers(a);
          dir_become(a, DirS);
        else
          dir_become(a, DirSRO);
        end;
      else
        error "PutE or Data in an unexpected state";
    end;
    consume_write_back(p, a);
  end;

  rule "directory receives AckC"
    confirmation[p][a] != NoConfirmation
  ==>
  begin
    switch directory[a].state
      case DirWE1:
        dir_become(a, DirE);
      case DirWE2:
        if confirmation[p][a] = AckC1 then
          dir_become(a, DirE);
        else
          dir_become(a, DirWE1);
        end;
      case DirWU1:
        dir_become(a, DirU);
      case DirWU2:
        if confirmation[p][a] = AckC1 then
          dir_become(a, DirU);
        else
          dir_become(a, DirWU1);
        end;
      case DirWS:
        directory[a].sharers[p] := true;
        dir_become(a, DirSRO);
      else
        error "AckC in an unexpected state";
    end;
    confirmation[p][a] := NoConfirmation;
  end;

  rule "directory receives AckRO"
    ack_ro[p][a]
  ==>
  begin
    assert directory[a].state = DirWEn "AckRO in an expected state";
    directory[a].acks := directory[a].acks - 1;
    if directory[a].acks = 0 then
      grant_exclusive(directory[a].owner, a);
    end;
    ack_ro[p][a] := false;
  end;

end;

-- Start and properties. -------------------------------------------------------

ruleset v : Value do
  startstate "no copies, no messages, any value in the shared cache"
  begin
    for a : Address do
      for p : Processor do
        drop(p, a, I);
        request[p][a] := NoRequest;
        consume_write_back(p, a);
        confirmation[p][a] := NoConfirmation;
        ack_ro[p][a] := false;
        inv_ro[p][a] := false;
        consume_forward(p, a);
        ack[p][a] := false;
        consume_response(p, a);
      end;
      dir_become(a, DirU);
      directory[a].value := v;
      undefine directory[a].owner;
      forget_sharers(a);
      directory[a].acks := 0;
    end;
  end;
end;

invariant "one owner"
  forall a : Address do forall p : Processor do forall q : Processor do
    p != q -> !(exclusive(p, a) & exclusive(q, a))
  end end end;

invariant "read-only is exclusive"
  forall a : Address do forall p : Processor do forall q : Processor do
    exclusive(p, a) -> cache[q][a].state != SRO
  end end end;

invariant "clean copies agree"
  forall a : Address do forall p : Processor do
    cache[p][a].state = E | cache[p][a].state = SRO
    -> cache[p][a].value = directory[a].value
  end end;

invariant "who waits has something to wait for"
  forall a : Address do forall p : Processor do
    (cache[p][a].state = WS | cache[p][a].state = WSROI | cache[p][a].state = WX
     -> request[p][a] != NoRequest | response[p][a].kind != NoResponse |
        (directory[a].state = DirWEn & directory[a].owner = p) |
        exists q : Processor do
          forward[q][a].kind != NoForward & forward[q][a].requester = p
        end) &
    (cache[p][a].state = WEI | cache[p][a].state = WMI
     -> write_back[p][a].kind != NoWriteBack | ack[p][a] | forward[p][a].kind != NoForward)
  end end;

invariant "a directory that waits will hear of something"
  forall a : Address do
    directory[a].state != DirU & directory[a].state != DirE &
    directory[a].state != DirS & directory[a].state != DirSRO
    -> exists p : Processor do
         confirmation[p][a] != NoConfirmation | write_back[p][a].kind != NoWriteBack |
         forward[p][a].kind != NoForward | response[p][a].kind != NoResponse |
         inv_ro[p][a] | ack_ro[p][a]
       end
  end;
