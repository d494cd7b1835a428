//! Verifies that a protocol implements its memory model.
//!
//! A protocol in Murphi marks its loads and stores by calling two procedures. [`verify`] composes
//! it with observers that decide whether those are what the memory model allows, explores each
//! composition, and turns an alarm into a memory trace that the trace checker judges. The observers
//! are Murphi too ([`compositions`] gives the text), so a composition is explored natively and with
//! symmetry like any other model, and its runs are replayed by the reference interpreter.
//!
//! For sequential consistency there is a lemma for each length of a cycle; the answer is relative to
//! the *simple witness*: the coherence order of an address is the order in which its stores happen.
//! For total store order the lemma is refinement of TSO-LB, which is a little stricter. In both cases
//! an alarm is a violation only if the trace checker rejects its trace; else it is a false alarm.
//!
//! [`report::answer`] does all of this and confirms a violation: the reference interpreter replays
//! the run, and the certificate checker accepts the verdict on its trace. [`replay`] runs a saved
//! counterexample again.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use murphi::source::Source;
//! use tribunal_conform::{Options, Verdict, verify};
//!
//! let text = "
//!     type Proc: scalarset(2); Addr: scalarset(2); Value: 0..1;
//!     var memory: array [Addr] of Value;
//!     procedure Load(p: Proc; a: Addr; v: Value); begin end;
//!     procedure Store(p: Proc; a: Addr; v: Value); begin end;
//!     startstate begin for a: Addr do memory[a] := 0; end; end;
//!     ruleset p: Proc; a: Addr; v: Value do
//!       rule memory[a] = v ==> begin Load(p, a, v); end;
//!       rule begin memory[a] := v; Store(p, a, v); end;
//!     end;";
//! let source = Source { name: "memory.m".into(), text: text.into() };
//! let found = verify(&source, &Options::default(), &mut |_, _| (), &AtomicBool::new(false));
//! let found = found.expect("it marks its loads and stores");
//! assert!(found.independent);
//! assert!(matches!(found.verdict, Verdict::Holds(())));
//! ```

mod alarm;
mod compose;
mod cycle;
mod events;
mod failure;
mod foundations;
mod free_values;
mod independence;
mod misuse;
pub mod mutate;
mod own_run;
mod record;
mod replay;
pub mod report;
mod run;
mod sc;
mod sc_commits;
mod sc_timely_loads;
mod shadowing;
mod skip_failures;
mod start_states;
mod stored_once;
mod trace;
mod tso;
mod tso_by_address;
mod tso_flat;
mod tso_one_address;
mod verify;

pub use compose::HAS_ROOM;
pub use cycle::NiceCycle;
pub use events::{EventNames, with_constants};
pub use failure::Failure;
pub use foundations::{Foundation, Foundations, Premises, Unestablished};
pub use record::{EventKind, RecordOptions, RecordedEvent, Recording, Role, record};
pub use replay::{NotReplayed, Recorded, replay};
pub use sc_commits::ROOM;
pub use trace::{Commit, MemoryEvent, MemoryTrace};
pub use verify::{
    Composed, Counterexample, Grounds, Lemma, MOST_ALARMS, MemoryModel, Options, Sizes, Unknown,
    Verdict, Verification, ViolationKind, composed_programs, compositions, identity, verify,
};
