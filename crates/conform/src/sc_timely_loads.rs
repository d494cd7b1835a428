//! Sequential consistency by timely loads: every load returns a value that its address holds, or
//! has held since the processor's last event.
//!
//! If each load returns a value that its address held at some moment after the processor's previous
//! event, the run is sequentially consistent: move every load to such a moment, and leave the
//! stores where they are. Program order is kept, because the moment lies between the previous event
//! and the load itself; and each load sees the latest store. This is stronger than sequential
//! consistency, but most protocols that invalidate copies before a write satisfy it, and it is a
//! claim about one address at a time. So there can be any number of addresses, whereas ordering
//! cycles (`sc.rs`) need as many addresses as processors.
//!
//! Two values are enough if the protocol is data independent: map the value of the wrong load to
//! one of them and all others to the other, such that the initial value is the lower one. The value
//! that the load returns is still not the value of the address.
//!
//! There are two observers. For the first, the moment is always the present: it keeps the current
//! value of each address. The second also keeps, for each processor and address, whether the value
//! has changed since the processor's last event, which allows loads whose copy was invalidated in
//! the meantime.

use murphi::ir::Simple;

use crate::compose::{Composition, Observer, compose, fill_with_values, initially, literal};
use crate::events::Protocol;
use crate::foundations::Values;
use crate::tso::first_value;

/// The number of values that are distinguished.
const VALUES: u64 = 2;

/// The moments at which a load may take its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoadTime {
    /// The moment of the load.
    Now,
    /// Any moment since the last event of its processor.
    SinceLastEvent,
}

impl LoadTime {
    /// The claim.
    pub(crate) fn claim(self) -> &'static str {
        match self {
            LoadTime::Now => "every load returns the current value of its address",
            LoadTime::SinceLastEvent => {
                "every load returns a value that its address has held since the processor's last \
                 event"
            }
        }
    }
}

/// The claim of [`exact`].
pub(crate) fn with_own_values() -> String {
    format!("with the values of the protocol, {}", LoadTime::Now.claim())
}

/// The protocol with an observer. `None` if the protocol marks commits.
pub(crate) fn lemma(protocol: &Protocol, moment: LoadTime) -> Option<Composition> {
    let (declarations, start) = match moment {
        LoadTime::Now => (NOW, START),
        LoadTime::SinceLastEvent => (SINCE, START_SINCE),
    };
    // An enumeration may have more members than the observer needs.
    let few = match protocol.model.simple(protocol.value.ty) {
        Some(Simple::Enumeration(_)) => "assume $_v = $0 | $_v = $1;",
        _ => "",
    };
    let first = (literal(protocol, 0), String::new());
    let declarations = declarations.replace("$few", few);
    composed(protocol, moment, Values::Classes(VALUES), first, [&declarations, start])
}

/// The first observer with exactly the values of the protocol: each loaded value is compared with
/// the current one, so no assumption about values is needed.
pub(crate) fn exact(protocol: &Protocol) -> Option<Composition> {
    let first = first_value(protocol, Values::Own);
    composed(protocol, LoadTime::Now, Values::Own, first, [&NOW.replace("$few", ""), START])
}

/// Composes the observer from its declarations and initial statements, with one initial value for
/// all addresses.
fn composed(
    protocol: &Protocol,
    moment: LoadTime,
    values: Values,
    (initial, choices): (String, String),
    [declarations, start]: [&str; 2],
) -> Option<Composition> {
    if protocol.commit.is_some() {
        return None;
    }
    let text = |template: &str| {
        fill_with_values(protocol, &template.replace("$initial", &initial), VALUES)
    };
    let observer = Observer {
        declarations: text(declarations),
        properties: text(&format!("invariant \"{}\" !$_untimely;", moment.claim())),
        choices,
        start: text(start),
        assumptions: initially(protocol, &initial),
        on_load: text("$_load"),
        on_store: text("$_store"),
        on_commit: String::new(),
    };
    Some(compose(protocol, values, &observer))
}

const START: &str = "
  $_untimely := false;
  for $_a: $Address do
    $_holds[$_a] := $initial;
  end;
";

const NOW: &str = "
var
  $_holds: array [$Address] of $Value;
  $_untimely: boolean;

procedure $_load($_p: $Processor; $_a: $Address; $_v: $Value);
begin
  if $_v != $_holds[$_a] then
    $_untimely := true;
  end;
end;

procedure $_store($_p: $Processor; $_a: $Address; $_v: $Value);
begin
  $few
  -- A store has a value: comparing it fails if it is undefined.
  if $_v != $_v then
    $_untimely := true;
  end;
  $_holds[$_a] := $_v;
end;
";

const START_SINCE: &str = "
  $_untimely := false;
  for $_a: $Address do
    $_holds[$_a] := $initial;
    for $_p: $Processor do
      $_since[$_p][$_a] := $_same;
    end;
  end;
";

const SINCE: &str = "
type
  $_change: enum {$_same, $_changed};
var
  $_holds: array [$Address] of $Value;
  $_since: array [$Processor] of array [$Address] of $_change;
  $_untimely: boolean;

procedure $_event($_p: $Processor);
begin
  for $_b: $Address do
    $_since[$_p][$_b] := $_same;
  end;
end;

procedure $_load($_p: $Processor; $_a: $Address; $_v: $Value);
begin
  if $_v != $_holds[$_a] & $_since[$_p][$_a] = $_same then
    $_untimely := true;
  end;
  $_event($_p);
end;

procedure $_store($_p: $Processor; $_a: $Address; $_v: $Value);
begin
  $few
  if $_v != $_holds[$_a] then
    for $_q: $Processor do
      $_since[$_q][$_a] := $_changed;
    end;
    $_holds[$_a] := $_v;
  end;
  $_event($_p);
end;
";
