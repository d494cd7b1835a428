//! For sequential consistency of a protocol that marks commits: which place each store has in the
//! order of its location, also while it is pending.
//!
//! A store is *pending* from its `Store` to its `Commit`. The witness of a trace orders the stores to
//! a location like this: the committed ones in the order of their commits, then the pending ones in
//! the order in which they were stored. So every trace has one witness, also a trace that ends while
//! stores are pending, or in which some are never committed. If no trace has a cycle in the graph of
//! its own witness, all are sequentially consistent; the theorem of the paper (6.1) holds for every
//! order of the stores to each location. Too strict a witness raises an alarm, which the trace checker
//! judges.
//!
//! The class of a store (before, the chosen one, after: 0, 1, 2) is guessed when it is stored. For
//! each location of the cycle the observer keeps the pending stores in the order in which they were
//! stored, each with its processor and its class. A commit takes the oldest pending store of its
//! processor from there and passes its class to Constrain. In every state, Constrain says of what it
//! was given, followed by the classes of the pending stores, whether the guesses are right for the
//! trace that ends here; only then does a cycle count ([`PLACED`]).
//!
//! *For every trace some guess passes.* Take the classes by the place of each store in the witness.
//! The committed stores come first in the witness and in this order, so Constrain has seen a prefix of
//! 0…0 1 2…2; the pending ones are the rest, in the order in which they are kept. The guesses that
//! are dismissed early are dismissed in any case: two stores of class 1; a store of a lower class
//! than an older pending one of its processor, since a processor's stores to a location are committed
//! in its order; a store of class 0 that is pending when the chosen one is committed.
//!
//! *A commit of anything else is noticed.* It may be of what was never stored there by this
//! processor, of what was committed before, or of a store that is not the oldest. Let it be the first
//! such commit of a trace, of a value x to a location that is in the cycle. If x is none of the
//! pending stores of the processor there, let these have class 2 and all other values class 0: the
//! commits up to then pass Constrain, and the commit of class 0 meets a store of class 2 or none. If
//! x is a later one of them, let x and what is after it have class 2 and all others 0. What was wrong
//! is reported by `misuse.rs`, from the run with a value of its own for every store.

/// The invariant about commits.
pub(crate) const COMMITS: &str =
    "every commit is of the oldest pending store of its processor to the address";

/// The largest number of pending stores to an address in a verification against sc.
pub const ROOM: u64 = 8;

/// Initial values.
pub(crate) const START: &str = "
  $_unstored := false;
  $_crowded := false;
  for $_a: $Address do $_queue[$_a].$_count := 0; end;
";

/// Stores and commits. `$room` is the number of stores that may be pending, `$last` is one less.
pub(crate) const DECLARATIONS: &str = "
type
  $_pending_store: record $_of: $Processor; $_class: $Value; end;
var
  $_queue: array [$Address] of record
    $_count: 0..$room;
    $_stores: array [0..$last] of $_pending_store;
  end;
  $_unstored: boolean;
  $_crowded: boolean;

function $_pending($_a: $Address; $_v: $Value): boolean;
begin
  return exists $_n: 0..$last do
    $_n < $_queue[$_a].$_count & $_queue[$_a].$_stores[$_n].$_class = $_v
  end;
end;

function $_pending_of($_p: $Processor; $_a: $Address; $_v: $Value): boolean;
begin
  return exists $_n: 0..$last do
    $_n < $_queue[$_a].$_count & $_queue[$_a].$_stores[$_n].$_of = $_p
    & $_queue[$_a].$_stores[$_n].$_class = $_v
  end;
end;

procedure $_store($_p: $Processor; $_a: $Address; $_v: $Value);
begin
  $say_store
  if isundefined($_writes[$_a]) then
    assume $_v = $0;
  else
    assume ($_writes[$_a] = $_before & ($_v = $0 | $_v = $1)) | $_v = $2;
    assume $_v != $1 | !$_pending($_a, $1);
    assume $_v = $2 | (!$_pending_of($_p, $_a, $1) & !$_pending_of($_p, $_a, $2));
    if $_queue[$_a].$_count = $room then
      $_crowded := true;
    else
      $_queue[$_a].$_stores[$_queue[$_a].$_count].$_of := $_p;
      $_queue[$_a].$_stores[$_queue[$_a].$_count].$_class := $_v;
      $_queue[$_a].$_count := $_queue[$_a].$_count + 1;
    end;
  end;
  $_event($_p, $_a, $_v, true);
end;

procedure $_commit($_p: $Processor; $_a: $Address; $_v: $Value);
var
  $_oldest: 0..$last;
begin
  $say_commit
  if isundefined($_writes[$_a]) then
    assume $_v = $0;
  else
    for $_n := 0 to $last do
      if isundefined($_oldest) & $_n < $_queue[$_a].$_count then
        if $_queue[$_a].$_stores[$_n].$_of = $_p then
          $_oldest := $_n;
        end;
      end;
    end;
    if isundefined($_oldest) then
      $_unstored := true;
    elsif $_queue[$_a].$_stores[$_oldest].$_class != $_v then
      $_unstored := true;
    else
      for $_n := 0 to $last - 1 do
        if $_n >= $_oldest then
          $_queue[$_a].$_stores[$_n] := $_queue[$_a].$_stores[$_n + 1];
        end;
      end;
      undefine $_queue[$_a].$_stores[$last];
      $_queue[$_a].$_count := $_queue[$_a].$_count - 1;
      $_order($_a, $_v);
      assume $_v != $1 | !$_pending($_a, $0);
    end;
  end;
end;
";

/// Whether the guessed classes are right for the trace that ends here.
pub(crate) const PLACED: &str = "
function $_placed(): boolean;
begin
  return forall $_a: $Address do
    !isundefined($_writes[$_a]) ->
    forall $_n: 0..$last do
      $_n < $_queue[$_a].$_count ->
      ($_queue[$_a].$_stores[$_n].$_class = $2
       ? ($_writes[$_a] = $_after
          | exists $_m: 0..$last do $_m < $_n & $_queue[$_a].$_stores[$_m].$_class = $1 end)
       : ($_writes[$_a] = $_before
          & forall $_m: 0..$last do $_m < $_n -> $_queue[$_a].$_stores[$_m].$_class = $0 end))
    end
  end;
end;
";
