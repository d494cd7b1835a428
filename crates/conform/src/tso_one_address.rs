//! The exact TSO-LB observer of `tso.rs` for one address: which values each processor can still
//! load.
//!
//! With one address, a buffer is a single value, and the set of the local buffers that a processor
//! could have is an array of booleans over the values: those that are *visible* to it. The global
//! value always is; a store of another processor leaves the previous value visible, a store of its
//! own makes all others invisible, and a load keeps the value that it returned. Scalarsets remain
//! scalarsets, which is impossible with numbers of buffers (`tso_flat.rs`), so lemmas can relate
//! what two processors see.

use crate::compose::{Composition, Observer, compose, fill, initially};
use crate::events::Protocol;
use crate::tso::{FOLLOWED, first_value, own_values};

/// The protocol with the observer; `values` overrides the number of values. `None` if the protocol
/// marks commits, or has more than one address.
pub(crate) fn lemma(protocol: &Protocol, values: Option<u64>) -> Option<Composition> {
    if protocol.commit.is_some() || protocol.address.count != 1 {
        return None;
    }
    let values = own_values(protocol, values);
    let (initial, choices) = first_value(protocol, values);
    let text = |template: &str| fill(protocol, &template.replace("$initial", &initial));
    let observer = Observer {
        declarations: text(DECLARATIONS),
        properties: text(&format!("invariant \"{FOLLOWED}\" !$_unmatched;")),
        choices,
        start: text(START),
        assumptions: initially(protocol, &initial),
        on_load: text("$_load"),
        on_store: text("$_store"),
        on_commit: String::new(),
    };
    Some(compose(protocol, values, &observer))
}

const DECLARATIONS: &str = "
var
  $_global: array [$Address] of $Value;
  $_sees: array [$Processor] of array [$Address] of array [$Value] of boolean;
  $_unmatched: boolean;

procedure $_load($_p: $Processor; $_a: $Address; $_v: $Value);
begin
  $say_load
  if !$_sees[$_p][$_a][$_v] then
    $_unmatched := true;
  end;
  for $_w: $Value do
    if $_w != $_global[$_a] & $_w != $_v then
      $_sees[$_p][$_a][$_w] := false;
    end;
  end;
end;

procedure $_store($_p: $Processor; $_a: $Address; $_v: $Value);
begin
  $say_store
  $_global[$_a] := $_v;
  for $_q: $Processor do
    $_sees[$_q][$_a][$_v] := true;
  end;
  for $_w: $Value do
    if $_w != $_v then
      $_sees[$_p][$_a][$_w] := false;
    end;
  end;
end;
";

const START: &str = "
  for $_a: $Address do $_global[$_a] := $initial; end;
  for $_p: $Processor do
    for $_a: $Address do
      for $_v: $Value do
        $_sees[$_p][$_a][$_v] := $_v = $initial;
      end;
    end;
  end;
  $_unmatched := false;
";
