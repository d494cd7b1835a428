-- BROKEN: an acknowledgement is dropped.  An owner that has no copy any more
-- refuses a forwarded Get, but does not tell the home.  The transaction stays
-- open, and the home refuses every other request for ever.  Everybody is busy
-- asking, so there is no deadlock, and no invariant breaks; but nobody who has no
-- copy will ever get one: "the home can still write" and "r can still write".
--
-- A protocol in the style of Stanford FLASH: three-hop transactions, negative
-- acknowledgements, counted invalidations, and write-back races.
--
-- What it models.  One memory line at its home node, whose processor has a cache
-- of its own (`home`), and RemoteCount remote nodes.  The home keeps the directory:
--   pending        a transaction is open; every other request gets a Nak
--   local          the home's own cache has a copy
--   dirty          some cache has the only valid copy: the home's (local), or a
--                  remote `owner`
--   sharers        remote nodes that may have a shared copy
--   acks_missing   invalidations not yet acknowledged
-- A request for a line that is dirty at a remote owner is forwarded to it; the
-- owner answers the requester, and tells the home (three hops).  If the owner has
-- no copy any more, or not yet, it sends a Nak to the requester and a NakClear to
-- the home, and the requester tries again.
--
-- As in FLASH a writer gets its copy at once, while the invalidations are still
-- under way: until the last acknowledgement (pending), other nodes may read the
-- value from before.
--
-- States of a cache: Invalid, Shared, Exclusive.  With it goes what the processor
-- waits for (NoWait, WaitGet, WaitGetX), and `marked`: an invalidation has
-- overtaken the answer to a Get, whose data then serves one load and is dropped.
--
-- Messages.  The network keeps no order, but for one exception: a replacement
-- hint is not overtaken by the next request of its sender.
--   transaction   one slot per requester, since each has one request open:
--                 Get, GetX at the home; FwdGet, FwdGetX at the `target`;
--                 PutS, PutX (data) and Nak on the way to the requester
--   invalidation  per remote node, Inv to it or InvAck from it
--   replacement   per remote node, a hint that it has dropped a shared copy
--   write_back    from an evicting owner: data
--   report        from an owner that has served a forward, to the home:
--                 SharedWriteBack (data) after a FwdGet, OwnershipMoved after a
--                 FwdGetX; both name the requester.  NakClear if it could not.
--
-- `latest` and `before` are not part of the machine: the value of the last store,
-- and the latest value when the open invalidations were sent.
--
-- Properties:
--   "single writer"                 at most one cache is Exclusive
--   "no reader beside a writer"     once all acknowledgements are in, an
--                                   Exclusive copy is the only one
--   "copies are current"            an Exclusive copy holds the latest value, and
--                                   a Shared one too, or while acknowledgements
--                                   are missing the value before
--   "memory is current"             while the line is not dirty
--   "the home can still write", "r can still write"
--                                   from every state, for each remote node r
--   no unexpected message in any state, no slot used twice, no deadlock
--
-- Parameters: RemoteCount, ValueCount (the number of data values).

const
  RemoteCount : 2;
  ValueCount  : 2;

type
  Remote   : scalarset(RemoteCount);
  Value    : scalarset(ValueCount);
  AckCount : 0..RemoteCount;

  CacheState : enum { Invalid, Shared, Exclusive };
  Wait       : enum { NoWait, WaitGet, WaitGetX };

  TransactionKind  : enum { NoTransaction, Get, GetX, FwdGet, FwdGetX, PutS, PutX, Nak };
  InvalidationKind : enum { NoInvalidation, Inv, InvAck };
  ReportKind       : enum { NoReport, SharedWriteBack, OwnershipMoved, NakClear };

  Cache : record
    state  : CacheState;
    data   : Value;      -- undefined while Invalid
    wait   : Wait;
    marked : boolean;
  end;

  Directory : record
    pending      : boolean;
    local        : boolean;
    dirty        : boolean;
    owner        : Remote;                       -- defined if dirty and not local
    sharers      : array [Remote] of boolean;
    acks_missing : AckCount;
    memory       : Value;
  end;

  Transaction : record
    kind   : TransactionKind;
    target : Remote;     -- with FwdGet, FwdGetX
    data   : Value;      -- with PutS, PutX
  end;

  WriteBack : record
    present : boolean;
    data    : Value;
  end;

  Report : record
    kind      : ReportKind;
    requester : Remote;  -- with SharedWriteBack, OwnershipMoved
    data      : Value;   -- with SharedWriteBack
  end;

