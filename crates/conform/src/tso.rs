//! Total store order: refinement of TSO-LB, the load-buffering machine of "Verification of a lazy
//! cache coherence protocol against a weak memory model" (§III), as a Murphi text.
//!
//! TSO-LB has a global buffer and a local one for each processor. A store writes its value to the
//! local buffer of its processor and to the global one; a load returns what the local buffer
//! holds; and at any time, silently, a local buffer may be replaced by the global one. A protocol
//! refines it if the machine can follow every load and store of every run.
//!
//! *Lazily*, as in the paper, the machine propagates only when a load does not match, and at that
//! moment. This is one buffer for each processor; if it follows, all is well. It may fail although
//! the machine can follow: what is loaded may have been the global value only at an earlier
//! moment, at which there was no reason to propagate.
//!
//! *Exactly*, the observer keeps for each processor the set of all local buffers that the machine
//! could have by now. Propagation is possible at any time, so the global buffer is always one of
//! them and is not kept; the others are *stale*. A store makes the global buffer as it was stale
//! for the other processors, and writes to all buffers of its own one. A load keeps those buffers
//! that hold its value. If none does, the global one included, no run of the machine has these
//! loads and stores. Buffers that are the same, or the same as the global one, are kept once: a
//! set has fewer than |values|^|addresses| of them. It is a multiset of records over the types of
//! the protocol, so scalarsets of processors, addresses and values all stay symmetric.
//!
//! If the protocol marks commits, a store waits in a queue of its processor until its commit, which
//! must come in program order and is what writes the buffers; until then its processor loads from
//! the queue. So store buffers are followed as well. Reads are still only pulled back, to a moment
//! after which no store they overtake was committed, so all runs are still runs of TSO. There is no
//! lazy attempt then.
//!
//! Murphi cannot go through a multiset in a statement; `MultisetCount` with a function that adds
//! to another multiset does it. That the order in which it goes through the elements does not show is
//! vouched for (`check::Options::vouched`), since the analysis of loops does not see it:
//!
//! - What `$_keep` and `$_keep_written` do to an element depends on the element, on `$_global` and on
//!   parameters, none of which they write, and on whether `$_kept` has the result already. So after
//!   all elements `$_kept` is the set of the results, in any order.
//! - They fail in no order. All buffers are defined everywhere: the start states define `$_global`,
//!   `$_store` fails before it lets in anything undefined, and a stale buffer is a copy. There is room
//!   for all buffers that there can be, or it is looked for.
//! - If there is no room, which elements are kept depends on the order. But then `$_crowded` is set, in
//!   every order, which breaks an invariant and is never unset: the lemma does not hold.
//! - `$_seen`, the number of elements, is not used.

use crate::compose::{Composition, HAS_ROOM, Observer, compose, fill, initially, literal};
use crate::events::Protocol;
use crate::foundations::Values;
use crate::start_states;

/// The invariant about loads.
pub(crate) const FOLLOWED: &str = "TSO-LB allows the value of every load";

/// The invariant about commits.
pub(crate) const IN_ORDER: &str = "stores are committed in program order";

/// When TSO-LB propagates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// Only when a load does not match.
    Lazy,
    /// At any time.
    Any,
}

/// The largest number of stale buffers of a processor.
const MOST_STALE: u64 = 255;

/// The protocol with TSO-LB; `values` overrides the number of values.
pub(crate) fn lemma(
    protocol: &Protocol,
    values: Option<u64>,
    propagation: Propagation,
) -> Composition {
    let values = own_values(protocol, values);
    let (initial, choices) = first_value(protocol, values);
    let (stale, all) = stale_buffers(protocol, values.count().unwrap_or(protocol.value.count));
    let text = |template: &str| {
        let template = template
            .replace("$keep", if all { KEEP } else { KEEP_IF_ROOM })
            .replace("$has_value", HAS_VALUE)
            .replace("$initial", &initial)
            .replace("$most", &stale.to_string());
        fill(protocol, &template)
    };
    let committed = protocol.commit.is_some();
    let limited = propagation == Propagation::Any && (committed || !all);
    let (mut declarations, mut start) = match propagation {
        Propagation::Lazy => (LAZY.to_owned(), START_LAZY.to_owned()),
        Propagation::Any if committed => {
            (format!("{EXACT}{COMMITTED}"), format!("{START_EXACT}{START_COMMITTED}"))
        }
        Propagation::Any => (format!("{EXACT}{STORED}"), START_EXACT.to_owned()),
    };
    let mut properties = format!("invariant \"{FOLLOWED}\" !$_unmatched;");
    if committed {
        properties += &format!("invariant \"{IN_ORDER}\" !$_disordered;");
    }
    if limited {
        declarations = format!("var $_crowded: boolean; {declarations}");
        start += "$_crowded := false; ";
        properties += &format!("invariant \"{HAS_ROOM}\" !$_crowded;");
    }
    let observer = Observer {
        declarations: text(&declarations),
        properties: text(&properties),
        choices,
        start: text(&start),
        assumptions: initially(protocol, &initial),
        on_load: text("$_load"),
        on_store: text("$_store"),
        on_commit: text("$_commit"),
    };
    compose(protocol, values, &observer)
}

