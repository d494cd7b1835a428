-- MSI with the network as a multiset: the protocol of msi.m, rule by rule, in the
-- style in which such models are usually written.
--
-- What it models.  Exactly what msi.m does; see there for the protocol, its
-- states and its properties.  Only the network differs: here it is one multiset
-- of messages between nodes, where a node is a processor or the home of the
-- directory (a union of the two types), and a message is taken out of it by
-- `choose`.  Nothing bounds the network but its capacity, and to exceed that is
-- an error.
--
-- Each slot of msi.m corresponds to one message here, and each rule to one rule.
-- With full symmetry reduction (which also disregards the order of the elements
-- of a multiset) the numbers of states and of rules fired are the same.
--
-- Messages, by kind.  A field is undefined where the receiver has no use for it.
--   GetS, GetM, PutS         processor to home    source
--   PutM                     processor to home    source, data
--   FwdGetS, FwdGetM         home to owner        requester
--   Inv                      home to sharer       requester
--   Data                     to the requester     data, acks
--   InvAck                   sharer to requester  source
--   PutAck, PutStale         home to processor
--   WriteBack                owner to home        data
--
-- Properties: those of msi.m, and
--   "one request per processor"
--
-- Parameters: ProcessorCount, ValueCount (the number of data values).
--
-- Not every tool takes multisets and unions: Rumur refuses this file.

const
  ProcessorCount  : 3;
  ValueCount      : 2;
  NetworkCapacity : 2 * ProcessorCount;

type
  Processor : scalarset(ProcessorCount);
  Value     : scalarset(ValueCount);
  AckCount  : 0..ProcessorCount-1;

  HomeNode : enum { Home };
  Node     : union { HomeNode, Processor };

  CacheState : enum { I, S, M,
                      IS_D, IM_AD, IM_A, SM_AD, SM_A,
                      MI_A, SI_A, II_A, MI_F, SI_F };
  DirectoryState : enum { DirI, DirS, DirM, DirS_D };

  MessageKind : enum { GetS, GetM, PutS, PutM,
                       FwdGetS, FwdGetM, Inv,
                       Data, InvAck,
                       PutAck, PutStale,
                       WriteBack };

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

  Message : record
    kind        : MessageKind;
    source      : Node;
    destination : Node;
    requester   : Processor;
    data        : Value;
    acks        : AckCount;
  end;

var
  cache     : array [Processor] of Cache;
  directory : Directory;
  network   : multiset [NetworkCapacity] of Message;

  latest : Value;

-- Sending. --------------------------------------------------------------------

procedure send(kind : MessageKind; source : Node; destination : Node;
               requester : Processor; data : Value; acks : AckCount);
var
  message : Message;
begin
  message.kind := kind;
  message.source := source;
  message.destination := destination;
  message.requester := requester;
  message.data := data;
  message.acks := acks;
  MultisetAdd(message, network);
end;

procedure send_request(p : Processor; kind : MessageKind);
begin
  send(kind, p, Home, undefined, undefined, undefined);
end;

procedure send_modified(p : Processor);
begin
  send(PutM, p, Home, undefined, cache[p].data, undefined);
end;

-- A FwdGetS, a FwdGetM or an Inv.
procedure send_on_behalf(destination : Processor; kind : MessageKind; requester : Processor);
begin
  send(kind, undefined, destination, requester, undefined, undefined);
end;

procedure send_response(destination : Processor; data : Value; acks : AckCount);
begin
  send(Data, undefined, destination, undefined, data, acks);
end;

procedure send_ack(destination : Processor; sender : Processor);
begin
  send(InvAck, sender, destination, undefined, undefined, undefined);
end;

procedure send_put_answer(destination : Processor; kind : MessageKind);
begin
  send(kind, undefined, destination, undefined, undefined, undefined);
end;

procedure send_write_back(data : Value);
begin
  send(WriteBack, undefined, Home, undefined, data, undefined);
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
      send_on_behalf(q, Inv, p);
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
    send_modified(p);
    become(p, MI_A);
  end;

end;

-- What the directory does with a message. -------------------------------------