var
  home   : Cache;
  remote : array [Remote] of Cache;

  directory : Directory;

  home_transaction : Transaction;
  transaction      : array [Remote] of Transaction;       -- by requester
  invalidation     : array [Remote] of InvalidationKind;
  replacement      : array [Remote] of boolean;           -- by sender
  write_back       : WriteBack;
  report           : Report;

  latest : Value;
  before : Value;   -- undefined while no acknowledgement is missing

-- Messages. -------------------------------------------------------------------

procedure clear_transaction(var t : Transaction);
begin
  t.kind := NoTransaction;
  undefine t.target;
  undefine t.data;
end;

procedure ask_home(r : Remote; kind : TransactionKind);
begin
  assert transaction[r].kind = NoTransaction "transaction slot is free";
  transaction[r].kind := kind;
end;

procedure forward_to_owner(var t : Transaction; kind : TransactionKind);
begin
  t.kind := kind;
  t.target := directory.owner;
end;

procedure answer(var t : Transaction; kind : TransactionKind; data : Value);
begin
  t.kind := kind;
  undefine t.target;
  t.data := data;
end;

procedure refuse(var t : Transaction);
begin
  clear_transaction(t);
  t.kind := Nak;
end;

procedure send_report(kind : ReportKind);
begin
  assert report.kind = NoReport "report slot is free";
  report.kind := kind;
end;

procedure consume_report();
begin
  report.kind := NoReport;
  undefine report.requester;
  undefine report.data;
end;

procedure consume_write_back();
begin
  write_back.present := false;
  undefine write_back.data;
end;

-- Caches. ---------------------------------------------------------------------

procedure fill(var c : Cache; state : CacheState; data : Value);
begin
  c.state := state;
  c.data := data;
end;

procedure drop(var c : Cache);
begin
  c.state := Invalid;
  undefine c.data;
end;

procedure stop_waiting(var c : Cache);
begin
  c.wait := NoWait;
  c.marked := false;
end;

-- Directory. ------------------------------------------------------------------

function dirty_at_remote() : boolean;
begin
  return directory.dirty & !directory.local;
end;

-- Invalidates r's copy for a new writer, if r is a sharer.  The transaction then
-- stays open until r has acknowledged.
procedure invalidate(r : Remote);
begin
  if directory.sharers[r] then
    assert invalidation[r] = NoInvalidation "invalidation slot is free";
    invalidation[r] := Inv;
    directory.sharers[r] := false;
    directory.acks_missing := directory.acks_missing + 1;
    directory.pending := true;
    before := latest;
  end;
end;

-- The home's processor. -------------------------------------------------------

ruleset v : Value do
  rule "home stores"
    home.state = Exclusive
  ==>
  begin
    home.data := v;
    latest := v;
  end;
end;

rule "home reads"
  home.state = Invalid & home.wait = NoWait & !directory.pending
==>
begin
  if directory.dirty then
    forward_to_owner(home_transaction, FwdGet);
    home.wait := WaitGet;
    directory.pending := true;
  else
    fill(home, Shared, directory.memory);
    directory.local := true;
  end;
end;

rule "home writes"
  home.state != Exclusive & home.wait = NoWait & !directory.pending
==>
begin
  if directory.dirty then
    forward_to_owner(home_transaction, FwdGetX);
    home.wait := WaitGetX;
    directory.pending := true;
  else
    fill(home, Exclusive, directory.memory);
    directory.local := true;
    directory.dirty := true;
    for r : Remote do
      invalidate(r);
    end;
  end;
end;

rule "home evicts"
  home.state != Invalid & home.wait = NoWait
==>
begin
  if home.state = Exclusive then
    directory.memory := home.data;
    directory.dirty := false;
  end;
  directory.local := false;
  drop(home);
end;

-- A remote processor. ---------------------------------------------------------

ruleset r : Remote; v : Value do
  rule "remote stores"
    remote[r].state = Exclusive
  ==>
  begin
    remote[r].data := v;
    latest := v;
  end;
end;