/// The values of the protocol, unless it is said how many there are or there is only one: loads are
/// compared with what was stored as they are, and nothing about values is assumed.
///
/// Two stand for any number of them if every store has a value of its own: in each of the ways in
/// which the machine can be stuck (`tso_by_address.rs`), it stays stuck if what is stored at the address of
/// the new value is 1 from that store on and 0 before, and what is stored at the other address is 0 up
/// to the old value and 1 afterwards. If stores share values, this may ask one value to be both.
pub(crate) fn own_values(protocol: &Protocol, values: Option<u64>) -> Values {
    match values {
        Some(values) => Values::ClassesOfStores(values),
        None if protocol.value.count < 2 => Values::ClassesOfStores(2),
        None => Values::Own,
    }
}

/// The initial value of all addresses, and the choice of it if it is not known.
pub(crate) fn first_value(protocol: &Protocol, values: Values) -> (String, String) {
    let is_lowest = !protocol.value.symmetric && start_states::begin_with_the_lowest(protocol);
    if is_lowest || values != Values::Own {
        return (literal(protocol, 0), String::new());
    }
    let initial = format!("{}initial", protocol.prefix);
    let choice = format!("{initial}: {}", protocol.value.text);
    (initial, choice)
}

/// The number of buffers besides the global one, and whether there can be no more.
fn stale_buffers(protocol: &Protocol, values: u64) -> (u64, bool) {
    let addresses = u32::try_from(protocol.address.count).unwrap_or(u32::MAX);
    let buffers = values.checked_pow(addresses).unwrap_or(u64::MAX);
    ((buffers - 1).clamp(1, MOST_STALE), buffers - 1 <= MOST_STALE)
}

const KEEP: &str = "MultisetAdd($_s, $_kept);";

const KEEP_IF_ROOM: &str = "
      if MultisetCount($_i: $_kept, true) = $most then
        $_crowded := true;
      else
        MultisetAdd($_s, $_kept);
      end;";

/// A store must have a value: comparing an undefined one fails.
const HAS_VALUE: &str = "
  if $_v != $_v then
    $_unmatched := true;
  end;";

const LAZY: &str = "
type
  $_buffer: array [$Address] of $Value;
var
  $_global: $_buffer;
  $_local: array [$Processor] of $_buffer;
  $_unmatched: boolean;

procedure $_load($_p: $Processor; $_a: $Address; $_v: $Value);
begin
  $say_load
  if $_local[$_p][$_a] != $_v then
    $_local[$_p] := $_global;
    if $_local[$_p][$_a] != $_v then
      $_unmatched := true;
    end;
  end;
end;

procedure $_store($_p: $Processor; $_a: $Address; $_v: $Value);
begin
  $say_store
  $has_value
  $_local[$_p][$_a] := $_v;
  $_global[$_a] := $_v;
end;
";

const START_LAZY: &str = "
  for $_a: $Address do $_global[$_a] := $initial; end;
  for $_p: $Processor do $_local[$_p] := $_global; end;
  $_unmatched := false;
";

const EXACT: &str = "
type
  $_buffer: array [$Address] of $Value;
  $_snapshot: record $_at: $_buffer; end;
  $_snapshots: multiset [$most] of $_snapshot;
var
  $_global: $_buffer;
  $_stale: array [$Processor] of $_snapshots;
  $_unmatched: boolean;

procedure $_add($_s: $_snapshot; var $_kept: $_snapshots);
begin
  if exists $_b: $Address do $_s.$_at[$_b] != $_global[$_b] end then
    if MultisetCount($_i: $_kept,
         forall $_b: $Address do $_kept[$_i].$_at[$_b] = $_s.$_at[$_b] end) = 0 then
      $keep
    end;
  end;
end;

function $_keep($_s: $_snapshot; var $_kept: $_snapshots): boolean;
begin
  $_add($_s, $_kept);
  return true;
