-- BROKEN: a process enters after N-2 levels; the last level is skipped.
-- Two processes are then inside at once: "mutual exclusion" breaks (N >= 3).
--
-- Peterson's lock for N processes (the filter lock).
--
-- What it models.  N processes compete for one critical section with plain
-- reads and writes only.  A process climbs N-1 levels.  On each level it first
-- announces the level (`level`), then offers itself as the level's victim
-- (`victim`), then waits until it is no longer the victim or nobody else is on
-- this level or above.  Of the processes that reach a level, at least one stays
-- behind, so at most one gets through the last.
--
-- States of a process:
--   Thinking     outside; level 0
--   Announcing   about to write its next level
--   Offering     has written its level, about to write itself as the victim
--   Waiting      spins on the victim and on the others' levels
--   Critical     inside
--
-- One rule is one shared write, or one evaluation of the waiting condition (the
-- reads of one evaluation count as one step).
--
-- Properties:
--   "mutual exclusion"     at most one process is Critical
--   "each level filters"   at most N-l processes have got past level l
--   no deadlock
--
-- Parameters: N, the number of processes.

const
  N : 3;

type
  Process : scalarset(N);
  Level   : 0..N-1;
  Gate    : 1..N-1;
  Count   : 0..N;
  Phase   : enum { Thinking, Announcing, Offering, Waiting, Critical };

var
  phase  : array [Process] of Phase;
  -- The level a process has announced, and the one it is working on.
  level  : array [Process] of Level;
  goal   : array [Process] of Level;
  -- Who waits at each level; undefined until somebody came by.
  victim : array [Gate] of Process;

-- Somebody other than p is on the level p works on, or above it.
function contended(p : Process) : boolean;
begin
  return exists q : Process do q != p & level[q] >= goal[p] end;
end;

-- How many processes are past gate g: at work on a higher one, or inside.
function past(g : Gate) : Count;
var
  number : Count;
begin
  number := 0;
  for p : Process do
    if goal[p] > g | phase[p] = Critical then
      number := number + 1;
    end;
  end;
  return number;
end;

ruleset p : Process do

  rule "wants to enter"
    phase[p] = Thinking
  ==>
  begin
    goal[p] := 1;
    phase[p] := Announcing;
  end;

  rule "announces its level"
    phase[p] = Announcing
  ==>
  begin
    level[p] := goal[p];
    phase[p] := Offering;
  end;

  rule "offers itself as victim"
    phase[p] = Offering
  ==>
  begin
    victim[goal[p]] := p;
    phase[p] := Waiting;
  end;

  rule "passes a level"
    phase[p] = Waiting & (victim[goal[p]] != p | !contended(p))
  ==>
  begin
    if goal[p] + 1 >= N-1 then  -- BUG: was `goal[p] = N-1`
      phase[p] := Critical;
    else
      goal[p] := goal[p] + 1;
      phase[p] := Announcing;
    end;
  end;

  rule "leaves"
    phase[p] = Critical
  ==>
  begin
    level[p] := 0;
    goal[p] := 0;
    phase[p] := Thinking;
  end;

end;

startstate "everybody thinks"
begin
  for p : Process do
    phase[p] := Thinking;
    level[p] := 0;
    goal[p] := 0;
  end;
  undefine victim;
end;

invariant "mutual exclusion"
  forall p : Process do forall q : Process do
    p != q -> !(phase[p] = Critical & phase[q] = Critical)
  end end;

invariant "each level filters"
  forall g : Gate do past(g) <= N-g end;
