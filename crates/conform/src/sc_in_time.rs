//! Sequential consistency by timeliness: every load takes what its address holds, or held a moment
//! ago.
//!
//! If each load takes a value that its address held at some moment after the processor's event
//! before, then the run is sequentially consistent: put every load at such a moment and leave the
//! stores where they are. Program order is kept, because such a moment lies between the event before
//! and the load itself; and each load sees the latest store. This is more than sequential
//! consistency asks for, but most protocols that invalidate copies before they let anybody write
//! give it, and it is a claim about one address at a time. So there can be any number of addresses,
//! where nice cycles (`sc.rs`) need as many as they have processors.
//!
//! Two values are enough if data is independent: make the value of the offending load one of them
//! and all others the other, such that the initial one is the lower. What the load takes is not what
//! the address held, before as after.
//!
//! There are two observers. For the first, the moment is always the last one: it keeps what each
//! address holds. The second also keeps, for each processor and address, whether that has changed
//! since the last event of the processor, which covers loads that were invalidated on the way.

use murphi::ir::Simple;

use crate::compose::{Composition, Observer, compose, fill_with_values, initially, literal};
use crate::events::Protocol;
use crate::foundations::Values;
use crate::tso::first_value;

/// Values that are distinguished.
const VALUES: u64 = 2;

/// At which moments a load may take its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoadTime {
    /// When it happens.
    Now,
    /// When it happens, or at any time since the last event of its processor.
    SinceLastEvent,
}

impl LoadTime {
    /// What is claimed.
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

/// The protocol with an observer. `None` if stores count when they are committed rather than when
/// they happen.
pub(crate) fn lemma(protocol: &Protocol, moment: LoadTime) -> Option<Composition> {
    let (declarations, start) = match moment {
        LoadTime::Now => (NOW, START),
        LoadTime::SinceLastEvent => (SINCE, START_SINCE),
    };
    // An enumeration may have more members than are needed.
    let few = match protocol.model.simple(protocol.value.ty) {
        Some(Simple::Enumeration(_)) => "assume $_v = $0 | $_v = $1;",
        _ => "",
    };
    let first = (literal(protocol, 0), String::new());
    let declarations = declarations.replace("$few", few);
    composed(protocol, moment, Values::Classes(VALUES), first, [&declarations, start])
}

/// The same for the values that the protocol has and no others, with the moment always the last one:
/// what a load takes is compared with what is there, and nothing about values is assumed.
pub(crate) fn exact(protocol: &Protocol) -> Option<Composition> {
    let first = first_value(protocol, Values::Own);
    composed(protocol, LoadTime::Now, Values::Own, first, [&NOW.replace("$few", ""), START])
}

/// The composition with a text that declares and one that begins, where all addresses begin with one
/// value.
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
