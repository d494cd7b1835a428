//! The flags for protocols whose loads and stores are recorded or verified, for `tribunal run`,
//! `hunt` and `verify`.

use clap::Args;
use stress::protocol::MAX_WEIGHT;

use super::LanguageFlags;

/// How the memory events of a protocol are marked, and which values they have.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Protocols")]
pub(crate) struct ProtocolFlags {
    #[command(flatten)]
    pub(crate) language: LanguageFlags,

    /// Number of distinct values [default: enough for each store to have its own].
    ///
    /// If Tribunal cannot show that the protocol only copies values (data independence), the default is
    /// the values that the protocol declares, and values repeat. --values overrides this.
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=1_000_000_000))]
    pub(crate) values: Option<u64>,

    /// Multiply the firing rate of matching rules by FACTOR (0: never). May be repeated.
    ///
    /// `*` matches any text: --weight "evict*=0.05". If several patterns match, the last one applies.
    #[arg(hide_short_help = true)]
    #[arg(long = "weight", value_name = "RULE=FACTOR", value_parser = weight)]
    pub(crate) weights: Vec<(String, f64)>,

    #[command(flatten)]
    pub(crate) events: EventFlags,

    /// Procedure that the protocol calls where a store enters the coherence order of its address
    /// [default: Commit, if the protocol has it].
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub(crate) commit: Option<String>,
}

/// How a protocol marks its loads and stores.
#[derive(Args, Debug, Clone)]
pub(crate) struct EventFlags {
    /// Procedure that the protocol calls where a processor loads a value.
    #[arg(long, value_name = "NAME", default_value = "Load", hide_short_help = true)]
    pub(crate) load: String,

    /// Procedure that the protocol calls where a processor stores a value.
    #[arg(long, value_name = "NAME", default_value = "Store", hide_short_help = true)]
    pub(crate) store: String,
}

/// `evict*=0.1`
fn weight(text: &str) -> Result<(String, f64), String> {
    let parts = text.rsplit_once('=').map(|(name, factor)| (name, factor.trim().parse::<f64>()));
    match parts {
        Some((name, Ok(factor))) if (0.0..=MAX_WEIGHT).contains(&factor) => {
            Ok((name.to_owned(), factor))
        }
        _ => Err(format!(
            "expected RULE=FACTOR with a factor from 0 to {MAX_WEIGHT}, such as \"evict*=0.1\""
        )),
    }
}
