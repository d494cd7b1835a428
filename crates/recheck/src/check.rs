//! Checks whether a certificate proves its claim.

use crate::certificate::{Certificate, INDEPENDENCE, Layer, Proof, Question};
use crate::derive::{Claims, claims, runnable};
use crate::search::{Ended, Limits, Stop, search};

/// The result of checking a certificate: it holds; or it is rejected, for this reason; or a limit
/// was reached.
pub type Verdict = evidence::Verdict<Holds, String, Partial>;

/// The progress of a check that reached a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partial {
    /// The limit.
    pub ended: Ended,
    /// The programs that were searched completely, without a violation.
    pub checked: Vec<Checked>,
    /// The claim whose program was being searched.
    pub claim: String,
    /// The number of states of that program that were visited, without a violation.
    pub visited: u64,
}

/// The claim that a certificate proves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holds {
    /// The claim holds for this number of processors and any larger one.
    pub processors: u64,
    /// Assumptions that are not established.
    pub assuming: Vec<String>,
    /// The number of values, if the claim is about a memory model and not about any number of
    /// values.
    pub values: Option<u64>,
    /// The number of addresses, if the claim is about a memory model and not about any number of
    /// addresses.
    pub addresses: Option<u64>,
    /// The programs that were searched.
    pub checked: Vec<Checked>,
}

/// An abstract program that was searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The claim.
    pub claim: String,
    /// The number of invariants, including lemmas.
    pub invariants: usize,
    /// The number of lemmas.
    pub lemmas: usize,
    /// The number of invariants which claim that a guard or an invariant can be evaluated.
    pub checks: usize,
    /// The number of states.
    pub states: u64,
}

/// Checks a certificate against the text of the protocol.
pub fn check(protocol: &str, certificate: &Certificate, limits: &mut Limits<'_>) -> Verdict {
    checked(protocol, certificate, limits).map_or_else(|verdict| verdict, Verdict::Holds)
}

fn checked(
    protocol: &str,
    certificate: &Certificate,
    limits: &mut Limits<'_>,
) -> Result<Holds, Verdict> {
    let Certificate { question, proofs } = certificate;
    let rejected = Verdict::Broken;
    if question.protocol != protocol || question.digest != Question::digest_of(protocol) {
        return Err(rejected("the certificate is about another protocol".to_owned()));
    }
    let claims = claims(question).map_err(rejected)?;
    let is_any = claims.covered_by(proofs).map_err(rejected)?;
    let names: Vec<&str> = proofs.iter().map(|proof| &*proof.claim).collect();
    let assuming = claims.assuming(&names, question.assumes_independence()).map_err(rejected)?;
    let values = claims.grounds.as_ref().and_then(|grounds| grounds.own_values(&names));
    let mut checked = Vec::new();
    for proof in proofs {
        let context = |why: String| format!("\"{}\": {why}", proof.claim);
        let derived = claims.derived(proof).map_err(|why| rejected(context(why)))?;
        same_proof(&derived, proof).map_err(|why| rejected(context(why)))?;
        for (claim, layer) in layers(&derived) {
            let machine = runnable(question, layer).map_err(|why| rejected(context(why)))?;
            let states = match search(machine, claim, limits) {
                Ok(states) => states,
                Err(Stop::Wrong(why)) => return Err(rejected(context(why))),
                Err(Stop::Ended(ended, visited)) => {
                    let claim = claim.to_owned();
                    return Err(Verdict::Undecided(Partial { ended, checked, claim, visited }));
                }
            };
            checked.push(Checked {
                claim: claim.to_owned(),
                invariants: layer.invariants.len(),
                lemmas: layer.lemmas.len(),
                checks: layer.checks.len(),
                states,
            });
        }
    }
    let processors = proofs.iter().map(|proof| proof.processors.concrete).max().unwrap_or(1);
    let addresses = claims.address.as_ref().map(|(_, many)| *many).filter(|_| !is_any);
    Ok(Holds { processors, assuming, values, addresses, checked })
}

