-- BROKEN: any buffered store may be written into the cache, not only the oldest one.
-- Message passing fails: another processor sees the second store and not the first.
-- Total store order breaks, and no invariant.
--
-- MSI with store buffers: what makes a sequentially consistent memory one of total
-- store order.
--
-- What it models.  Below, MSI on an atomic bus: a read or an exclusive read of a
-- cache is one step in which the memory and all caches take part.  (msi.m shows how
-- that is done with messages; here it would only hide the point.)  Above, per
-- processor a FIFO of stores that have been issued but not yet written into the
-- cache.  A load takes the youngest buffered store to its address if there is one
-- (forwarding), and reads the cache otherwise, without waiting for the buffer.
--
-- States of a cache line: I, S (readable), M (readable and writable).
--
-- Memory events are what the processors see, in program order: Store is called when
-- the store is issued, that is, enters the buffer, and Load when the load takes its
-- value.  Two processors that store to one address may be written in the other order:
-- the order of the stores in memory is that in which the buffers drain, and not the
-- temporal order of the events.  Commit is called there, when a store is written into
-- the cache.  All lines start with the same value in memory.
--
-- Properties:
--   "single writer, multiple readers"  a cache in M is the only one with a copy
--   "shared copies agree"              with the memory
--   no deadlock
-- It is not sequentially consistent: two processors may each store to one address
-- and then read the old value of the other.  It keeps total store order.
--
-- Parameters: ProcessorCount, AddressCount, ValueCount, BufferLength.

const
  ProcessorCount : 2;
  AddressCount   : 2;
  ValueCount     : 2;
  BufferLength   : 2;

type
  Processor : scalarset(ProcessorCount);
  Address   : scalarset(AddressCount);
  Value     : scalarset(ValueCount);
  Place     : 0..BufferLength-1;

  LineState : enum { I, S, M };

  Line : record
    state : LineState;
    data  : Value;      -- undefined in I
  end;

  BufferedStore : record
    address : Address;
    data    : Value;
  end;

  Buffer : record
    count : 0..BufferLength;
    place : array [Place] of BufferedStore;   -- the oldest first
  end;

var
  cache  : array [Processor] of array [Address] of Line;
  memory : array [Address] of Value;
  buffer : array [Processor] of Buffer;

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

-- Store buffers. --------------------------------------------------------------

function buffered(p : Processor; a : Address) : boolean;
begin
  return exists i : Place do
    i < buffer[p].count & buffer[p].place[i].address = a
  end;
end;

procedure append(p : Processor; a : Address; v : Value);
begin
  buffer[p].place[buffer[p].count].address := a;
  buffer[p].place[buffer[p].count].data := v;
  buffer[p].count := buffer[p].count + 1;
end;

procedure remove(p : Processor; removed : Place);
begin
  buffer[p].count := buffer[p].count - 1;
  for i : Place do
    if removed <= i & i < buffer[p].count then
      buffer[p].place[i] := buffer[p].place[i + 1];
    end;
  end;
  undefine buffer[p].place[buffer[p].count];
end;

-- The bus. --------------------------------------------------------------------

procedure drop(p : Processor; a : Address);
begin
  cache[p][a].state := I;
  undefine cache[p][a].data;
end;

procedure write_back(p : Processor; a : Address);
begin
  if cache[p][a].state = M then
    memory[a] := cache[p][a].data;
    cache[p][a].state := S;
  end;
end;

procedure fetch(p : Processor; a : Address; state : LineState);
begin
  for q : Processor do
    write_back(q, a);
    if state = M & q != p then
      drop(q, a);
    end;
  end;
  cache[p][a].state := state;
  cache[p][a].data := memory[a];
end;

-- What a processor does. ------------------------------------------------------

ruleset p : Processor; a : Address; v : Value do
  rule "store"
    buffer[p].count < BufferLength
  ==>
  begin
    append(p, a, v);
    Store(p, a, v);
  end;
end;

ruleset p : Processor; a : Address do

  rule "load from the cache"
    cache[p][a].state != I & !buffered(p, a)
  ==>
  begin
    Load(p, a, cache[p][a].data);
  end;

end;

ruleset p : Processor; i : Place do

  rule "load from the buffer"
    i < buffer[p].count &
    forall j : Place do
      i < j & j < buffer[p].count
      -> buffer[p].place[j].address != buffer[p].place[i].address
    end
  ==>
  begin
    Load(p, buffer[p].place[i].address, buffer[p].place[i].data);
  end;

  rule "write the oldest store into the cache"
    -- BUG: lost `i = 0 &`
    i < buffer[p].count & cache[p][buffer[p].place[i].address].state = M
  ==>
  begin
    cache[p][buffer[p].place[i].address].data := buffer[p].place[i].data;
    Commit(p, buffer[p].place[i].address, buffer[p].place[i].data);
    remove(p, i);
  end;

end;

-- What a cache does. ----------------------------------------------------------

ruleset p : Processor; a : Address do

  rule "read"
    cache[p][a].state = I
  ==>
  begin
    fetch(p, a, S);
  end;

  rule "read exclusively"
    cache[p][a].state != M & buffered(p, a)
  ==>
  begin
    fetch(p, a, M);
  end;

  rule "evict"
    cache[p][a].state != I
  ==>
  begin
    write_back(p, a);
    drop(p, a);
  end;

end;

-- Start and properties. -------------------------------------------------------

ruleset v : Value do
  startstate "no copies, empty buffers, any value in memory"
  begin
    undefine buffer;
    for p : Processor do
      buffer[p].count := 0;
      for a : Address do
        drop(p, a);
        memory[a] := v;
      end;
    end;
  end;
end;

invariant "single writer, multiple readers"
  forall a : Address do forall p : Processor do forall q : Processor do
    p != q & cache[p][a].state = M -> cache[q][a].state = I
  end end end;

invariant "shared copies agree"
  forall a : Address do forall p : Processor do
    cache[p][a].state = S -> cache[p][a].data = memory[a]
  end end;