end;

function $_keep_written($_s: $_snapshot; $_a: $Address; $_v: $Value;
                        var $_kept: $_snapshots): boolean;
var $_written: $_snapshot;
begin
  $_written := $_s;
  $_written.$_at[$_a] := $_v;
  $_add($_written, $_kept);
  return true;
end;

procedure $_read($_p: $Processor; $_a: $Address; $_v: $Value);
begin
  if $_global[$_a] != $_v then
    if MultisetCount($_i: $_stale[$_p], $_stale[$_p][$_i].$_at[$_a] = $_v) = 0 then
      $_unmatched := true;
    end;
  end;
  MultisetRemovePred($_i: $_stale[$_p], $_stale[$_p][$_i].$_at[$_a] != $_v);
end;

procedure $_write($_p: $Processor; $_a: $Address; $_v: $Value);
var
  $_old: $_snapshot;
  $_kept: $_snapshots;
  $_seen: 0..$most;
begin
  $_old.$_at := $_global;
  $_global[$_a] := $_v;
  for $_q: $Processor do
    undefine $_kept;
    if $_q = $_p then
      $_seen := MultisetCount($_i: $_stale[$_q],
                  $_keep_written($_stale[$_q][$_i], $_a, $_v, $_kept));
    else
      $_seen := MultisetCount($_i: $_stale[$_q], $_keep($_stale[$_q][$_i], $_kept));
      $_add($_old, $_kept);
    end;
    $_stale[$_q] := $_kept;
  end;
end;
";

/// Without commits, a store writes the buffers when it happens.
const STORED: &str = "
procedure $_load($_p: $Processor; $_a: $Address; $_v: $Value);
begin
  $say_load
  $_read($_p, $_a, $_v);
end;

procedure $_store($_p: $Processor; $_a: $Address; $_v: $Value);
begin
  $say_store
  $has_value
  $_write($_p, $_a, $_v);
end;
";

/// A store waits in a queue until it is committed; its processor loads from the queue.
const COMMITTED: &str = "
const
  $_room: 16;
type
  $_entry: record $_to: $Address; $_data: $Value; end;
var
  $_waiting: array [$Processor] of record
    $_count: 0..$_room;
    $_entries: array [0..$_room - 1] of $_entry;
  end;
  $_disordered: boolean;

procedure $_load($_p: $Processor; $_a: $Address; $_v: $Value);
var
  $_newest: $Value;
begin
  $say_load
  for $_n := 0 to $_room - 1 do
    if $_n < $_waiting[$_p].$_count then
      if $_waiting[$_p].$_entries[$_n].$_to = $_a then
        $_newest := $_waiting[$_p].$_entries[$_n].$_data;
      end;
    end;
  end;
  if isundefined($_newest) then
    $_read($_p, $_a, $_v);
  elsif $_newest != $_v then
    $_unmatched := true;
  end;
end;

procedure $_store($_p: $Processor; $_a: $Address; $_v: $Value);
begin
  $say_store
  $has_value
  if $_waiting[$_p].$_count = $_room then
    $_crowded := true;
  else
    $_waiting[$_p].$_entries[$_waiting[$_p].$_count].$_to := $_a;
    $_waiting[$_p].$_entries[$_waiting[$_p].$_count].$_data := $_v;
    $_waiting[$_p].$_count := $_waiting[$_p].$_count + 1;
  end;
end;

procedure $_commit($_p: $Processor; $_a: $Address; $_v: $Value);
begin
  $say_commit
  if $_waiting[$_p].$_count = 0 then
    $_disordered := true;
  elsif $_waiting[$_p].$_entries[0].$_to != $_a | $_waiting[$_p].$_entries[0].$_data != $_v then
    $_disordered := true;
  else
    for $_n := 0 to $_room - 2 do
      $_waiting[$_p].$_entries[$_n] := $_waiting[$_p].$_entries[$_n + 1];
    end;
    undefine $_waiting[$_p].$_entries[$_room - 1];
    $_waiting[$_p].$_count := $_waiting[$_p].$_count - 1;
    $_write($_p, $_a, $_v);
  end;
end;
";

const START_COMMITTED: &str = "
  for $_p: $Processor do $_waiting[$_p].$_count := 0; end;
  $_disordered := false;
";

const START_EXACT: &str = "
  for $_a: $Address do $_global[$_a] := $initial; end;
  for $_p: $Processor do undefine $_stale[$_p]; end;
  $_unmatched := false;
";
