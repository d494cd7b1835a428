//! The one shape of an answer: it holds, with this evidence; it is broken, with this evidence; or it
//! is undecided, for this reason. Trace checks, explorations and proofs differ in the evidence only.

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
}
