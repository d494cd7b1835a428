//! The one shape of an answer: it holds, with this evidence; it is broken, with this evidence; or it
//! is undecided, for this reason. Trace checks, explorations and proofs differ in the evidence only.

use crate::{Evidence, Proof, Witness};

/// What was found out about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict<H, B, U> {
    /// The claim holds, and this is why.
    Holds(H),
    /// The claim does not hold, and this shows it.
    Broken(B),
    /// Nothing is known, for this reason.
    Undecided(U),
}

impl<H, B, U> Verdict<H, B, U> {
    /// What shows that the claim does not hold, if something does.
    pub fn broken(&self) -> Option<&B> {
        match self {
            Verdict::Broken(evidence) => Some(evidence),
            Verdict::Holds(_) | Verdict::Undecided(_) => None,
        }
    }

    /// The verdict without what it rests on.
    pub fn bare(&self) -> Verdict<(), (), ()> {
        match self {
            Verdict::Holds(_) => Verdict::Holds(()),
            Verdict::Broken(_) => Verdict::Broken(()),
            Verdict::Undecided(_) => Verdict::Undecided(()),
        }
    }

    /// What is said of a trace: `consistent`, `violation` or `undecided`.
    pub fn of_trace(&self) -> &'static str {
        match self {
            Verdict::Holds(_) => "consistent",
            Verdict::Broken(_) => "violation",
            Verdict::Undecided(_) => "undecided",
        }
    }
}

impl<U> Verdict<Witness, Proof, U> {
    /// What a certificate of this verdict on a trace carries; an undecided one has none.
    ///
    /// ```
    /// use tribunal_evidence::{Evidence, Proof, Verdict};
    ///
    /// let broken = Verdict::<_, _, ()>::Broken(Proof::default());
    /// assert_eq!(broken.into_evidence(), Some(Evidence::Violation(Proof::default())));
    /// ```
    pub fn into_evidence(self) -> Option<Evidence> {
        match self {
            Verdict::Holds(witness) => Some(Evidence::Consistent(witness)),
            Verdict::Broken(proof) => Some(Evidence::Violation(proof)),
            Verdict::Undecided(_) => None,
        }
    }
}
