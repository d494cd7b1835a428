-- BROKEN: a lost wake-up.  A process that sees no successor clears the tail
-- without comparing it first.  Whoever was just linking in behind it is cut off
-- from the queue: it spins for ever, while others take the lock again and again.
-- There is no deadlock and mutual exclusion holds (the two invariants about the
-- queue, which would notice, are left out); "p can still take the lock" breaks.
--
-- The MCS queue lock (Mellor-Crummey and Scott).
--
-- What it models.  The lock is a pointer to the last process of a queue
-- (`tail`).  A process enters by swapping itself into `tail`; if somebody was
-- there, it links itself behind (`successor` of the predecessor) and spins on a
-- flag of its own (`blocked`).  It leaves by clearing its successor's flag; if it
-- sees no successor it tries to swing `tail` back to nobody with a
-- compare-and-swap, and if that fails somebody is just linking in: it waits for
-- the link.
--
-- Steps of a process.  Each rule is one access to shared memory:
--   Outside          not interested
--   Preparing        clears its own successor
--   Swapping         swaps itself into tail, and has the lock if it was empty
--   Blocking         raises its own flag
--   Linking          makes itself the successor of its predecessor
--   Spinning         until its flag is cleared
--   Critical         inside
--   Leaving          reads its successor
--   Closing          compare-and-swap of tail, from itself to nobody
--   AwaitingLink     until it has a successor
--   HandingOver      clears the successor's flag
--
-- Pointers are values of the scalarset; `undefined` is the null pointer and is
-- tested with isundefined, never read.
--
-- Properties:
--   "mutual exclusion"            at most one process has the lock
--   "p can still take the lock"   from every state, for each process p
--   no deadlock
--
-- Parameters: N, the number of processes.

const
  N : 3;

type
  Process : scalarset(N);
  Step : enum { Outside, Preparing, Swapping, Blocking, Linking, Spinning,
                Critical, Leaving, Closing, AwaitingLink, HandingOver };

var
  step        : array [Process] of Step;
  predecessor : array [Process] of Process;   -- a local variable of the process

  -- Shared memory.
  tail      : Process;
  successor : array [Process] of Process;
  blocked   : array [Process] of boolean;

-- p owns the lock: from the moment it may enter to the moment it lets go.
function has_lock(p : Process) : boolean;
begin
  return step[p] = Critical | step[p] = Leaving | step[p] = Closing |
         step[p] = AwaitingLink | step[p] = HandingOver;
end;

function in_queue(p : Process) : boolean;
begin
  return has_lock(p) | step[p] = Blocking | step[p] = Linking | step[p] = Spinning;
end;

ruleset p : Process do

  rule "wants the lock"
    step[p] = Outside
  ==>
  begin
    step[p] := Preparing;
  end;

  rule "clears its successor"
    step[p] = Preparing
  ==>
  begin
    undefine successor[p];
    step[p] := Swapping;
  end;

  rule "swaps itself into the tail"
    step[p] = Swapping
  ==>
  begin
    if isundefined(tail) then
      step[p] := Critical;
    else
      predecessor[p] := tail;
      step[p] := Blocking;
    end;
    tail := p;
  end;

  rule "raises its flag"
    step[p] = Blocking
  ==>
  begin
    blocked[p] := true;
    step[p] := Linking;
  end;

  rule "links itself in"
    step[p] = Linking
  ==>
  begin
    successor[predecessor[p]] := p;
    undefine predecessor[p];
    step[p] := Spinning;
  end;

  rule "sees its flag cleared"
    step[p] = Spinning & !blocked[p]
  ==>
  begin
    step[p] := Critical;
  end;

  rule "wants to leave"
    step[p] = Critical
  ==>
  begin
    step[p] := Leaving;
  end;

  rule "looks for a successor"
    step[p] = Leaving
  ==>
  begin
    if isundefined(successor[p]) then
      step[p] := Closing;
    else
      step[p] := HandingOver;
    end;
  end;

  rule "tries to close the queue"
    step[p] = Closing
  ==>
  begin
    -- BUG: was a compare-and-swap; if it failed, the process waited for the link
    undefine tail;
    step[p] := Outside;
  end;

  rule "sees the link"
    step[p] = AwaitingLink & !isundefined(successor[p])
  ==>
  begin
    step[p] := HandingOver;
  end;

  rule "hands over"
    step[p] = HandingOver
  ==>
  begin
    blocked[successor[p]] := false;
    step[p] := Outside;
  end;

end;

startstate "the lock is free"
begin
  for p : Process do
    step[p] := Outside;
    undefine predecessor[p];
    undefine successor[p];
    blocked[p] := false;
  end;
  undefine tail;
end;

invariant "mutual exclusion"
  forall p : Process do forall q : Process do
    p != q -> !(has_lock(p) & has_lock(q))
  end end;

ruleset p : Process do
  liveness "p can still take the lock" step[p] = Critical;
end;
