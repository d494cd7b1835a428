//! Is this proof for any number of processors right?
//!
//! A [`Certificate`] keeps a protocol, the question that was asked of it, and for each claim the view,
//! the lemmas and the abstract program. [`check`] believes none of it: it composes the protocol with
//! its observers again, makes the abstract program again with crate `abstraction` from the view and
//! the lemmas alone, compares, and visits every state of that program with the reference interpreter.
//! Which claims have to be there follows from the question.
//!
//! Nothing of crates `explore` and `refine` and no native code has a part in it. What remains to be
//! trusted: the construction (`abstraction`, and the observers of `conform`), the parser, the checker
//! and the interpreter (`murphi`), and `search.rs`, `states.rs` and `symmetry.rs`, 500 lines.

mod certificate;
mod check;
mod derive;
mod interchangeable;
mod lemmas;
mod search;
mod states;
mod symmetry;

pub use certificate::{
    AddressLemmas, Certificate, ExclusionProof, FORMAT, INDEPENDENCE, Layer, Malformed, OneAddress,
    Proof, Question, Witness, is_certificate,
};
pub use check::{Checked, Holds, Partial, Verdict, check};
pub use derive::{OWN_CLAIMS, certificate};
pub use interchangeable::interchangeable;
pub use lemmas::read_lemmas;
pub use search::{Ended, Limits};
