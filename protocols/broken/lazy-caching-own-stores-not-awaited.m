-- BROKEN: a processor reads its cache as soon as the memory has taken its stores,
-- without waiting until they have come back to its own cache (the marked updates).  It
-- does not see its own store: sequential consistency breaks, and no invariant.
--
-- Lazy caching: sequential consistency without a common order of reads and writes
-- (Afek, Brown and Merritt).
--
-- What it models.  Each processor has a cache, a queue of its own stores on their way
-- to the memory (out), and a queue of updates on their way into its cache (in).  The
-- memory serialises the stores of all processors: when it takes one from an out queue
-- it puts it into the in queues of all, in that of the writer with a mark.  A
-- processor reads its cache only when none of its own stores is on its way, neither
-- in its out queue nor marked in its in queue.  So it never misses a store of its own,
-- but it may live in the past of the others, each in a past of its own.
--
-- Names of the steps are those of the literature: R, W (read, write), MW, MR (memory
-- write, memory read: the memory sends a value on its own account), CU (the cache
-- takes an update), CI (the cache drops a copy).
--
-- Queues are unbounded in the literature.  Here they have InLength and OutLength
-- places, and a step that needs a place waits for one.  Room in an in queue always
-- comes, since a cache can always take its first update.
--
-- Memory events: Load in R, Store in W, when the store enters the out queue.  The order
-- of the stores to an address in memory is that of the MW steps, where Commit is called.
-- The temporal order of the stores is another one, so that a check that takes it for the
-- order in memory (the simple witness) raises a false alarm.  All start with the same
-- value, in memory.
--
-- Properties: sequential consistency, which is a property of the memory events and not
-- of the states; no deadlock; and
--   "a cache that has caught up is current"   one with an empty in queue, that is
--
-- Parameters: ProcessorCount, AddressCount, ValueCount, InLength, OutLength.

const
  ProcessorCount : 2;
  AddressCount   : 2;
  ValueCount     : 2;
  InLength       : 2;
  OutLength      : 1;

type
  Processor : scalarset(ProcessorCount);
  Address   : scalarset(AddressCount);
  Value     : scalarset(ValueCount);

  Copy : record
    present : boolean;
    data    : Value;
  end;

  Update : record
    address : Address;
    data    : Value;
    marked  : boolean;      -- the store of the processor itself
  end;

  PendingStore : record
    address : Address;
    data    : Value;
  end;

  InQueue : record
    count : 0..InLength;
    place : array [0..InLength-1] of Update;
  end;

  OutQueue : record
    count : 0..OutLength;
    place : array [0..OutLength-1] of PendingStore;
  end;

var
  cache     : array [Processor] of array [Address] of Copy;
  memory    : array [Address] of Value;
  in_queue  : array [Processor] of InQueue;
  out_queue : array [Processor] of OutQueue;

-- Memory events: what the processors see.  The bodies are empty; a checker of the
-- memory model attaches itself here. ------------------------------------------

procedure Load(p : Processor; a : Address; v : Value);
begin
end;

procedure Store(p : Processor; a : Address; v : Value);
begin
end;

procedure Commit(p : Processor; a : Address; v : Value);
begin
end;

-- Queues. ---------------------------------------------------------------------

procedure append_in(p : Processor; a : Address; data : Value; marked : boolean);
begin
  in_queue[p].place[in_queue[p].count].address := a;
  in_queue[p].place[in_queue[p].count].data := data;
  in_queue[p].place[in_queue[p].count].marked := marked;
  in_queue[p].count := in_queue[p].count + 1;
end;

procedure remove_in(p : Processor);
begin
  in_queue[p].count := in_queue[p].count - 1;
  for i : 0..InLength-1 do
    if i < in_queue[p].count then
      in_queue[p].place[i] := in_queue[p].place[i + 1];
    end;
  end;
  undefine in_queue[p].place[in_queue[p].count];
end;

procedure append_out(p : Processor; a : Address; data : Value);
begin
  out_queue[p].place[out_queue[p].count].address := a;
  out_queue[p].place[out_queue[p].count].data := data;
  out_queue[p].count := out_queue[p].count + 1;
end;

procedure remove_out(p : Processor);
begin
  out_queue[p].count := out_queue[p].count - 1;
  for i : 0..OutLength-1 do
    if i < out_queue[p].count then
      out_queue[p].place[i] := out_queue[p].place[i + 1];
    end;
  end;
  undefine out_queue[p].place[out_queue[p].count];
end;

-- No store of p itself is on its way into its cache.
function no_mark(p : Processor) : boolean;
begin
  return forall i : 0..InLength-1 do
    i < in_queue[p].count -> !in_queue[p].place[i].marked
  end;
end;

procedure drop(p : Processor; a : Address);
begin
  cache[p][a].present := false;
  undefine cache[p][a].data;
end;

-- What a processor does. ------------------------------------------------------

ruleset p : Processor; a : Address do
  rule "R"
    cache[p][a].present & out_queue[p].count = 0  -- BUG: lost `& no_mark(p)`
  ==>
  begin
    Load(p, a, cache[p][a].data);
  end;
end;

ruleset p : Processor; a : Address; v : Value do
  rule "W"
    out_queue[p].count < OutLength
  ==>
  begin
    append_out(p, a, v);
    Store(p, a, v);
  end;
end;

-- What the memory does. -------------------------------------------------------

ruleset p : Processor do
  rule "MW"
    out_queue[p].count > 0 &
    forall q : Processor do in_queue[q].count < InLength end
  ==>
  begin
    alias first : out_queue[p].place[0] do
      memory[first.address] := first.data;
      Commit(p, first.address, first.data);
      for q : Processor do
        append_in(q, first.address, first.data, q = p);
      end;
    end;
    remove_out(p);
  end;
end;

ruleset p : Processor; a : Address do
  rule "MR"
    in_queue[p].count < InLength
  ==>
  begin
    append_in(p, a, memory[a], false);
  end;
end;

-- What a cache does. ----------------------------------------------------------

ruleset p : Processor do
  rule "CU"
    in_queue[p].count > 0
  ==>
  begin
    alias first : in_queue[p].place[0] do
      cache[p][first.address].present := true;
      cache[p][first.address].data := first.data;
    end;
    remove_in(p);
  end;
end;

ruleset p : Processor; a : Address do
  rule "CI"
    cache[p][a].present
  ==>
  begin
    drop(p, a);
  end;
end;

-- Start and properties. -------------------------------------------------------

ruleset v : Value do
  startstate "no copies, empty queues, any value in memory"
  begin
    undefine in_queue;
    undefine out_queue;
    for p : Processor do
      in_queue[p].count := 0;
      out_queue[p].count := 0;
      for a : Address do
        drop(p, a);
        memory[a] := v;
      end;
    end;
  end;
end;

invariant "a cache that has caught up is current"
  forall p : Processor do forall a : Address do
    cache[p][a].present & in_queue[p].count = 0 -> cache[p][a].data = memory[a]
  end end;
