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
//! stored once at most (or is the initial one), the *new* one, which is stored once at most, and all
//! others. The observer keeps for each address what has become of the old value, and whether it was
//! gone when the new one was stored (wherever that was); for each processor whether it has *heard*
//! of the new value, by loading it; and for both, whether the processor has overwritten the old
//! value there. All of this is about one address at a time. So there can be any number of them, and
//! any number of values.

use murphi::ast::Program;
use murphi::ir::Simple;

use crate::compose::{Observer, compose, fill, initially, literal};
use crate::events::Protocol;
use crate::tso::FOLLOWED;

/// What is claimed.
pub(crate) const CLAIM: &str = "TSO-LB follows: who has heard of news reads nothing older";

/// Values that are told apart.
const VALUES: u64 = 3;

/// The protocol with the observer. `None` if stores count when they are committed, or if there are
/// too few values and no more can be made.
pub(crate) fn lemma(protocol: &Protocol) -> Option<Program> {
    if protocol.commit.is_some() {
        return None;
    }
    let few = match protocol.model.simple(protocol.value.ty) {
        // It may have more members than are needed.
        Some(Simple::Enumeration(_)) => "assume $_v = $0 | $_v = $1 | $_v = $2;",
        Some(Simple::Boolean) => return None,
        _ => "",
    };
    let initial = format!("{}initial", protocol.prefix);
    let text = |template: &str| {
        let mut filled = fill(protocol, &template.replace("$few", few));
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
    Some(compose(protocol, Some(VALUES), &observer))
}

const DECLARATIONS: &str = "
type
  $_answer: enum {$_no, $_yes};
  $_news: enum {$_unaware, $_heard, $_wrote};
var
  $_holds: array [$Address] of $Value;
  -- Whether the old value has been there.
  $_had: array [$Address] of $_answer;
  -- Whether the old value had been there and was gone when the new one was stored.
  $_lost: array [$Address] of $_answer;
  -- Whether the old value, and the new one, may still be stored.
  $_old_to_come: boolean;
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
    $_knows[$_p] := $_heard;
    for $_b: $Address do
      if $_lost[$_b] = $_yes then
        $_may[$_p][$_b] := $_no;
      end;
    end;
  end;
end;

procedure $_store($_p: $Processor; $_a: $Address; $_v: $Value);
begin
  $say_store
  $few
  $_holds[$_a] := $_v;
  if $_v = $1 then
    assume $_old_to_come;
    $_old_to_come := false;
    $_had[$_a] := $_yes;
    for $_q: $Processor do
      $_may[$_q][$_a] := $_yes;
    end;
  else
    $_may[$_p][$_a] := $_no;
  end;
  if $_v = $2 then
    assume $_new_to_come;
    $_new_to_come := false;
    $_knows[$_p] := $_wrote;
    for $_b: $Address do
      if $_had[$_b] = $_yes & $_holds[$_b] != $1 then
        $_lost[$_b] := $_yes;
      end;
    end;
  end;
end;
";

const START: &str = "
  assume $_initial != $2;
  $_old_to_come := $_initial != $1;
  $_new_to_come := true;
  for $_a: $Address do
    $_holds[$_a] := $_initial;
    $_lost[$_a] := $_no;
    if $_initial = $1 then
      $_had[$_a] := $_yes;
    else
      $_had[$_a] := $_no;
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
