//! The ways in which evidence can be wrong, each with its sentence.

use std::fmt;

use evidence::{Because, Graph};
use history::{AddressLabel, Value};
use models::Model;

/// What a certificate calls an event, an initial write or half of an atomic: `[0,1]`,
/// `the initial M[x]`, `the read of [0,1]`.
pub type Name = Box<str>;

/// Why a certificate is not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rejection {
    /// The step of the proof that fails, from 1; `None` for witnesses.
    pub step: Option<usize>,
    /// What fails.
    pub fault: Fault,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(step) = self.step {
            write!(f, "step {step}: ")?;
        }
        write!(f, "{}", self.fault)
    }
}

impl std::error::Error for Rejection {}

impl From<Fault> for Rejection {
    fn from(fault: Fault) -> Self {
        Self { step: None, fault }
    }
}

/// The ways to be wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // the fields are named in the sentence each variant prints
pub enum Fault {
    // Of any certificate.
    NoSuchEvent,
    WrongEvidence { model: Model },
    TooLarge { bytes: usize, allowed: usize },
    Beyond { model: Model },

    // Of orders.
    Fence { event: Name },
    Twice { event: Name },
    Missing { event: Name },
    OutOfOrder { earlier: Name, later: Name, why: &'static str },
    WrongValue { event: Name, sees: Value },
    WrongFinal { address: AddressLabel },
    AgainstOrderLine { address: AddressLabel },
    OutOfThinAir,

    // Of proofs.
    NoEmptyClause,
    OrderOfNonWrites { a: Name, b: Name },
    OrderUnderCausal { model: Model },
    NotAReader { reader: Name },
    NotACandidate { reader: Name, source: Name },
    NotPropagated,
    NoSuchGraph { model: Model, graph: Graph },
    EmptyCycle,
    Gap { after: Name, before: Name },
    NoEdge { from: Name, to: Name, because: Because },
    NotDerived { index: usize, from: Name, to: Name },
    TwoOverwritten,
    TwoThreads,

    // Of witnesses for causal models.
    NoSource { reader: Name },
    NoChoice { reader: Name },
    ChosenTwice { reader: Name },
    Atomics,
    Overwritten { reader: Name, by: Name },
    Cyclic { relation: &'static str },
    ViewCount { threads: usize, views: usize },
    NotInView { thread: u64, event: Name },
    ViewTooShort { thread: u64, event: Name },
    ViewAgainstCausality { thread: u64, earlier: Name, later: Name },
    ViewWrongValue { thread: u64, event: Name },
    OrderCount { wanted: usize, given: usize },
    NotAtomic { atomic: Name, other: Name },
    NotTogether { write: Name },

    // Of models that are files.
    OtherText { model: Name },
    MixedSizes,
    UnknownName { name: Name },
    AxiomNotMet { axiom: Name },
    NotEvaluated { axiom: Name, events: usize },
    NoSuchAxiom { number: usize },
    NotBroken { axiom: Name },
    NotRelated { from: Name, to: Name, axiom: Name },
    TooManyExecutions { allowed: u64 },
    AnExecutionMeetsAll,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Fault::*;
        match self {
            NoSuchEvent => {
                write!(
                    f,
                    "the certificate names an event or an address that the trace does not have"
                )
            }
            WrongEvidence { model } => {
                write!(f, "{model} takes no evidence of this kind")
            }
            Beyond { model } => write!(
                f,
                "the trace has store-conditionals, a `fence.tso` or overlapping accesses of \
                 different sizes, which {model} does not define"
            ),
            TooLarge { bytes, allowed } => {
                let [takes, allowed] = [bytes, allowed].map(|bytes| bytes.div_ceil(1 << 10));
                write!(
                    f,
                    "the check needs tables of {takes} KiB, and --memory allows {allowed} KiB"
                )
            }
            Fence { event } => write!(f, "{event} is a fence; only accesses are performed"),
            Twice { event } => write!(f, "{event} is performed twice"),
            Missing { event } => write!(f, "{event} is never performed"),
            OutOfOrder { earlier, later, why } => {
                write!(f, "{earlier} must be performed before {later}, by {why}")
            }
            WrongValue { event, sees } => {
                write!(f, "{event} would read {sees} at its position, not the value it returned")
            }
            WrongFinal { address } => {
                write!(f, "the last write of M[{address}] is not the one its `final` line names")
            }
            AgainstOrderLine { address } => {
                write!(f, "the writes of M[{address}] do not follow its `order` line")
            }
            OutOfThinAir => {
                write!(f, "a value out of thin air: dependencies and reads-from form a cycle")
            }
            NoEmptyClause => write!(f, "the proof does not end in the empty clause"),
            OrderOfNonWrites { a, b } => {
                write!(f, "{a} and {b} are not two writes of one address; they have no order")
            }
            OrderUnderCausal { model } => {
                write!(f, "a proof for {model} may assume reads-from only, not an order of writes")
            }
            NotAReader { reader } => write!(f, "{reader} is not a read"),
            NotACandidate { reader, source } => {
                write!(f, "{reader} cannot have read from {source}: address or value differ")
            }
            NotPropagated => write!(f, "unit propagation does not reach a contradiction"),
            NoSuchGraph { model, graph } => write!(f, "{model} has no {graph} graph"),
            EmptyCycle => write!(f, "a cycle without edges"),
            Gap { after, before } => {
                write!(f, "an edge ends at {after}, but the next begins at {before}")
            }
            NoEdge { from, to, because } => {
                write!(f, "{from} → {to} is not a {because} edge here")
            }
            NotDerived { index, from, to } => {
                write!(f, "derived edge {index}, {from} → {to}, does not follow by its rule")
            }
            TwoOverwritten => write!(f, "more than one overwritten read in a cycle of cc"),
            TwoThreads => write!(f, "a cycle of cm mixes what two threads observed"),
            NoSource { reader } => write!(f, "{reader} reads a value that was never written"),
            NoChoice { reader } => {
                write!(f, "the certificate does not say which write {reader} read")
            }
            ChosenTwice { reader } => {
                write!(f, "the certificate says twice which write {reader} read")
            }
            Atomics => write!(f, "an arbitration order says nothing about read-modify-writes"),
            Overwritten { reader, by } => {
                write!(f, "the value of {reader} is overwritten by {by}, which precedes the read")
            }
            Cyclic { relation } => write!(f, "{relation} has a cycle"),
            ViewCount { threads, views } => write!(f, "{views} views for {threads} threads"),
            NotInView { thread, event } => {
                write!(f, "{event} does not belong to the view of thread {thread}")
            }
            ViewTooShort { thread, event } => {
                write!(f, "{event} is missing from the view of thread {thread}")
            }
            ViewAgainstCausality { thread, earlier, later } => {
                write!(f, "the view of thread {thread} has {later} before its cause {earlier}")
            }
            ViewWrongValue { thread, event } => {
                write!(
                    f,
                    "in the view of thread {thread}, {event} does not see the value that it read"
                )
            }
            OrderCount { wanted, given } => {
                write!(f, "the model needs orders of its operations: {wanted}, not {given}")
            }
            NotAtomic { atomic, other } => write!(
                f,
                "nothing keeps {other} from coming between {atomic} and the write that it read"
            ),
            NotTogether { write } => write!(
                f,
                "the relation over po-loc puts more writes of its address before {write} than that \
                 over ppo"
            ),
            OtherText { model } => {
                write!(
                    f,
                    "the certificate is about another version of {model} than the file that was \
                     read"
                )
            }
            MixedSizes => {
                write!(
                    f,
                    "the trace has overlapping accesses of different sizes, which model files do \
                     not define"
                )
            }
            UnknownName { name } => write!(f, "the model uses `{name}`, which is not defined"),
            AxiomNotMet { axiom } => {
                write!(f, "the order in the certificate does not show that `{axiom}` holds")
            }
            NotEvaluated { axiom, events } => write!(
                f,
                "`{axiom}` has a form that is evaluated for traces of up to about {events} events"
            ),
            NoSuchAxiom { number } => write!(f, "the model has no axiom {number}"),
            NotBroken { axiom } => {
                write!(f, "the listed edges do not violate `{axiom}`")
            }
            NotRelated { from, to, axiom } => {
                write!(f, "{from} → {to} is not shown to be in the relation of `{axiom}`")
            }
            TooManyExecutions { allowed } => {
                write!(f, "trying all executions takes more than {allowed} attempts")
            }
            AnExecutionMeetsAll => write!(f, "an execution of the trace satisfies all axioms"),
        }
    }
}
