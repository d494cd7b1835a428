//! The flags of `tribunal verify`, each with the help it prints.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use conform::MemoryModel;

use super::explore::ExploreLimitFlags;
use super::{
    ColourFlag, DeadlockChoice, EXIT_CODES, EventFlags, JsonFlag, LanguageFlags, QuietFlag,
    SymmetryChoice,
};

const EXAMPLES: &str = "\
Examples:
  tribunal verify --model sc protocol.m            sequentially consistent?
  tribunal verify --model sc --const N=3 protocol.m
  tribunal verify --model tso --out why protocol.m keep run, trace, certificate and picture
  tribunal verify --model sc --assume data-independence protocol.m
  tribunal verify --model sc --witness none lazy.m no order of the stores is assumed
  tribunal verify --model sc --mutants protocol.m  would a mistake be noticed?
  tribunal verify --replay why/run.json protocol.m run a counterexample again
  tribunal verify --any-processors protocol.m      its invariants, for any number of processors
  tribunal verify --any-processors --model sc protocol.m";

const VERDICTS: &str = "\
Verdicts:
  verified     every lemma holds in every state that can be reached, and so do the protocol's own
               invariants; for these numbers of processors and addresses.
  violation    a run of the protocol has loads and stores that the memory model does not allow,
               confirmed by the trace checker and certified.
  false alarm  an observer objects to a run that the memory model allows: stores do not count in
               the order in which they happen, or TSO-LB is stricter than TSO. Nothing is known.
  broken       the protocol breaks an invariant of its own, misses a cover, fails or gets stuck.
  undecided    time or memory ended the search, or every lemma holds but something that they rest
               on is not established: the line says what and where. Nothing was found broken.";

/// Does a protocol implement its memory model?
///
/// The protocol is a Murphi file that calls `Load(p, a, v)` where a processor takes a value and
/// `Store(p, a, v)` where it writes one; the bodies may be empty. It is composed with observers
/// that know the memory model, and all its states are visited. A violation is shown as a run of
/// the protocol and as the memory trace of that run.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
#[command(after_long_help = format!("{VERDICTS}\n\n{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct VerifyArguments {
    /// The memory model.
    #[arg(short, long, value_name = "MODEL", ignore_case = true)]
    #[arg(required_unless_present_any = ["replay", "any_processors"])]
    pub(crate) model: Option<MemoryModelChoice>,

    #[command(flatten)]
    pub(crate) events: EventFlags,

    /// The procedure that is called where a store takes its place in the order of its address, if
    /// that is later than the store: where it leaves a store buffer; `none` for none [default:
    /// Commit, if there is one].
    #[arg(long, value_name = "NAME")]
    pub(crate) commit: Option<String>,

    /// For sc: what is assumed about the order of the stores.
    #[arg(long, value_name = "WITNESS", default_value = "simple")]
    pub(crate) witness: WitnessChoice,

    /// For sc: look only for cycles of this many processors and addresses.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) lemma: Option<u64>,

    /// For tso: begin with the exact observer.
    ///
    /// Unless said, an observer that propagates only when a load does not match is tried first: it
    /// is cheaper, but may raise alarms that the exact one does not.
    #[arg(long)]
    pub(crate) exact: bool,

    /// Take for granted what is not established, and say so in the verdict.
    ///
    /// A few values stand for any number of them if the protocol only copies values, every value
    /// comes from a store or a start state, and every store has a value that was chosen for it
    /// alone. Where that is not evident, the verdict is undecided; with this it is verified assuming
    /// data independence.
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) assume: Vec<AssumptionChoice>,

    /// Go on past more alarms that the memory model allows: up to 1,000.
    ///
    /// Without it the search ends after 100 of them, and nothing is known.
    #[arg(long = "continue")]
    pub(crate) pass_over: bool,

    /// Whether states that differ only in names of scalarset members are one.
    #[arg(long, value_name = "WHAT", default_value = "full")]
    pub(crate) symmetry: SymmetryChoice,

    /// What counts as a deadlock of the protocol [default: stuttering; off with --any-processors].
    #[arg(long, value_name = "WHAT")]
    pub(crate) deadlock: Option<DeadlockChoice>,

    /// Treat a subrange or enumeration as a scalarset, if it is used as one: its members are
    /// compared for equality, stored, indexed with and gone through, and nothing else. May be
    /// repeated. A certificate is of a protocol as it is written, so there is none with it.
    #[arg(long, value_name = "TYPE", conflicts_with = "certificate")]
    pub(crate) symmetric: Vec<String>,

    #[command(flatten)]
    pub(crate) language: LanguageFlags,
    #[command(flatten)]
    pub(crate) limits: ExploreLimitFlags,

    /// Verify small changes of the protocol instead, and say which of them are noticed.
    ///
    /// Drops statements, skips updates, swaps values, weakens guards, one at a time, and reports
    /// how many of these mutants break the memory model, an invariant or get stuck, and which
    /// survive. --budget and --memory are for each search. Exits 0 when all were decided.
    #[arg(long, conflicts_with_all = ["emit", "out", "replay"])]
    pub(crate) mutants: bool,

    /// With --mutants: try only the mutants with these numbers, for instance those that survive, with
    /// more processors or addresses.
    #[arg(long, value_name = "NUMBER", value_delimiter = ',', requires = "mutants")]
    pub(crate) mutant: Vec<usize>,

    /// With --mutants: look for survivors only. Once one question has noticed a mutant, the others
    /// are not put, so that the numbers for each question are lower, and the trial is shorter.
    #[arg(long, requires = "mutants")]
    pub(crate) survivors: bool,

    #[command(flatten)]
    pub(crate) any: AnyProcessorsFlags,

    /// Write the composed models to this directory, as plain Murphi, before they are searched.
    #[arg(long, value_name = "DIR")]
    pub(crate) emit: Option<PathBuf>,

    /// Keep what was found in this directory: the run, its memory trace, certificate and picture.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Check a counterexample instead of searching: run.json of --out, or what --json printed.
    ///
    /// Composes the same lemma again and runs the counterexample step by step in the reference
    /// interpreter. Exits 0 if it is one, and 1 if it is not.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["out", "emit", "budget", "memory"])]
    pub(crate) replay: Option<String>,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
    #[command(flatten)]
    pub(crate) quiet: QuietFlag,
    #[command(flatten)]
    pub(crate) colour: ColourFlag,

    /// The protocol; `-` is standard input.
    #[arg(value_name = "MODEL.m")]
    pub(crate) file: String,
}

