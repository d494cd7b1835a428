//! The flags of `tribunal verify`, each with the help it prints.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use conform::MemoryModel;

use super::explore::ExploreLimitFlags;
use super::{
    CiFlags, ClusterFlags, ColourFlag, DeadlockChoice, EXIT_CODES, EventFlags, JsonFlag,
    LanguageFlags, PageFlags, QuietFlag, SymmetryChoice, exit_codes,
};
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tribunal verify --model sc protocol.m            is it sequentially consistent?
  tribunal verify --model sc --const N=3 protocol.m
  tribunal verify --model tso --out why protocol.m save counterexample, trace, certificate, picture
  tribunal verify --model sc --assume data-independence protocol.m
  tribunal verify --model sc --witness none lazy.m search past false alarms of the assumed order
  tribunal verify --model sc --mutants protocol.m  would these checks detect a mistake?
  tribunal verify --replay why/run.json protocol.m check a counterexample again
  tribunal verify --any-processors protocol.m      prove its invariants for any number of processors
  tribunal verify --any-processors --model sc protocol.m";

const CODES: &str = exit_codes!("verified", "violation or broken; the counterexample is printed");

const VERDICTS: &str = "\
Verdicts:
  verified     the protocol implements the memory model for the processors and addresses that the
               verdict names, and its own invariants hold in every reachable state.
  violation    the counterexample has loads and stores that the memory model forbids, confirmed by
               the trace checker and certified.
  false alarm  an observer rejects a run that the memory model allows: the order of stores is not
               the one assumed (see --witness), or TSO-LB is stricter than TSO. Nothing is proved
               or refuted.
  broken       the protocol breaks an invariant of its own, never reaches a `cover` condition, has
               a run-time error, or deadlocks.
  undecided    time or memory ended the search, or the proof needs an assumption that is not
               established; the verdict names the line and the reason. No violation was found.";

/// Check that a protocol implements its memory model, for fixed sizes or any number of processors.
///
/// The protocol is a Murphi file that calls `Load(p, a, v)` where a processor takes a value and
/// `Store(p, a, v)` where it writes one; the bodies may be empty. Tribunal composes it with
/// observers of the memory model and visits every reachable state. A violation is shown as a
/// counterexample of the protocol with its memory trace.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
#[command(after_long_help = format!("{VERDICTS}\n\n{EXAMPLES}\n\n{CODES}"))]
pub(crate) struct VerifyArguments {
    /// Memory model that the protocol must implement.
    #[arg(short, long, value_name = "MODEL", ignore_case = true)]
    pub(crate) model: Option<MemoryModelChoice>,

    #[command(flatten)]
    pub(crate) events: EventFlags,

    /// Procedure that the protocol calls where a store enters the coherence order of its address;
    /// `none` if it has none [default: Commit, if the protocol has it].
    ///
    /// Needed if a store takes effect later, as when it leaves a store buffer.
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub(crate) commit: Option<String>,

    /// For sc: the order of stores that the observers assume [default: simple].
    #[arg(long, value_name = "WITNESS", hide_short_help = true)]
    pub(crate) witness: Option<WitnessChoice>,

    /// For sc: search only for ordering cycles through K processors and K addresses.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    #[arg(hide_short_help = true)]
    pub(crate) lemma: Option<u64>,

    /// For tso: start with the exact observer.
    ///
    /// By default an approximate observer is tried first, which propagates stores only when a load
    /// does not match: it has fewer states, but may raise false alarms.
    #[arg(long, hide_short_help = true)]
    pub(crate) exact: bool,

