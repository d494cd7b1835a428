//! The lines of certificates about models that are files.
//!
//! ```text
//! {"tribunal":1,"trace":1,"model":"tso.cat","digest":"5ad7…","verdict":"consistent","events":4,
//!  "witness":[[0,1],[1,1],[0,0],[1,0]],"reads":[]}
//! {"tribunal":1,"trace":1,"model":"sc.cat","digest":"09b1…","verdict":"violation","events":4,
//!  "proof":[{"clause":[],"axiom":1,"links":[
//!   [[0,0],[0,1]],[[0,1],[1,0]],[[1,0],[1,1]],[[1,1],[0,0]]]}]}
//! ```
//!
//! (each on one line). Axioms are numbered from 1, in the order of the file. A link has a third
//! item where it is a composition: the nodes between its steps. If the trace is of mixed sizes, the
//! second number of an event counts the parts of the accesses of its thread, one for each cell.

use std::io;

use history::{History, Mixed};
use serde::{Deserialize, Serialize};

use super::labels::Labels;
use super::{CertificateError, VERSION, error, shape};
use crate::file::{Execution, FileEvidence, FileProof, FileStep, FileWhy, Link};

/// A claim about one trace under a model that is a file, with its evidence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileCertificate {
    /// Which trace of the file of traces, from 1.
    pub trace: u64,
    /// What the model was called: the path of its file, or the name of a shipped one.
    pub model: String,
    /// The digest of its text.
    pub digest: String,
    /// The claim and what it rests on.
    pub evidence: FileEvidence,
}

/// A whole line. Orders are written an event at a time.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields<Events = Vec<shape::Event>> {
    tribunal: u64,
    trace: u64,
    model: String,
    digest: String,
    verdict: shape::Verdict,
    events: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<Events>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reads: Option<Vec<(shape::Event, shape::Source)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<Vec<StepFields>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    enumeration: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StepFields {
    clause: Vec<shape::Literal>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    axiom: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    links: Option<Vec<LinkFields>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    propagation: Option<bool>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "a link is [node, node] or [node, node, [node, …]]")]
enum LinkFields {
    Direct((shape::Node, shape::Node)),
    Through((shape::Node, shape::Node, Vec<shape::Node>)),
}

impl FileCertificate {
    /// Writes the certificate as one line of JSON, without the newline. The events and addresses it
    /// names must be those of the history.
    pub fn write(&self, history: &History, out: impl io::Write) -> io::Result<()> {
        let labels = Labels::new(history.mixed().map_or(history, Mixed::parts));
        let mut line = Fields {
            tribunal: VERSION,
            trace: self.trace,
            model: self.model.clone(),
            digest: self.digest.clone(),
            verdict: shape::Verdict::Violation,
            events: history.len() as u64,
            witness: None,
            reads: None,
            proof: None,
            enumeration: false,
        };
        match &self.evidence {
            FileEvidence::Consistent(Execution { order, reads }) => {
                line.verdict = shape::Verdict::Consistent;
                line.witness = Some(labels.events(order));
                let reads = reads.iter().map(|&(r, s)| (labels.event(r), labels.source(s)));
                line.reads = Some(reads.collect());
            }
            FileEvidence::Violation(proof) => {
                line.proof = Some(proof.steps.iter().map(|step| labels.file_step(step)).collect());
            }
            FileEvidence::Enumeration => line.enumeration = true,
        }
        Ok(serde_json::to_writer(out, &line)?)
    }

    /// The line that [`FileCertificate::write`] writes.
    pub fn to_json(&self, history: &History) -> String {
        let mut line = Vec::new();
        self.write(history, &mut line).expect("there is no output to fail");
        String::from_utf8(line).expect("JSON is text")
    }

    /// Reads a line written by [`FileCertificate::write`] about this history.
    pub fn from_json(line: &str, history: &History) -> Result<Self, CertificateError> {
        let labels = Labels::new(history.mixed().map_or(history, Mixed::parts));
        let fields: Fields = serde_json::from_str(line)?;
        super::known_version(fields.tribunal)?;
        super::same_length(fields.events, history)?;
        let Fields { trace, model, digest, verdict, witness, reads, proof, enumeration, .. } =
            fields;
        let evidence = match (verdict, witness, reads, proof, enumeration) {
            (shape::Verdict::Consistent, Some(order), Some(reads), None, false) => {
                let order = labels.read_events(&order)?;
                let read = |(reader, source)| {
                    Ok((labels.read_event(reader)?, labels.read_source(source)?))
                };
                let reads: Result<_, CertificateError> = reads.into_iter().map(read).collect();
                FileEvidence::Consistent(Execution { order, reads: reads? })
            }
            (shape::Verdict::Violation, None, None, Some(steps), false) => {
                let steps: Result<_, _> =
                    steps.into_iter().map(|step| labels.read_file_step(step)).collect();
                FileEvidence::Violation(FileProof { steps: steps? })
            }
            (shape::Verdict::Violation, None, None, None, true) => FileEvidence::Enumeration,
            _ => {
                return error(
                    "the evidence does not fit the verdict: a consistent trace has a `witness` \
                     and `reads`, a violation has a `proof` or `\"enumeration\":true`",
                );
            }
        };
        Ok(FileCertificate { trace, model, digest, evidence })
    }
}

impl Labels<'_> {
    fn file_step(&self, step: &FileStep) -> StepFields {
        let clause = step.clause.iter().map(|&literal| self.literal(literal)).collect();
        let none = StepFields { clause, axiom: None, links: None, propagation: None };
        match &step.why {
            FileWhy::Propagation => StepFields { propagation: Some(true), ..none },
            FileWhy::Axiom { axiom, links } => {
                let link = |link: &Link| {
                    let (from, to) = (self.node(link.from), self.node(link.to));
                    match link.through.is_empty() {
                        true => LinkFields::Direct((from, to)),
                        false => {
                            let stops = link.through.iter().map(|&node| self.node(node)).collect();
                            LinkFields::Through((from, to, stops))
                        }
                    }
                };
                let links = Some(links.iter().map(link).collect());
                StepFields { axiom: Some(axiom + 1), links, ..none }
            }
        }
    }

    fn read_file_step(&self, step: StepFields) -> Result<FileStep, CertificateError> {
        let clause: Result<_, _> = step.clause.into_iter().map(|l| self.read_literal(l)).collect();
        let why = match (step.axiom, step.links, step.propagation) {
            (Some(axiom @ 1..), Some(links), None) => {
                let links: Result<_, _> =
                    links.into_iter().map(|link| self.read_link(link)).collect();
                FileWhy::Axiom { axiom: axiom - 1, links: links? }
            }
            (None, None, Some(true)) => FileWhy::Propagation,
            _ => {
                return error(
                    "each step of a proof has either an `axiom`, from 1, with `links`, or \
                     `\"propagation\":true`",
                );
            }
        };
        Ok(FileStep { clause: clause?, why })
    }

    fn read_link(&self, link: LinkFields) -> Result<Link, CertificateError> {
        let (from, to, through) = match link {
            LinkFields::Direct((from, to)) => (from, to, Vec::new()),
            LinkFields::Through(link) => link,
        };
        let through: Result<_, _> = through.into_iter().map(|node| self.read_node(node)).collect();
        Ok(Link { from: self.read_node(from)?, through: through?, to: self.read_node(to)? })
    }
}