ruleset r : Remote do

  rule "remote reads"
    remote[r].state = Invalid & remote[r].wait = NoWait
  ==>
  begin
    ask_home(r, Get);
    remote[r].wait := WaitGet;
  end;

  rule "remote writes"
    remote[r].state != Exclusive & remote[r].wait = NoWait
  ==>
  begin
    ask_home(r, GetX);
    remote[r].wait := WaitGetX;
  end;

  rule "remote drops a shared copy"
    remote[r].state = Shared & remote[r].wait = NoWait
  ==>
  begin
    assert !replacement[r] "replacement slot is free";
    replacement[r] := true;
    drop(remote[r]);
  end;

  rule "remote writes back"
    remote[r].state = Exclusive
  ==>
  begin
    assert !write_back.present "write-back slot is free";
    write_back.present := true;
    write_back.data := remote[r].data;
    drop(remote[r]);
  end;

end;

-- The home serves requests. ---------------------------------------------------

ruleset r : Remote do

  rule "home serves Get"
    transaction[r].kind = Get & !replacement[r]
  ==>
  begin
    if directory.pending then
      refuse(transaction[r]);
    elsif dirty_at_remote() then
      if directory.owner = r then
        -- Its own write-back is still under way.
        refuse(transaction[r]);
      else
        forward_to_owner(transaction[r], FwdGet);
        directory.pending := true;
      end;
    else
      if directory.dirty then
        directory.memory := home.data;
        directory.dirty := false;
        home.state := Shared;
      end;
      directory.sharers[r] := true;
      answer(transaction[r], PutS, directory.memory);
    end;
  end;

  rule "home serves GetX"
    transaction[r].kind = GetX & !replacement[r]
  ==>
  begin
    if directory.pending then
      refuse(transaction[r]);
    elsif dirty_at_remote() then
      if directory.owner = r then
        refuse(transaction[r]);
      else
        forward_to_owner(transaction[r], FwdGetX);
        directory.pending := true;
      end;
    else
      if directory.dirty then
        directory.memory := home.data;
      end;
      if directory.local then
        drop(home);
        directory.local := false;
      end;
      directory.sharers[r] := false;
      for q : Remote do
        invalidate(q);
      end;
      directory.dirty := true;
      directory.owner := r;
      answer(transaction[r], PutX, directory.memory);
    end;
  end;

  rule "home takes a replacement hint"
    replacement[r]
  ==>
  begin
    directory.sharers[r] := false;
    replacement[r] := false;
  end;

  rule "home takes an acknowledgement"
    invalidation[r] = InvAck
  ==>
  begin
    invalidation[r] := NoInvalidation;
    directory.acks_missing := directory.acks_missing - 1;
    if directory.acks_missing = 0 then
      directory.pending := false;
      undefine before;
    end;
  end;

end;

rule "home takes a write-back"
  write_back.present
==>
begin
  assert dirty_at_remote() "a write-back comes from the owner";
  directory.memory := write_back.data;
  directory.dirty := false;
  undefine directory.owner;
  consume_write_back();
end;

rule "home takes a shared write-back"
  report.kind = SharedWriteBack
==>
begin
  directory.memory := report.data;
  directory.sharers[directory.owner] := true;
  directory.sharers[report.requester] := true;
  directory.dirty := false;
  undefine directory.owner;
  directory.pending := false;
  consume_report();
end;

rule "home learns that the ownership has moved"
  report.kind = OwnershipMoved
==>
begin
  -- Unless the new owner's write-back has come first.
  if directory.dirty then
    directory.owner := report.requester;
  end;
  directory.pending := false;
  consume_report();
end;

rule "home learns that a forward was refused"
  report.kind = NakClear
==>
begin
  directory.pending := false;
  consume_report();
end;

-- An owner serves forwards. ---------------------------------------------------

ruleset r : Remote; q : Remote do

  rule "owner serves FwdGet"
    transaction[r].kind = FwdGet & transaction[r].target = q
  ==>
  begin
    if remote[q].state = Exclusive then
      send_report(SharedWriteBack);
      report.requester := r;
      report.data := remote[q].data;
      answer(transaction[r], PutS, remote[q].data);
      remote[q].state := Shared;
    else
      -- BUG: was `send_report(NakClear); refuse(transaction[r]);`
      refuse(transaction[r]);
    end;
  end;

  rule "owner serves FwdGetX"
    transaction[r].kind = FwdGetX & transaction[r].target = q
  ==>
  begin
    if remote[q].state = Exclusive then
      send_report(OwnershipMoved);
      report.requester := r;
      answer(transaction[r], PutX, remote[q].data);
      drop(remote[q]);
    else
      send_report(NakClear);
      refuse(transaction[r]);
    end;
  end;

end;