    /// Assume a condition that is not established; the verdict names the assumption.
    ///
    /// A few values stand for any number of them if the protocol only copies values, every value
    /// comes from a store or a start state, and the value of each store is chosen freely. Where the
    /// source does not show that, the verdict is undecided; with --assume data-independence it is
    /// "verified, assuming data independence".
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) assume: Vec<AssumptionChoice>,

    /// Search past up to 1,000 false alarms instead of 100.
    ///
    /// If none of them is a violation, the verdict is "false alarm".
    #[arg(long = "continue", hide_short_help = true)]
    pub(crate) pass_over: bool,

    /// Symmetry reduction by scalarsets.
    #[arg(long, value_name = "WHAT", default_value = "full", hide_short_help = true)]
    pub(crate) symmetry: SymmetryChoice,

    /// What counts as a deadlock of the protocol [default: stuttering; off with --any-processors].
    #[arg(long, value_name = "WHAT")]
    pub(crate) deadlock: Option<DeadlockChoice>,

    /// Treat a subrange or enumeration as a scalarset (symmetry reduction). May be repeated.
    ///
    /// The model must use the type symmetrically: compare its members for equality, store them, index
    /// with them and iterate over them, and nothing else. Excludes --certificate, which is about the
    /// protocol as written.
    #[arg(long, value_name = "TYPE", conflicts_with = "certificate", hide_short_help = true)]
    pub(crate) symmetric: Vec<String>,

    #[command(flatten)]
    pub(crate) language: LanguageFlags,
    #[command(flatten)]
    pub(crate) limits: ExploreLimitFlags,
    #[command(flatten)]
    pub(crate) cluster: ClusterFlags,

    /// Move states to temporary files in this directory when memory is full: the search stays exact
    /// and within --memory.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["mutants", "replay"])]
    pub(crate) disk: Option<PathBuf>,

    /// Save the searches in DIR after each level, so that --resume can continue the verification.
    ///
    /// It can be continued after a crash, Ctrl-C, or a time, memory or disk limit. States that do not
    /// fit into memory are also stored in DIR. With --any-processors, each finished search is saved with
    /// the observations and lemmas that follow from it; the search in progress begins again. Once there is
    /// a verdict, all of it is removed.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["mutants", "replay", "plan"])]
    #[arg(hide_short_help = true)]
    pub(crate) checkpoint: Option<PathBuf>,

    /// With --checkpoint or --resume: minimum time between two saves: 30s, 10m [default: 1s].
    #[arg(long, value_name = "TIME", value_parser = units::time, hide_short_help = true)]
    pub(crate) every: Option<Duration>,

    /// Continue the verification that --checkpoint saved in DIR.
    ///
    /// The protocol, its constants and all other flags must be the same; only --jobs, --memory, --disk,
    /// --budget and --every may differ.
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    #[arg(conflicts_with_all = ["mutants", "replay", "plan", "checkpoint"])]
    pub(crate) resume: Option<PathBuf>,

    /// Mutation testing: verify small changes of the protocol, and report which ones are detected.
    ///
    /// Each mutant drops a statement, skips an update, swaps values or weakens a guard. The report
    /// says how many mutants break the memory model or an invariant, or deadlock, and which ones
    /// survive. --budget and --memory apply to each search. Exits 0 when all were decided.
    #[arg(long, conflicts_with_all = ["emit", "out", "replay", "processes", "cluster"])]
    pub(crate) mutants: bool,

    /// With --mutants: only the mutants with these numbers.
    #[arg(long, value_name = "NUMBER", value_delimiter = ',', requires = "mutants")]
    #[arg(hide_short_help = true)]
    pub(crate) mutant: Vec<usize>,

    /// With --mutants: stop checking a mutant as soon as one check detects it.
    ///
    /// Faster, but the number of mutants that each single check detects is then a lower bound.
    #[arg(long, requires = "mutants", hide_short_help = true)]
    pub(crate) survivors: bool,

    #[command(flatten)]
    pub(crate) any: AnyProcessorsFlags,

    /// Write the protocol composed with each observer to this directory, as plain Murphi.
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub(crate) emit: Option<PathBuf>,

    /// Write the counterexample to this directory, with its memory trace, certificate and picture.
    #[arg(long, value_name = "DIR", alias = "output")]
    pub(crate) out: Option<PathBuf>,

    /// Check a counterexample (run.json of --out, or --json) instead of searching.
    ///
    /// Rebuilds the protocol-plus-observer model and runs the counterexample step by step in the
    /// reference interpreter. Exits 0 if the counterexample is confirmed, and 1 if it is not.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["out", "emit", "budget", "memory"])]
    #[arg(conflicts_with_all = ["processes", "cluster"])]
    pub(crate) replay: Option<String>,

    #[command(flatten)]
    pub(crate) page: PageFlags,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
    #[command(flatten)]
    pub(crate) quiet: QuietFlag,
    #[command(flatten)]
    pub(crate) colour: ColourFlag,

    /// Protocol, a Murphi model; `-` is standard input.
    #[arg(value_name = "MODEL.m")]
    pub(crate) file: String,

    #[command(flatten)]
    pub(crate) ci: CiFlags,
}

