//! The recorder: procedures, as Murphi source, that append each event of a step to an array, with
//! assertions that every event is complete and that the array has room.

use murphi::ast::Program;

use super::most_events::most_events;
use crate::compose::{Observer, compose_with_claims};
use crate::events::Protocol;

/// The protocol with its recorder; `values` overrides the number of values.
pub(super) fn with_recorder(protocol: &Protocol, values: Option<u64>) -> Program {
    compose_with_claims(protocol, values, &recorder(protocol, most_events(protocol)))
}

/// The observer that records up to `most` events of a step.
fn recorder(protocol: &Protocol, most: u64) -> Observer {
    let prefix = &protocol.prefix;
    let (processor, address, value) =
        (&protocol.processor.text, &protocol.address.text, &protocol.value.text);
    let mut declarations = format!(
        "type {prefix}event: record kind: 0..2; p: {processor}; a: {address}; v: {value}; end; \
         var {prefix}recorded: 0..{most}; \
         {prefix}events: array [0..{last}] of {prefix}event; ",
        last = most - 1
    );
    for (number, kind) in ["load", "store", "commit"].iter().enumerate() {
        declarations.push_str(&format!(
            "procedure {prefix}on_{kind}({prefix}p: {processor}; {prefix}a: {address}; \
                                         {prefix}v: {value}); \
             begin \
               assert !isundefined({prefix}p) \"a {kind} has a processor that is defined\"; \
               assert !isundefined({prefix}a) \"a {kind} has an address that is defined\"; \
               assert !isundefined({prefix}v) \"a {kind} has a value that is defined\"; \
               assert {prefix}recorded < {most} \"a step has at most {most} memory events\"; \
               {prefix}events[{prefix}recorded].kind := {number}; \
               {prefix}events[{prefix}recorded].p := {prefix}p; \
               {prefix}events[{prefix}recorded].a := {prefix}a; \
               {prefix}events[{prefix}recorded].v := {prefix}v; \
               {prefix}recorded := {prefix}recorded + 1; \
             end; "
        ));
    }
    Observer {
        declarations,
        start: format!("{prefix}recorded := 0;"),
        on_load: format!("{prefix}on_load"),
        on_store: format!("{prefix}on_store"),
        on_commit: format!("{prefix}on_commit"),
        ..Observer::default()
    }
}