-- For the home's own requests the answer is report enough.
ruleset q : Remote do

  rule "owner serves FwdGet of the home"
    home_transaction.kind = FwdGet & home_transaction.target = q
  ==>
  begin
    if remote[q].state = Exclusive then
      answer(home_transaction, PutS, remote[q].data);
      remote[q].state := Shared;
    else
      refuse(home_transaction);
    end;
  end;

  rule "owner serves FwdGetX of the home"
    home_transaction.kind = FwdGetX & home_transaction.target = q
  ==>
  begin
    if remote[q].state = Exclusive then
      answer(home_transaction, PutX, remote[q].data);
      drop(remote[q]);
    else
      refuse(home_transaction);
    end;
  end;

end;

-- Answers reach the requester. ------------------------------------------------

ruleset r : Remote do

  rule "remote takes PutS"
    transaction[r].kind = PutS
  ==>
  begin
    assert remote[r].wait = WaitGet "PutS answers a Get";
    if !remote[r].marked then
      fill(remote[r], Shared, transaction[r].data);
    end;
    stop_waiting(remote[r]);
    clear_transaction(transaction[r]);
  end;

  rule "remote takes PutX"
    transaction[r].kind = PutX
  ==>
  begin
    assert remote[r].wait = WaitGetX "PutX answers a GetX";
    fill(remote[r], Exclusive, transaction[r].data);
    stop_waiting(remote[r]);
    clear_transaction(transaction[r]);
  end;

  rule "remote takes Nak"
    transaction[r].kind = Nak
  ==>
  begin
    stop_waiting(remote[r]);
    clear_transaction(transaction[r]);
  end;

  rule "remote takes an invalidation"
    invalidation[r] = Inv
  ==>
  begin
    assert remote[r].state != Exclusive "an exclusive copy is not invalidated";
    drop(remote[r]);
    if remote[r].wait = WaitGet then
      remote[r].marked := true;
    end;
    invalidation[r] := InvAck;
  end;

end;

rule "home takes PutS"
  home_transaction.kind = PutS
==>
begin
  fill(home, Shared, home_transaction.data);
  directory.memory := home_transaction.data;
  directory.local := true;
  directory.dirty := false;
  directory.sharers[directory.owner] := true;
  undefine directory.owner;
  directory.pending := false;
  stop_waiting(home);
  clear_transaction(home_transaction);
end;

rule "home takes PutX"
  home_transaction.kind = PutX
==>
begin
  fill(home, Exclusive, home_transaction.data);
  directory.local := true;
  undefine directory.owner;
  directory.pending := false;
  stop_waiting(home);
  clear_transaction(home_transaction);
end;

rule "home takes Nak"
  home_transaction.kind = Nak
==>
begin
  directory.pending := false;
  stop_waiting(home);
  clear_transaction(home_transaction);
end;

-- Start and properties. -------------------------------------------------------

ruleset v : Value do
  startstate "no copies, no messages, any value in memory"
  begin
    drop(home);
    stop_waiting(home);
    clear_transaction(home_transaction);
    for r : Remote do
      drop(remote[r]);
      stop_waiting(remote[r]);
      clear_transaction(transaction[r]);
      invalidation[r] := NoInvalidation;
      replacement[r] := false;
      directory.sharers[r] := false;
    end;
    directory.pending := false;
    directory.local := false;
    directory.dirty := false;
    undefine directory.owner;
    directory.acks_missing := 0;
    directory.memory := v;
    consume_write_back();
    consume_report();
    latest := v;
    undefine before;
  end;
end;

invariant "single writer"
  forall r : Remote do
    remote[r].state = Exclusive ->
      home.state != Exclusive &
      forall q : Remote do q != r -> remote[q].state != Exclusive end
  end;

invariant "no reader beside a writer"
  directory.acks_missing = 0 ->
    forall r : Remote do
      (home.state = Exclusive -> remote[r].state = Invalid) &
      (remote[r].state = Exclusive ->
         home.state = Invalid &
         forall q : Remote do q != r -> remote[q].state = Invalid end)
    end;

invariant "copies are current"
  (home.state != Invalid -> home.data = latest) &
  forall r : Remote do
    (remote[r].state = Exclusive -> remote[r].data = latest) &
    (remote[r].state = Shared ->
       (directory.acks_missing = 0 ? remote[r].data = latest
                                   : remote[r].data = before))
  end;

invariant "memory is current"
  !directory.dirty -> directory.memory = latest;

liveness "the home can still write" home.state = Exclusive;

ruleset r : Remote do
  liveness "r can still write" remote[r].state = Exclusive;
end;
