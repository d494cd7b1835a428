//! Sequential consistency, relative to the simple witness: the observers of "Verifying sequential
//! consistency … by model checking" (§8), as one Murphi text.
//!
//! Lemma k asks for a k-nice cycle: k processors and k locations in turn, where processor i first
//! sees something of location i that is not older than one chosen write (values 1 and 2), and then
//! something of the next location that is older than the write chosen there (value 0, or the write
//! of 1 itself). Constrain (Figure 2) lets the writes to a location of the cycle be 0, …, 0, 1,
//! 2, …, 2 and those elsewhere be 0; Check (Figure 3) watches the two events of each processor.
//!
//! The automata are kept by the processors and locations they belong to, not by their numbers: a
//! processor knows the location at which it enters the cycle and the one at which it leaves, and
//! those without a part have undefined ones. So the turns of a cycle are one state, scalarsets
//! stay scalarsets, and which of their members play a part is in the state, where symmetry
//! reduction finds it. Parts are given out in the start state in every injective way. That covers
//! every nice cycle whether or not processors and locations are interchangeable: Theorem 6.1 needs
//! no symmetry, it is only the canonical form of §7 that does, and any nice cycle is canonical for
//! some way to number its processors and locations. With scalarsets all ways are one orbit.
//!
//! A load of a value other than 0 before anything but 0 was stored there is noted as well. By data
//! independence this finds every load of something that was not stored before, which is causality.
//!
//! If the protocol marks commits, these and not the stores are what Constrain orders, and a store
//! that is not yet committed has a place after those that are (`sc_commits.rs`). The paper leaves
//! this as future work (§10).
//!
//! Constrain has 2 states and Check has 3, so lemma k has at most 2^k · 3^k states for each of the
//! protocol with three values and each way to give out the parts.

use crate::compose::{self, Composition, HAS_ROOM, Observer, compose, initially, literal};
use crate::events::Protocol;
use crate::foundations::Values;
use crate::sc_commits;

/// The values that are distinguished: before the chosen write, the chosen write, after it.
const VALUES: u64 = 3;

/// The invariant that there is no ordering cycle.
pub(crate) fn no_cycle(k: u64) -> String {
    match k {
        1 => "no ordering cycle through 1 processor and 1 address".to_owned(),
        _ => format!("no ordering cycle through {k} processors and {k} addresses"),
    }
}

/// The invariant that no value is loaded before it is stored.
pub(crate) const CAUSALITY: &str = "every load returns a value that was stored before";

/// The number of lemmas: an ordering cycle visits each processor and address once.
pub(crate) fn lemmas(protocol: &Protocol) -> u64 {
    protocol.processor.count.min(protocol.address.count)
}

/// The protocol with the observers of lemma k.
pub(crate) fn lemma(protocol: &Protocol, k: u64) -> Composition {
    let text = |template: &str| fill(protocol, template);
    let committed = protocol.commit.is_some();
    let declarations = match committed {
        true => {
            format!("{DECLARATIONS}{}{LOADS}{}", sc_commits::DECLARATIONS, sc_commits::PLACED)
        }
        false => format!("{DECLARATIONS}{STORED}{LOADS}"),
    };
    let room = sc_commits::ROOM;
    let declarations =
        declarations.replace("$room", &room.to_string()).replace("$last", &(room - 1).to_string());
    let mut properties =
        PROPERTIES.replace("$cycle", &no_cycle(k)).replace("$causality", CAUSALITY);
    properties = properties.replace("$someone_waits", &someone_waits(k));
    properties = properties.replace("$placed", if committed { " | !$_placed()" } else { "" });
    let mut start = start(k);
    if committed {
        properties += &format!("invariant \"{}\" !$_unstored;", sc_commits::COMMITS);
        properties += &format!("invariant \"{HAS_ROOM}\" !$_crowded;");
        start += sc_commits::START;
    }
    let observer = Observer {
        declarations: text(&declarations),
        properties: text(&properties),
        choices: text(&choices(k)),
        start: text(&start),
        assumptions: initially(protocol, &literal(protocol, 0)),
        on_load: text("$_load"),
        on_store: text("$_store"),
        on_commit: text("$_commit"),
    };
    compose(protocol, Values::ClassesOfStores(VALUES), &observer)
}

