//! TSO-LB one address at a time, for protocols that are independent of data.
//!
//! The load-buffering machine (`tso.rs`) can follow a processor if and only if there is a moment for
//! each of its loads at which the global buffer held what it returns, and these moments do not go
//! back in time. (What the processor stored itself it may take from its local buffer at any moment
//! until somebody else overwrites it.) Suppose that all stores have different values. Then the
//! moments at which a value is in the buffer are an interval; the earliest choice for each load is
//! the latest beginning of all intervals so far; and so the machine is stuck if and only if a
//! processor
//!
//! - loads something and then, somewhere, a value that was overwritten before the first one was
//!   stored by somebody else, or
//! - loads a value that it has overwritten itself, or
//! - loads a value before it is stored there.
//!
//! If the protocol is independent of data, three values show any of these: the *old* one, which is
//! stored at an address once at most (or is the initial one), the *new* one, which is stored once at
//! most, wherever that is, and all others. The observer keeps for each address what has become of the
//! old value there, and whether it was gone when the new one was stored; for each processor whether
//! it is *aware* of the new value, by loading or storing it; and for both, whether the processor may
//! still load the old value there. All of this is about one address at a time. So there can be any
//! number of them, and any number of values.

use murphi::ir::Simple;

use crate::compose::{Composition, Observer, compose, fill, initially, literal};
use crate::events::Protocol;
use crate::foundations::Values;
use crate::tso::FOLLOWED;

/// The claim.
pub(crate) const CLAIM: &str = "no load returns a value older than one its processor has seen \
                                (implies TSO-LB)";

/// The number of values that are distinguished.
const VALUES: u64 = 3;

/// The protocol with the observer. `None` if the protocol marks commits, or if values are not a
/// scalarset: then the initial value may be fixed, and is never the old one.
pub(crate) fn lemma(protocol: &Protocol) -> Option<Composition> {
    let is_free = matches!(protocol.model.simple(protocol.value.ty), Some(Simple::Scalarset(_)));
    if protocol.commit.is_some() || !is_free {
        return None;
    }
    let initial = format!("{}initial", protocol.prefix);
    let text = |template: &str| {
        let mut filled = fill(protocol, template);
        for value in 0..VALUES {
            filled = filled.replace(&format!("${value}"), &literal(protocol, value));
        }
        filled
    };
    let observer = Observer {
        declarations: text(DECLARATIONS),
        properties: text(&format!("invariant \"{FOLLOWED}\" !$_unmatched;")),
        choices: text("$_initial: $Value"),
        start: text(START),
        assumptions: initially(protocol, &initial),
        on_load: text("$_load"),
        on_store: text("$_store"),
        on_commit: String::new(),
    };
    Some(compose(protocol, Values::ClassesOfStores(VALUES), &observer))
}

const DECLARATIONS: &str = "
type
  $_answer: enum {$_no, $_yes};
  -- What has become of the old value at an address; the last: it was gone when the new one came.
  $_fate: enum {$_to_come, $_there, $_gone, $_outdated};
  $_news: enum {$_unaware, $_aware};
var
  $_old: array [$Address] of $_fate;
  -- Whether the new value may still be stored.
  $_new_to_come: boolean;
  $_knows: array [$Processor] of $_news;
  -- Whether a processor may load the old value.
  $_may: array [$Processor] of array [$Address] of $_answer;
  $_unmatched: boolean;

procedure $_load($_p: $Processor; $_a: $Address; $_v: $Value);
begin
  $say_load
  if $_v = $1 & $_may[$_p][$_a] = $_no then
    $_unmatched := true;
  end;
  if $_v = $2 & $_knows[$_p] = $_unaware then
    $_knows[$_p] := $_aware;
    for $_b: $Address do
      if $_old[$_b] = $_outdated then
        $_may[$_p][$_b] := $_no;
      end;
    end;
  end;
end;

procedure $_store($_p: $Processor; $_a: $Address; $_v: $Value);
begin
  $say_store
  if $_v = $1 then
    assume $_old[$_a] = $_to_come;
    $_old[$_a] := $_there;
    for $_q: $Processor do
      $_may[$_q][$_a] := $_yes;
    end;
  else
    if $_old[$_a] = $_there then
      $_old[$_a] := $_gone;
    end;
    $_may[$_p][$_a] := $_no;
  end;
  if $_v = $2 then
    assume $_new_to_come;
    $_new_to_come := false;
    $_knows[$_p] := $_aware;
    for $_b: $Address do
      if $_old[$_b] = $_gone then
        $_old[$_b] := $_outdated;
      end;
    end;
  end;
end;
";

const START: &str = "
  assume $_initial != $2;
  $_new_to_come := true;
  for $_a: $Address do
    if $_initial = $1 then
      $_old[$_a] := $_there;
    else
      $_old[$_a] := $_to_come;
    end;
  end;
  for $_p: $Processor do
    $_knows[$_p] := $_unaware;
    for $_a: $Address do
      if $_initial = $1 then
        $_may[$_p][$_a] := $_yes;
      else
        $_may[$_p][$_a] := $_no;
      end;
    end;
  end;
  $_unmatched := false;
";
