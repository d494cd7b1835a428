//! What is to be known about a protocol whose loads and stores are recorded or verified, for
//! `tribunal run`, `hunt` and `verify`.

use clap::Args;
use stress::protocol::MOST_FAVOUR;

use super::LanguageFlags;

/// How the memory events of a protocol are found, and which values they have.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Protocols")]
pub(crate) struct ProtocolFlags {
    #[command(flatten)]
    pub(crate) language: LanguageFlags,

    /// How many different values there are [default: enough for each store to have its own].
    ///
    /// By default the type of values stays as it is where it is not evident that the protocol
    /// treats values as cargo, and values repeat. Say a number to have it changed all the same.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=1_000_000_000))]
    pub(crate) values: Option<u64>,

    /// Let the rules of this name fire so many times as often as they would (0: never; 0.1; 10).
    ///
    /// `*` in a name stands for any text: --weight "evict*=0.05". May be given several times; if
    /// names overlap, the last one counts.
    #[arg(long = "weight", value_name = "RULE=FACTOR", value_parser = weight)]
    pub(crate) weights: Vec<(String, f64)>,

    #[command(flatten)]
    pub(crate) events: EventFlags,

    /// The procedure that is called where a store takes its place in the order of its address
    /// [default: Commit, if there is one].
    #[arg(long, value_name = "NAME")]
    pub(crate) commit: Option<String>,
}

/// Where a protocol says that a processor loads or stores.
#[derive(Args, Debug, Clone)]
pub(crate) struct EventFlags {
    /// The procedure that is called where a processor takes a value.
    #[arg(long, value_name = "NAME", default_value = "Load")]
    pub(crate) load: String,

    /// The procedure that is called where a processor writes a value.
    #[arg(long, value_name = "NAME", default_value = "Store")]
    pub(crate) store: String,
}

/// `evict*=0.1`
fn weight(text: &str) -> Result<(String, f64), String> {
    let parts = text.rsplit_once('=').map(|(name, factor)| (name, factor.trim().parse::<f64>()));
    match parts {
        Some((name, Ok(factor))) if (0.0..=MOST_FAVOUR).contains(&factor) => {
            Ok((name.to_owned(), factor))
        }
        _ => Err(format!(
            "say the name of a rule, `=` and a number from 0 to {MOST_FAVOUR}: \"evict*=0.1\""
        )),
    }
}
