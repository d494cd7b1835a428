//! Prepares a Murphi protocol for random walks and test programs, for `tribunal run` and `tribunal
//! hunt`.

use std::fmt::Display;

use conform::{EventNames, RecordOptions, record};
use murphi::source::Source;
use stress::protocol::Protocol;

use super::explore::{language, model};
use super::remark;
use crate::arguments::ProtocolFlags;
use crate::ending::{Ending, Failure};

/// How to prepare a protocol.
pub(super) struct PreparationOptions<'a> {
    pub(super) flags: &'a ProtocolFlags,
    /// The largest number of stores; each needs a value.
    pub(super) stores: u64,
    /// Whether messages are in colours, and whether warnings are printed.
    pub(super) colour: bool,
    pub(super) quiet: bool,
}

/// The prepared protocol; an ending if it cannot be prepared.
pub(super) fn prepare(
    source: &Source,
    wanted: &PreparationOptions<'_>,
) -> Result<Result<Protocol, Ending>, Failure> {
    let PreparationOptions { flags, stores, colour, quiet } = *wanted;
    let options = RecordOptions {
        language: language(&flags.language),
        events: EventNames {
            load: flags.events.load.clone(),
            store: flags.events.store.clone(),
            commit: flags.commit.clone(),
        },
        // Stores that are pending at the end have values, too.
        values: flags.values.unwrap_or(stores.saturating_mul(2).saturating_add(64)),
        insist: flags.values.is_some(),
    };
    let recording = match record(source, &options) {
        Ok(recording) => recording,
        Err(conform::Failure::Unsuitable(problems)) => {
            model::complain(&problems, source, colour);
            remark(&model::verdict_on(&problems, source));
            return Ok(Err(Ending::BadRequest));
        }
        Err(conform::Failure::Composition(problems)) => {
            model::complain(&problems, source, colour);
            remark("the loads and stores of the protocol cannot be recorded");
            return Ok(Err(Ending::BadRequest));
        }
        Err(_) => {
            let sentence = "a state is too large with one value for each store; use fewer \
                            --operations, or --values N";
            return Err(Failure::Usage(format!("{}: {sentence}", source.name)));
        }
    };
    if !quiet {
        model::complain(&recording.warnings, source, colour);
        if !recording.fresh {
            remark(&format!(
                "data independence is not established, so stores repeat the {} values of the \
                 protocol (--values N overrides this)",
                recording.values
            ));
        }
    }
    let refused = |why: &dyn Display| Failure::Usage(format!("{}: {why}", source.name));
    let mut protocol = Protocol::new(recording).map_err(|why| refused(&why))?;
    for (rule, factor) in &flags.weights {
        protocol.favour(rule, *factor).map_err(|why| refused(&why))?;
    }
    Ok(Ok(protocol))
}