/// The assumptions that can be allowed.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AssumptionChoice {
    /// The protocol only copies values, and the value of each store is chosen freely.
    DataIndependence,
}

/// The options of proofs for any number of processors.
#[derive(Args, Debug, Clone)]
pub(crate) struct AnyProcessorsFlags {
    /// Verify for any number of processors: the memory model, or without --model the invariants of
    /// the protocol.
    ///
    /// The abstraction keeps a few concrete processors; one more, Other, stands for all the rest, and
    /// may do anything that no lemma excludes. Tribunal guesses noninterference lemmas from small
    /// instances and proves them together with the claim. Exits 1 with a counterexample if some
    /// number of processors breaks the claim, and 3 if a lemma is missing.
    #[arg(long, conflicts_with_all = ["mutants", "replay", "emit", "out", "pass_over"])]
    pub(crate) any_processors: bool,

    /// With --any-processors: number of concrete processors [default: 2; retries with 3 if no proof is
    /// found].
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "C", requires = "any_processors")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=4))]
    pub(crate) concrete: Option<u64>,

    /// With --any-processors: do not track one extra processor by identity.
    ///
    /// By default, if the protocol stores references to processors, the abstraction distinguishes one more
    /// processor from the rest wherever a reference is stored, so that lemmas can compare two
    /// references. With --no-name there are fewer states, and weaker lemmas.
    #[arg(long, requires = "any_processors", hide_short_help = true)]
    pub(crate) no_name: bool,

    /// With --any-processors: the scalarset of processors [default: the first that indexes rules and
    /// arrays].
    #[arg(long, value_name = "TYPE", requires = "any_processors", hide_short_help = true)]
    pub(crate) processors: Option<String>,

    /// With --any-processors: print the plan of the proof and stop.
    #[arg(long, requires = "any_processors", conflicts_with_all = ["processes", "cluster"])]
    pub(crate) plan: bool,

    /// With --any-processors: start with the lemmas in FILE: invariants named "lemma for RULE".
    ///
    /// They are proved like any other lemma.
    #[arg(long, value_name = "FILE", requires = "any_processors")]
    pub(crate) lemmas: Option<String>,

    /// With --any-processors: test the proof on concrete instances, with N random steps.
    ///
    /// Every random step of an instance with up to 7 processors must be a step of the abstraction in
    /// every view; instances of up to a million states are also searched exhaustively. The verdict names
    /// the largest instance that was searched. A contradiction makes the verdict undecided.
    #[arg(long, value_name = "N", requires = "any_processors", hide_short_help = true)]
    pub(crate) audit: Option<u64>,

    /// With --any-processors: print all lemmas of the proof, even if there are more than 10.
    #[arg(long, requires = "any_processors", hide_short_help = true)]
    pub(crate) print_lemmas: bool,

    /// With --any-processors: write the proof to FILE, for `tribunal certify`.
    ///
    /// The file has the protocol, the views, the lemmas and the abstract programs. It is written only if
    /// the verdict is "verified".
    #[arg(long, value_name = "FILE", requires = "any_processors")]
    pub(crate) certificate: Option<PathBuf>,

    /// With --any-processors: write the abstraction with its lemmas to FILE.m, for other model checkers.
    ///
    /// If there is more than one claim, the abstractions of the others go to numbered files beside it.
    #[arg(long, value_name = "FILE.m", requires = "any_processors", hide_short_help = true)]
    pub(crate) emit_abstraction: Option<PathBuf>,
}

/// The memory models that protocols are verified against.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MemoryModelChoice {
    /// Sequential consistency.
    Sc,
    /// Total store order, checked against TSO-LB, a specification that implies TSO.
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
    /// The choice with this name.
    pub(crate) fn of_name(name: &str) -> Result<Self, String> {
        Self::from_str(name, true)
    }
}

/// The order of the stores that the observers assume.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WitnessChoice {
    /// The coherence order of an address is the order in which its stores happen.
    Simple,
    /// No fixed order: a run that the simple order rejects is skipped if some other order allows it.
    None,
}