impl Checked {
    /// The number of invariants of the protocol or of an observer.
    pub fn claims(&self) -> usize {
        self.invariants.saturating_sub(self.lemmas + self.checks)
    }
}

impl Claims {
    /// The assumptions of these claims that are not established; an error if one of them cannot be
    /// assumed.
    fn assuming(&self, claims: &[&str], independence: bool) -> Result<Vec<String>, String> {
        let Some(grounds) = &self.grounds else { return Ok(Vec::new()) };
        let (open, assumed) = grounds.of(claims, independence);
        match open.first() {
            Some(doubt) => {
                let (what, why) = (doubt.about.name(), &doubt.diagnostic.message);
                Err(format!("the certificate rests on {what}, which is not established: {why}"))
            }
            None if assumed.is_empty() => Ok(Vec::new()),
            None => Ok(vec![INDEPENDENCE.to_owned()]),
        }
    }

    /// Checks that there are proofs of all claims that the question needs. Returns whether the
    /// proof is for any number of addresses.
    fn covered_by(&self, proofs: &[Proof]) -> Result<bool, String> {
        let known = |proof: &Proof| match proof.one_address {
            Some(_) => self.by_address.iter().any(|(name, _)| *name == proof.claim),
            None => self.programs.iter().any(|(name, _)| *name == proof.claim),
        };
        if let Some(other) = proofs.iter().find(|proof| !known(proof)) {
            return Err(format!(
                "the certificate proves \"{}\", which the claim does not ask for",
                other.claim
            ));
        }
        if proofs.is_empty() {
            return Err("the certificate contains no proof".to_owned());
        }
        if proofs.iter().all(|proof| proof.one_address.is_some()) {
            return Ok(true);
        }
        let is_shown = |name: &String| {
            proofs.iter().any(|proof| proof.one_address.is_none() && proof.claim == *name)
        };
        match self.programs.iter().find(|(name, _)| !is_shown(name)) {
            Some((name, _)) if !self.one_is_enough => {
                Err(format!("the certificate contains no proof of \"{name}\""))
            }
            _ => Ok(false),
        }
    }
}

/// Checks that a given proof equals the derived one.
fn same_proof(derived: &Proof, given: &Proof) -> Result<(), String> {
    if let (Some(derived), Some(given)) = (&derived.one_address, &given.one_address) {
        same("the program with one address", &derived.program, &given.program)?;
        for (derived, given) in derived.exclusions.iter().zip(&given.exclusions) {
            same_layer(&derived.processors, &given.processors)?;
        }
    }
    same_layer(&derived.processors, &given.processors)?;
    match derived == given {
        true => Ok(()),
        false => Err("it is not derived from the protocol".to_owned()),
    }
}

/// The abstract programs of a proof, with their claims.
fn layers(proof: &Proof) -> Vec<(&str, &Layer)> {
    let exclusions = proof.one_address.iter().flat_map(|one| &one.exclusions);
    let exclusions = exclusions.map(|one| ("one address at a time", &one.processors));
    exclusions.chain([(proof.claim.as_str(), &proof.processors)]).collect()
}

fn same_layer(derived: &Layer, given: &Layer) -> Result<(), String> {
    same("the abstract program", &derived.abstraction, &given.abstraction)?;
    match derived.invariants == given.invariants {
        true => Ok(()),
        false => Err("the invariants differ from those of the abstract program".to_owned()),
    }
}

/// Checks that a given program equals the derived one.
fn same(what: &str, derived: &str, given: &str) -> Result<(), String> {
    if derived == given {
        return Ok(());
    }
    let lines = derived.lines().zip(given.lines());
    let place = lines.clone().position(|(derived, given)| derived != given);
    Err(match place {
        Some(at) => format!(
            "{what} is not derived from the protocol: line {} is `{}`, expected `{}`",
            at + 1,
            given.lines().nth(at).unwrap_or_default().trim(),
            derived.lines().nth(at).unwrap_or_default().trim()
        ),
        None => {
            format!("{what} is not derived from the protocol: it has too few or too many lines")
        }
    })
}