/// Replaces the placeholders by the names of the protocol and of the three values.
fn fill(protocol: &Protocol, template: &str) -> String {
    let mut filled = compose::fill(protocol, template);
    for value in 0..VALUES {
        filled = filled.replace(&format!("${value}"), &literal(protocol, value));
    }
    filled
}

const DECLARATIONS: &str = "
type
  $_constrain: enum {$_before, $_after};
  $_check: enum {$_waiting, $_entered, $_left};
var
  $_writes: array [$Address] of $_constrain;
  $_part: array [$Processor] of $_check;
  $_enters: array [$Processor] of $Address;
  $_leaves: array [$Processor] of $Address;
  $_uncaused: boolean;

procedure $_event($_p: $Processor; $_a: $Address; $_v: $Value; $_is_store: boolean);
begin
  if !isundefined($_part[$_p]) then
    if $_part[$_p] = $_waiting then
      if $_a = $_enters[$_p] & $_v != $0 then
        $_part[$_p] := $_entered;
      end;
    elsif $_part[$_p] = $_entered then
      if $_a = $_leaves[$_p] & ($_v = $0 | ($_is_store & $_v = $1)) then
        $_part[$_p] := $_left;
      end;
    end;
  end;
end;

procedure $_order($_a: $Address; $_v: $Value);
begin
  if isundefined($_writes[$_a]) then
    assume $_v = $0;
  elsif $_writes[$_a] = $_before then
    assume $_v = $0 | $_v = $1;
    if $_v = $1 then
      $_writes[$_a] := $_after;
    end;
  else
    assume $_v = $2;
  end;
end;
";

/// Loads.
const LOADS: &str = "
procedure $_load($_p: $Processor; $_a: $Address; $_v: $Value);
begin
  $say_load
  if $_v != $0 then
    if isundefined($_writes[$_a]) then
      $_uncaused := true;
    elsif $_writes[$_a] = $_before & !$_pending($_a, $_v) then
      $_uncaused := true;
    end;
  end;
  $_event($_p, $_a, $_v, false);
end;
";

/// Without commits, a store enters the coherence order when it happens.
const STORED: &str = "
function $_pending($_a: $Address; $_v: $Value): boolean;
begin
  return false;
end;

procedure $_store($_p: $Processor; $_a: $Address; $_v: $Value);
begin
  $say_store
  $_order($_a, $_v);
  $_event($_p, $_a, $_v, true);
end;
";

const PROPERTIES: &str = "
invariant \"$causality\" !$_uncaused;

invariant \"$cycle\"
  $someone_waits$placed;
";

/// "Among any k processors that have a part (exactly k have one), some have not left the cycle." In
/// this form it is a claim about every k processors, which an abstraction to a few processors
/// preserves.
fn someone_waits(k: u64) -> String {
    let named = |role: u64| format!("$_q{role}");
    let has_part = (1..=k).map(|role| format!("!isundefined($_part[{}])", named(role)));
    let different = (1..=k).flat_map(|left| {
        (left + 1..=k).map(move |right| format!("{} != {}", named(left), named(right)))
    });
    let conditions: Vec<String> = different.chain(has_part).collect();
    let waits: Vec<String> =
        (1..=k).map(|role| format!("$_part[{}] != $_left", named(role))).collect();
    let claim = format!("{} -> {}", conditions.join(" & "), waits.join(" | "));
    (1..=k)
        .rev()
        .fold(claim, |claim, role| format!("forall {}: $Processor do {claim} end", named(role)))
}

/// `p1: P; …; pk: P; a1: A; …; ak: A`.
fn choices(k: u64) -> String {
    let processors = (1..=k).map(|role| format!("$_p{role}: $Processor"));
    let locations = (1..=k).map(|role| format!("$_a{role}: $Address"));
    processors.chain(locations).collect::<Vec<_>>().join("; ")
}

/// Assigns the parts of the cycle to processors.
fn start(k: u64) -> String {
    let mut text = String::new();
    for left in 1..=k {
        for right in left + 1..=k {
            text += &format!("assume $_p{left} != $_p{right}; assume $_a{left} != $_a{right}; ");
        }
    }
    for role in 1..=k {
        let next = role % k + 1;
        text += &format!(
            "$_part[$_p{role}] := $_waiting; $_writes[$_a{role}] := $_before; \
             $_enters[$_p{role}] := $_a{role}; $_leaves[$_p{role}] := $_a{next}; "
        );
    }
    text + "$_uncaused := false; "
}
