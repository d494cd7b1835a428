//! The exact TSO-LB observer of `tso.rs` without multisets: the set of stale buffers of a processor
//! is an array of booleans, one for each possible buffer.
//!
//! A buffer is a number with one digit for each address: its value there. So addresses and values
//! need an order, and their scalarsets become ranges. This observer is for programs that are
//! transformed further, by tools without multisets; the one in `tso.rs` is for searches with full
//! symmetry. Both accept the same runs.

use murphi::ir::Simple;

use crate::compose::{Composition, Observer, compose, fill, initially, literal, member, ordered};
use crate::events::Protocol;
use crate::foundations::Values;
use crate::tso::{FOLLOWED, first_value, own_values};

/// The largest number of buffers.
const MOST_BUFFERS: u64 = 1 << 12;

/// The protocol with TSO-LB; `values` overrides the number of values. `None` if the protocol marks
/// commits, or if there are too many buffers.
pub(crate) fn lemma(protocol: &Protocol, values: Option<u64>) -> Option<Composition> {
    let own = own_values(protocol, values);
    // With interchangeable values, any of them may be the initial one.
    let (initial, choices) = match protocol.value.symmetric {
        true => (literal(protocol, 0), String::new()),
        false => first_value(protocol, own),
    };
    let values = own.count().unwrap_or(protocol.value.count);
    let addresses = u32::try_from(protocol.address.count).ok()?;
    let buffers = values.checked_pow(addresses).filter(|&buffers| buffers <= MOST_BUFFERS)?;
    if protocol.commit.is_some() {
        return None;
    }
    let text = |template: &str| {
        let (address, value) = ("$_a", "$_v");
        let template = template
            .replace("$number", &number(protocol, values, addresses))
            .replace("$weight", &weight(protocol, address, values, addresses))
            .replace("$digit", &digit(protocol, value, values))
            .replace("$count", &values.to_string())
            .replace("$last", &(buffers - 1).to_string())
            .replace("$initial", &initial);
        fill(protocol, &template)
    };
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
    let mut composition = compose(protocol, own, &observer);
    ordered(&mut composition.program, protocol, &protocol.address);
    // Another number of values is a range, which is ordered.
    if own == Values::Own {
        ordered(&mut composition.program, protocol, &protocol.value);
    }
    Some(composition)
}

/// The address with this number, from 0, as written.
fn address(protocol: &Protocol, number: u64) -> String {
    member(&protocol.model, protocol.address.ty, number).unwrap_or_default()
}

/// An expression for one of several numbers, by the value of a variable.
fn by_cases(variable: &str, cases: &[(String, u64)]) -> String {
    match cases {
        [] => "0".to_owned(),
        [(_, last)] => last.to_string(),
        [(case, number), rest @ ..] => {
            format!("({variable} = {case} ? {number} : {})", by_cases(variable, rest))
        }
    }
}

/// The weight of an address's digit.
fn weight(protocol: &Protocol, variable: &str, values: u64, addresses: u32) -> String {
    let cases = (0..addresses).map(|at| (address(protocol, u64::from(at)), values.pow(at)));
    by_cases(variable, &cases.collect::<Vec<_>>())
}

/// The digit of a value.
fn digit(protocol: &Protocol, value: &str, values: u64) -> String {
    match protocol.model.simple(protocol.value.ty) {
        Some(Simple::Enumeration(_) | Simple::Boolean) => {
            let cases = (0..values).map(|number| (literal(protocol, number), number));
            by_cases(value, &cases.collect::<Vec<_>>())
        }
        _ => match protocol.model.lowest(protocol.value.ty) {
            0 => value.to_owned(),
            low => format!("({value} - ({low}))"),
        },
    }
}

/// The number of the global buffer.
fn number(protocol: &Protocol, values: u64, addresses: u32) -> String {
    let digits = (0..addresses).map(|at| {
        let place = format!("$_global[{}]", address(protocol, u64::from(at)));
        match values.pow(at) {
            1 => digit(protocol, &place, values),
            weight => format!("{} * {weight}", digit(protocol, &place, values)),
        }
    });
    digits.collect::<Vec<_>>().join(" + ")
}

const DECLARATIONS: &str = "
var
  $_global: array [$Address] of $Value;
  $_stale: array [$Processor] of array [0..$last] of boolean;
  $_unmatched: boolean;

procedure $_load($_p: $Processor; $_a: $Address; $_v: $Value);
begin
  $say_load
  if $_global[$_a] != $_v &
     !exists $_n: 0..$last do $_stale[$_p][$_n] & ($_n / $weight) % $count = $digit end then
    $_unmatched := true;
  end;
  for $_n: 0..$last do
    if ($_n / $weight) % $count != $digit then
      $_stale[$_p][$_n] := false;
    end;
  end;
end;

procedure $_store($_p: $Processor; $_a: $Address; $_v: $Value);
var
  $_old: 0..$last;
begin
  $say_store
  $_old := $number;
  $_global[$_a] := $_v;
  for $_q: $Processor do
    if $_q = $_p then
      for $_n: 0..$last do
        if $_stale[$_q][$_n] & ($_n / $weight) % $count != $digit then
          $_stale[$_q][$_n] := false;
          $_stale[$_q][$_n + ($digit - ($_n / $weight) % $count) * $weight] := true;
        end;
      end;
    else
      $_stale[$_q][$_old] := true;
    end;
    $_stale[$_q][$number] := false;
  end;
end;
";

const START: &str = "
  for $_a: $Address do $_global[$_a] := $initial; end;
  for $_p: $Processor do
    for $_n: 0..$last do $_stale[$_p][$_n] := false; end;
  end;
  $_unmatched := false;
";
