//! The programs whose abstraction proves the lemmas for any number of processors.
//!
//! They are composed like the lemmas; where possible, from observers whose state does not grow with
//! the number of processors. If the protocol is data independent, there are also claims about one
//! address at a time, which are stronger and have much smaller programs.

use murphi::ast::Program;
use murphi::diagnostic::Diagnostic;
use murphi::source::Source;

use super::plan::{AT_ANY_TIME, plan, sc_lemmas};
use super::{MemoryModel, Options, warnings};
use crate::compose::Composition;
use crate::events::Protocol;
use crate::failure::{self, Failure};
use crate::foundations::{Foundation, Foundations, Premises, Unestablished};
use crate::sc_timely_loads::{self, LoadTime};
use crate::tso_by_address;
use crate::tso_flat;
use crate::tso_one_address;

/// The composed models of all lemmas.
#[derive(Debug, Clone)]
pub struct Composed {
    /// The name of the type of processors.
    pub processor: String,
    /// The type of addresses.
    pub address: String,
    /// The number of addresses.
    pub addresses: u64,
    /// The programs with the names of their claims. For `tso`, one claim that holds is sufficient.
    pub programs: Vec<(String, Program)>,
    /// Claims about one address at a time, each of which is sufficient. For `sc`, a failure of one
    /// of them decides nothing.
    pub by_address: Vec<(String, Program)>,
    /// The assumptions of the claims, and which of them are established.
    pub grounds: Grounds,
    /// Warnings, including assumptions that the source does not establish.
    pub warnings: Vec<Diagnostic>,
}

/// The assumptions of claims, and which of them the source establishes.
#[derive(Debug, Clone)]
pub struct Grounds {
    /// For each claim, by its name, the assumptions that it needs.
    rests_on: Vec<(String, Premises)>,
    foundations: Foundations,
    /// The number of values of the protocol.
    values: u64,
}

impl Grounds {
    /// The number of values that the claims with these names are about; `None` if any number.
    pub fn own_values(&self, claims: &[&str]) -> Option<u64> {
        let is_reduced = |one: &Premises| one.includes(Foundation::DataIndependence);
        (!self.rests_on(claims).iter().any(is_reduced)).then_some(self.values)
    }

    fn rests_on(&self, claims: &[&str]) -> Vec<Premises> {
        let named = self.rests_on.iter().filter(|(name, _)| claims.contains(&&**name));
        named.map(|(_, rests_on)| *rests_on).collect()
    }

    /// The assumptions of the claims with these names that are not established: those that remain,
    /// and those that the options allow.
    pub fn of(
        &self,
        claims: &[&str],
        assume_independence: bool,
    ) -> (Vec<Unestablished>, Vec<Unestablished>) {
        let rests_on = self.rests_on(claims);
        match assume_independence {
            true => self.foundations.assuming_independence(&rests_on),
            false => (self.foundations.against(&rests_on), Vec::new()),
        }
    }

    /// The start states that no claim covers.
    pub fn left_out(&self) -> Vec<Unestablished> {
        let about = |doubt: &&Unestablished| doubt.about == Foundation::StartStates;
        self.foundations.doubts().iter().filter(about).cloned().collect()
    }
}

/// The programs that prove for any number of processors what [`verify`](super::verify) checks for a
/// few, and the name of their type of processors.
pub fn composed_programs(source: &Source, options: &Options) -> Result<Composed, Failure> {
    let protocol = failure::protocol(source, &options.language, &options.events)?;
    let foundations = Foundations::from_source(&protocol);
    let programs = match options.memory_model {
        // With many processors, the number of addresses limits the length of a cycle.
        MemoryModel::Sc => sc_lemmas(&protocol, options, protocol.address.count),
        MemoryModel::Tso => {
            let exact = tso_one_address::lemma(&protocol, options.values)
                .or_else(|| tso_flat::lemma(&protocol, options.values))
                .map(|composition| (AT_ANY_TIME.to_owned(), composition));
            let mut attempts = plan(&protocol, options);
            if exact.is_some() {
                attempts.pop();
            }
            attempts.into_iter().chain(exact).collect()
        }
    };
    let mut by_address = match options.memory_model {
        MemoryModel::Sc if options.only.is_none() => timely_programs(&protocol),
        // With one address, an observer for one address is simpler.
        MemoryModel::Tso if protocol.address.count > 1 => {
            let news = tso_by_address::lemma(&protocol);
            news.map(|program| (tso_by_address::CLAIM.to_owned(), program)).into_iter().collect()
        }
        _ => Vec::new(),
    };
    // A claim whose assumptions are known to fail is left out.
    by_address.retain(|(_, composition)| {
        let rests_on = [composition.rests_on];
        match options.assume_independence {
            true => foundations.assuming_independence(&rests_on).0.is_empty(),
            false => foundations.against(&rests_on).is_empty(),
        }
    });
    if options.memory_model == MemoryModel::Sc && options.only.is_none() && by_address.is_empty() {
        let exact = sc_timely_loads::exact(&protocol);
        by_address
            .extend(exact.map(|composition| (sc_timely_loads::with_own_values(), composition)));
    }
    let all = programs.iter().chain(&by_address);
    let rests_on = all.map(|(name, composition)| (name.clone(), composition.rests_on)).collect();
    let of = |compositions: Vec<(String, Composition)>| {
        compositions.into_iter().map(|(name, composition)| (name, composition.program)).collect()
    };
    Ok(Composed {
        processor: protocol.processor.text.clone(),
        address: protocol.address.text.clone(),
        addresses: protocol.address.count,
        programs: of(programs),
        by_address: of(by_address),
        warnings: warnings(&protocol, &foundations),
        grounds: Grounds { rests_on, foundations, values: protocol.value.count },
    })
}

/// Claims about one address at a time that are sufficient for sequential consistency, the strongest
/// first. They need data independence.
fn timely_programs(protocol: &Protocol) -> Vec<(String, Composition)> {
    let moments = [LoadTime::Now, LoadTime::SinceLastEvent].into_iter();
    let composed = moments.filter_map(|moment| {
        Some((moment.claim().to_owned(), sc_timely_loads::lemma(protocol, moment)?))
    });
    composed.collect()
}
