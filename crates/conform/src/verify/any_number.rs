//! The programs that show for any number of processors what lemmas show for a few.
//!
//! They are composed like the lemmas, from observers whose state does not grow with the processors
//! where there are such. Where data is independent there are also claims about one address at a
//! time, which are stronger and much smaller.

use murphi::ast::Program;
use murphi::diagnostic::Diagnostic;
use murphi::source::Source;

use super::plan::{AT_ANY_TIME, plan, sc_lemmas};
use super::{MemoryModel, Options};
use crate::events::Protocol;
use crate::failure::{self, Failure};
use crate::independence;
use crate::sc_in_time::{self, Moment};
use crate::tso_flat;
use crate::tso_news;
use crate::tso_sight;

/// The composed models of all lemmas.
#[derive(Debug, Clone)]
pub struct Composed {
    /// The type of processors, as it is named in the programs.
    pub processor: String,
    /// The type of addresses.
    pub address: String,
    /// How many addresses there are.
    pub addresses: u64,
    /// The programs with the names of their claims. For `tso`, the first one that holds is enough.
    pub programs: Vec<(String, Program)>,
    /// Claims about one address at a time, each of which is enough by itself, if there are any. For
    /// `sc`, that one of them fails says nothing.
    pub by_address: Vec<(String, Program)>,
    /// Whether causality and data independence are evident from the source.
    pub independent: bool,
    /// What could not be established about the protocol from its source, and other warnings.
    pub warnings: Vec<Diagnostic>,
}

/// Programs for any number of processors that show what [`verify`](super::verify) shows for a few, and the name of
/// the type of their processors.
pub fn composed_programs(source: &Source, options: &Options) -> Result<Composed, Failure> {
    let protocol = failure::protocol(source, &options.language, &options.events)?;
    let programs = match options.memory_model {
        // With many processors, the length of a cycle is limited by the addresses.
        MemoryModel::Sc => sc_lemmas(&protocol, options, protocol.address.count),
        MemoryModel::Tso => {
            let exact = tso_sight::lemma(&protocol, options.values)
                .or_else(|| tso_flat::lemma(&protocol, options.values))
                .map(|program| (AT_ANY_TIME.to_owned(), program));
            let mut attempts = plan(&protocol, options);
            if exact.is_some() {
                attempts.pop();
            }
            attempts.into_iter().chain(exact).collect()
        }
    };
    let doubts = independence::doubts(&protocol);
    let is_independent = doubts.is_empty();
    let by_address = match options.memory_model {
        MemoryModel::Sc if options.only.is_none() && is_independent => timely_programs(&protocol),
        // With one address, looking at it directly is easier.
        MemoryModel::Tso if is_independent && protocol.address.count > 1 => {
            let news = tso_news::lemma(&protocol);
            news.map(|program| (tso_news::CLAIM.to_owned(), program)).into_iter().collect()
        }
        _ => Vec::new(),
    };
    Ok(Composed {
        processor: protocol.processor.text.clone(),
        address: protocol.address.text.clone(),
        addresses: protocol.address.count,
        programs,
        by_address,
        independent: is_independent,
        warnings: protocol.warnings.iter().cloned().chain(doubts).collect(),
    })
}

/// Claims that are enough for sequential consistency and speak of one address at a time, the
/// strongest first. They rest on data independence.
fn timely_programs(protocol: &Protocol) -> Vec<(String, Program)> {
    let moments = [Moment::Now, Moment::SinceLastEvent].into_iter();
    let composed = moments.filter_map(|moment| {
        Some((moment.claim().to_owned(), sc_in_time::lemma(protocol, moment)?))
    });
    composed.collect()
}