choose m : network do

  ruleset p : Processor do

    rule "directory serves GetS"
      network[m].kind = GetS & network[m].source = p & directory.state != DirS_D
    ==>
    begin
      if directory.state = DirM then
        send_on_behalf(directory.owner, FwdGetS, p);
        directory.sharers[directory.owner] := true;
        undefine directory.owner;
        directory.state := DirS_D;
      else
        send_response(p, directory.memory, 0);
        directory.state := DirS;
      end;
      directory.sharers[p] := true;
      MultisetRemove(m, network);
    end;

    rule "directory serves GetM"
      network[m].kind = GetM & network[m].source = p & directory.state != DirS_D
    ==>
    begin
      if directory.state = DirM then
        send_on_behalf(directory.owner, FwdGetM, p);
      else
        send_response(p, directory.memory, sharers_other_than(p));
        invalidate_sharers_for(p);
        directory.state := DirM;
      end;
      directory.owner := p;
      MultisetRemove(m, network);
    end;

    rule "directory serves PutS"
      network[m].kind = PutS & network[m].source = p & directory.state != DirS_D
    ==>
    begin
      if directory.sharers[p] then
        remove_sharer(p);
        send_put_answer(p, PutAck);
      else
        send_put_answer(p, PutStale);
      end;
      MultisetRemove(m, network);
    end;

    rule "directory serves PutM"
      network[m].kind = PutM & network[m].source = p & directory.state != DirS_D
    ==>
    begin
      if directory.state = DirM & directory.owner = p then
        directory.memory := network[m].data;
        undefine directory.owner;
        directory.state := DirI;
        send_put_answer(p, PutAck);
      elsif directory.sharers[p] then
        -- The owner has answered a read since, so the memory is current.
        remove_sharer(p);
        send_put_answer(p, PutAck);
      else
        send_put_answer(p, PutStale);
      end;
      MultisetRemove(m, network);
    end;

  end;

  rule "directory takes the write-back"
    network[m].kind = WriteBack
  ==>
  begin
    assert directory.state = DirS_D "a write-back ends DirS_D";
    directory.memory := network[m].data;
    directory.state := DirS;
    MultisetRemove(m, network);
  end;

end;

-- What a cache does with a message. -------------------------------------------

choose m : network do

  ruleset p : Processor do

    rule "owner serves FwdGetS"
      network[m].kind = FwdGetS & network[m].destination = p & !becoming_owner(p)
    ==>
    begin
      assert cache[p].state = M | cache[p].state = MI_A "FwdGetS in an expected state";
      send_response(network[m].requester, cache[p].data, 0);
      send_write_back(cache[p].data);
      if cache[p].state = M then
        become(p, S);
      else
        drop_data(p);
        become(p, SI_A);
      end;
      MultisetRemove(m, network);
    end;

    rule "owner serves FwdGetM"
      network[m].kind = FwdGetM & network[m].destination = p & !becoming_owner(p)
    ==>
    begin
      assert cache[p].state = M | cache[p].state = MI_A | cache[p].state = MI_F
        "FwdGetM in an expected state";
      send_response(network[m].requester, cache[p].data, 0);
      if cache[p].state = MI_A then
        become(p, II_A);
      else
        become(p, I);
      end;
      drop_data(p);
      MultisetRemove(m, network);
    end;

    rule "sharer serves an invalidation"
      network[m].kind = Inv & network[m].destination = p & cache[p].state != IS_D
    ==>
    begin
      send_ack(network[m].requester, p);
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
      MultisetRemove(m, network);
    end;

    rule "requester takes the data"
      network[m].kind = Data & network[m].destination = p
    ==>
    begin
      cache[p].data := network[m].data;
      switch cache[p].state
        case IS_D:
          become(p, S);
        case IM_AD, SM_AD:
          cache[p].acks := network[m].acks - cache[p].acks;
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
      MultisetRemove(m, network);
    end;

    rule "evictor learns what became of its Put"
      (network[m].kind = PutAck | network[m].kind = PutStale)
      & network[m].destination = p
    ==>
    begin
      if network[m].kind = PutAck then
        assert cache[p].state = MI_A | cache[p].state = SI_A "PutAck in an expected state";
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
      MultisetRemove(m, network);
    end;

    rule "requester takes an acknowledgement"
      network[m].kind = InvAck & network[m].destination = p
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
      MultisetRemove(m, network);
    end;

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
    end;
    directory.state := DirI;
    undefine directory.owner;
    directory.memory := v;
    undefine network;
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

invariant "one request per processor"
  forall p : Processor do
    MultisetCount(m : network,
                  network[m].destination = Home & network[m].kind != WriteBack
                  & network[m].source = p) <= 1
  end;
