-- BROKEN: the earlier version of Figure 1, as section 8 of the paper tells it:
-- answering a request for shared access does not clear the owner.  The owner may
-- then get exclusive access while the shared copy is still in the queue of the
-- other processor, which nobody will tell to drop it.  With two processors and two
-- locations both can write one location and read the old value of the other, after
-- 12 steps (the 2-nice cycle of the paper).  One location is enough for another
-- error that the paper does not mention: a processor that gets the shared copy
-- becomes the owner while an exclusive one is in its queue already, asks again, and
-- has its own store undone by the second answer, after 10 steps (a 1-nice cycle).
-- Since shared copies can now be sent over and over again, queues fill to any bound;
-- two places are enough for both.
--
-- Piranha: the memory system of Figure 1 of sequential-consistency-by-model-
-- checking, a much simplified model of the coherence within one node of the
-- Piranha chip multiprocessor.
--
-- What it models.  Processors with caches, locations, and per processor one input
-- queue.  The owner of a location is the processor that got access to it last.  It
-- answers requests, which are not modelled themselves: answering ("ACKX", "ACKS")
-- puts a message with the data into the queue of the requester, and at once takes
-- away the copy of the owner (ACKX) or its right to write (ACKS).  Other copies
-- are invalidated by messages, of which nobody waits to hear that they arrived:
-- the other processors may read the old value until their queue has brought the
-- news.  That this is sequentially consistent all the same rests on the order of
-- the queues.
--
-- States of a cache line: INV, SHD (readable), EXC (readable and writable).
-- owner[a] is undefined (0 in the figure) while access to a is on its way; new
-- requests for a wait until the new owner has taken its message.  In the figure
-- `owner[j] := 0` stands before uses of owner[j] that mean the old owner; here
-- those come first.
--
-- Queues are unbounded in the figure.  Here they have QueueLength places, and an
-- answer waits until every queue that it needs has one.  With two processors and
-- two places per location that never happens: at most one invalidation and one
-- answer per location are under way to a processor.  With three, invalidations can
-- pile up in front of a processor that does not look, and the bound leaves out
-- those runs in which more than QueueLength do.
--
-- Memory events: Load in every state but INV, Store in EXC.  All caches start with
-- the same value in every location, all in SHD.  The figure allows any owners;
-- here at most one location begins with another owner than the rest, which is the
-- same up to two locations.
--
-- Properties: sequential consistency, which is a property of the memory events and
-- not of the states, and no deadlock.  Copies may be stale by design.  (At most one
-- cache is in EXC at any time, which is why the temporal order of the stores to a
-- location is the order to look for.)
--
-- Parameters: ProcessorCount, AddressCount, ValueCount, QueueLength.

const
  ProcessorCount : 2;
  AddressCount   : 2;
  ValueCount     : 2;
  QueueLength    : 2;

type
  Processor : scalarset(ProcessorCount);
  Address   : scalarset(AddressCount);
  Value     : scalarset(ValueCount);

  LineState   : enum { INV, SHD, EXC };
  MessageKind : enum { ACKS, ACKX, INVAL };

  Line : record
    state : LineState;
    data  : Value;      -- what it was in INV
  end;

  Message : record
    kind    : MessageKind;
    address : Address;
    data    : Value;        -- undefined with INVAL
  end;

  Queue : record
    count : 0..QueueLength;
    place : array [0..QueueLength-1] of Message;
  end;

var
  cache : array [Processor] of array [Address] of Line;
  queue : array [Processor] of Queue;
  owner : array [Address] of Processor;   -- undefined while access is on its way

-- Memory events: what the processors see.  The bodies are empty; a checker of the
-- memory model attaches itself here. -----------------------------------------

procedure Load(p : Processor; a : Address; v : Value);
begin
end;

procedure Store(p : Processor; a : Address; v : Value);
begin
end;

-- Queues. ---------------------------------------------------------------------

procedure append(p : Processor; kind : MessageKind; a : Address);
begin
  queue[p].place[queue[p].count].kind := kind;
  queue[p].place[queue[p].count].address := a;
  queue[p].count := queue[p].count + 1;
end;

procedure append_data(p : Processor; kind : MessageKind; a : Address; data : Value);
begin
  queue[p].place[queue[p].count].data := data;
  append(p, kind, a);
end;

procedure remove_head(p : Processor);
begin
  queue[p].count := queue[p].count - 1;
  for i : 0..QueueLength-1 do
    if i < queue[p].count then
      queue[p].place[i] := queue[p].place[i + 1];
    end;
  end;
  undefine queue[p].place[queue[p].count];
end;

-- Lines. ----------------------------------------------------------------------

procedure set_line(p : Processor; a : Address; state : LineState; data : Value);
begin
  cache[p][a].state := state;
  cache[p][a].data := data;
end;

procedure invalidate(p : Processor; a : Address);
begin
  cache[p][a].state := INV;
end;

-- When p gets exclusive access to a, does q hear of it by a message?
function gets_message(p : Processor; a : Address; q : Processor) : boolean;
begin
  return q = p | (q != owner[a] & cache[q][a].state != INV);
end;

-- What a processor does. ------------------------------------------------------

ruleset p : Processor; a : Address do
  rule "R"
    cache[p][a].state != INV
  ==>
  begin
    Load(p, a, cache[p][a].data);
  end;
end;

ruleset p : Processor; a : Address; v : Value do
  rule "W"
    cache[p][a].state = EXC
  ==>
  begin
    cache[p][a].data := v;
    Store(p, a, v);
  end;
end;

-- What the owner does for another processor. ----------------------------------

ruleset p : Processor; a : Address do

  rule "ACKX"
    cache[p][a].state != EXC & !isundefined(owner[a]) &
    forall q : Processor do gets_message(p, a, q) -> queue[q].count < QueueLength end
  ==>
  begin
    append_data(p, ACKX, a, cache[owner[a]][a].data);
    for q : Processor do
      if q != p & gets_message(p, a, q) then
        append(q, INVAL, a);
      end;
    end;
    if owner[a] != p then
      invalidate(owner[a], a);
    end;
    undefine owner[a];
  end;

  rule "ACKS"
    cache[p][a].state = INV & !isundefined(owner[a]) & queue[p].count < QueueLength
  ==>
  begin
    cache[owner[a]][a].state := SHD;
    append_data(p, ACKS, a, cache[owner[a]][a].data);
    -- BUG: lost `undefine owner[a];`
  end;

end;

-- What a processor does with the first message of its queue. ------------------

ruleset p : Processor do
  rule "UPD"
    queue[p].count > 0
  ==>
  begin
    alias message : queue[p].place[0] do
      switch message.kind
        case INVAL:
          invalidate(p, message.address);
        case ACKS:
          set_line(p, message.address, SHD, message.data);
          owner[message.address] := p;
        case ACKX:
          set_line(p, message.address, EXC, message.data);
          owner[message.address] := p;
      end;
    end;
    remove_head(p);
  end;
end;

-- Start. ----------------------------------------------------------------------

ruleset v : Value; p : Processor; q : Processor; a : Address do
  startstate "all caches share all locations; p owns a, q the others"
  begin
    undefine queue;
    for r : Processor do
      queue[r].count := 0;
      for b : Address do
        set_line(r, b, SHD, v);
        owner[b] := q;
      end;
    end;
    owner[a] := p;
  end;
end;