/// What can be taken for granted.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AssumptionChoice {
    /// That values are cargo, and that every store has one of its own.
    DataIndependence,
}

/// How a protocol is verified for any number of processors.
#[derive(Args, Debug, Clone)]
pub(crate) struct AnyProcessorsFlags {
    /// Verify for any number of processors: the memory model, or without --model the invariants of
    /// the protocol.
    ///
    /// Some processors stay as they are, and one stands for all others, which may do anything that
    /// is not excluded by a lemma. Lemmas are found by themselves, among what is so in all states of
    /// small instances, and checked. Exits 1 with a run if the protocol does not hold with some
    /// number of processors, and 3 if a lemma is missing or an invariant is left open.
    #[arg(long, conflicts_with_all = ["mutants", "replay", "emit", "out", "pass_over"])]
    pub(crate) any_processors: bool,

    /// With --any-processors: how many processors stay as they are [default: 2, and 3 if that does
    /// not do].
    #[arg(long, value_name = "C", requires = "any_processors")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=4))]
    pub(crate) concrete: Option<u64>,

    /// With --any-processors: keep no processor by its name alone.
    ///
    /// Besides those that stay as they are, one more is told from the others wherever processors are
    /// stored, so that lemmas may compare two that are stored; nothing of its own is kept. Without
    /// that there are fewer states, and fewer lemmas.
    #[arg(long, requires = "any_processors")]
    pub(crate) no_name: bool,

    /// With --any-processors: the scalarset of processors, if it is not the first one that rules
    /// and arrays are indexed by.
    #[arg(long, value_name = "TYPE", requires = "any_processors")]
    pub(crate) processors: Option<String>,

    /// With --any-processors: print what would be done, step by step, and stop.
    #[arg(long, requires = "any_processors")]
    pub(crate) plan: bool,

    /// With --any-processors: begin with the lemmas in this file, invariants that are named
    /// "lemma for RULE".
    #[arg(long, value_name = "FILE", requires = "any_processors")]
    pub(crate) lemmas: Option<String>,

    /// With --any-processors: try a verdict out. So many random steps of instances with up to 7
    /// processors must be steps of the abstraction, in every view of them, and all states of
    /// instances are visited, as long as one has no more than a million.
    ///
    /// The verdict says up to how many processors that was done. What contradicts it makes it
    /// undecided.
    #[arg(long, value_name = "N", requires = "any_processors")]
    pub(crate) audit: Option<u64>,

    /// With --any-processors: write what the verdict rests on to this file, for `tribunal certify`:
    /// the protocol, views, lemmas and abstract programs.
    ///
    /// Nothing is written unless the verdict is "verified".
    #[arg(long, value_name = "FILE", requires = "any_processors")]
    pub(crate) certificate: Option<PathBuf>,

    /// With --any-processors: write the model in which one processor stands for all others to this
    /// file, lemmas included, as plain Murphi that other tools check. If there is more than one
    /// claim, the others go to files beside it with a number in their name.
    #[arg(long, value_name = "FILE.m", requires = "any_processors")]
    pub(crate) emit_abstraction: Option<PathBuf>,
}

/// The memory models that protocols are verified against.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MemoryModelChoice {
    /// Sequential consistency.
    Sc,
    /// Total store order, as refinement of TSO-LB.
    Tso,
}

impl From<MemoryModelChoice> for MemoryModel {
    fn from(choice: MemoryModelChoice) -> Self {
        match choice {
            MemoryModelChoice::Sc => MemoryModel::Sc,
            MemoryModelChoice::Tso => MemoryModel::Tso,
        }
    }
}

impl MemoryModelChoice {
    /// The choice of this name.
    pub(crate) fn of_name(name: &str) -> Result<Self, String> {
        Self::from_str(name, true)
    }
}

/// What is assumed about the order of the stores.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WitnessChoice {
    /// Stores to an address count in the order in which they happen.
    Simple,
    /// Nothing: what the simple witness objects to is passed over if some order allows it.
    None,
}
