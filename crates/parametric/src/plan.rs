//! The plan of a proof: steps that can be printed (`--plan`) and carried out.
//!
//! The invariants of the protocol are one claim. For a memory model there are several claims. If data
//! independence is established, claims about one address at a time come first, because each of them is
//! sufficient and independent of the number of addresses. Then come the claims with all addresses of the
//! model. Instances with few processors are searched for a violation before the expensive claims: for
//! `sc` after the claims about one address, which are cheap, and for `tso` before them.

use std::fmt;

use abstraction::{Prepared, Processor, View, prepare};
use conform::{Composed, Grounds, MemoryModel};
use explore::report::{grouped, unchecked};
use murphi::ast::Program;
use murphi::diagnostic::Diagnostic;
use murphi::ir::PropertyKind;
use murphi::parse::parse;
use murphi::print::print;
use murphi::source::Source;
use recheck::{OWN_CLAIMS, interchangeable};

use crate::outcome::Addresses;
use crate::place::refused;
use crate::question::{Failure, Question};

/// The limit of states of each search of an instance for a violation.
const STATES: u64 = 4_000_000;

/// The number of processors of the instance in which lemmas about addresses are found. With two,
/// too many facts hold by chance.
const PROCESSORS: u64 = 3;

/// The steps that are carried out, in order, until one of them decides the question.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The steps.
    pub steps: Vec<Step>,
    /// For a memory model: the assumptions that the claims need, and which of them are established.
    pub grounds: Option<Grounds>,
    /// Warnings about the protocol.
    pub warnings: Vec<Diagnostic>,
    /// The type of processors.
    pub processor: Processor,
    /// Properties of the protocol that no step checks: `cover "name"`.
    pub unchecked: Vec<String>,
    /// Whether one proved claim is sufficient.
    pub(crate) one_is_enough: bool,
}

/// A step of a plan.
#[derive(Debug, Clone)]
pub enum Step {
    /// Search instances with these numbers of processors. A violation decides the question.
    Search {
        /// The numbers of processors.
        processors: Vec<u64>,
        /// The limit of states of each search.
        states: u64,
    },
    /// Prove a claim with one address that stands for all. A proof decides the question; a failed
    /// proof decides nothing.
    OneAddress(OneAddress),
    /// Prove a claim. A failed proof decides the question, unless one claim is sufficient and
    /// another is left.
    Claim(Claim),
}

/// A claim about one address at a time.
#[derive(Debug, Clone)]
pub struct OneAddress {
    /// The claim in words.
    pub name: String,
    /// The protocol composed with the observer.
    pub(crate) program: Program,
    /// The names of the types of processors and addresses.
    pub(crate) processor: String,
    pub(crate) address: String,
    /// Whether exclusions are proved first.
    pub exclusions: bool,
    /// The number of processors of the instance in which lemmas about addresses are found; `None`
    /// without lemmas.
    pub lemmas: Option<u64>,
}

/// A claim about a program that is abstracted.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The claim in words.
    pub name: String,
    /// The text that the spans of the program refer to.
    pub source: Source,
    /// The number of addresses that the claim is about, for a memory model.
    pub addresses: Option<Addresses>,
    /// The program.
    pub prepared: Prepared,
    /// The views, in the order in which they are tried.
    pub views: Vec<View>,
}

impl Plan {
    /// The claims with all addresses of the model.
    pub fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.steps.iter().filter_map(|step| match step {
            Step::Claim(claim) => Some(claim),
            _ => None,
        })
    }
}

/// Makes the plan for a question.
pub fn plan(question: &Question<'_>) -> Result<Plan, Failure> {
    let plan = match question.memory_model {
        Some(memory_model) => of_memory_model(question, memory_model),
        None => of_own_claims(question),
    }?;
    let Question { source, options, .. } = question;
    interchangeable(source, &options.language, &plan.processor.name)
        .map_err(|problems| Failure::Unsuitable((*source).clone(), problems))?;
    Ok(plan)
}

fn of_own_claims(question: &Question<'_>) -> Result<Plan, Failure> {
    let Question { source, options, .. } = question;
    let unsuitable = |problems| Failure::Unsuitable((*source).clone(), problems);
    let (program, problems) = parse(source);
    let checked = murphi::load((*source).clone(), &options.language).map_err(unsuitable)?;
    let program = program.ok_or_else(|| unsuitable(problems))?;
    let program = conform::with_constants(program, &options.language.constants);
    let prepared = prepare(&program, question.processors).map_err(unsuitable)?;
    let claim = Claim {
        name: OWN_CLAIMS.to_owned(),
        source: (*source).clone(),
        addresses: None,
        views: question.views(&prepared),
        prepared,
    };
    Ok(Plan {
        processor: claim.prepared.processor.clone(),
        steps: vec![Step::Claim(claim)],
        grounds: None,
        warnings: Vec::new(),
        unchecked: unchecked(&checked.model, &[PropertyKind::Cover, PropertyKind::Liveness]),
        one_is_enough: false,
    })
}

fn of_memory_model(question: &Question<'_>, model: MemoryModel) -> Result<Plan, Failure> {
    let composed = conform::composed_programs(question.source, question.options)
        .map_err(Failure::Composition)?;
    let claims = claims(question, &composed)?;
    let processor = match claims.first() {
        Some(claim) => claim.prepared.processor.clone(),
        None => return Err(Failure::Unsuitable(question.source.clone(), Vec::new())),
    };
    let claims = claims.into_iter().map(Step::Claim);
    let by_address = one_address(question, &composed, model);
    let least = question.concrete.unwrap_or(2);
    let few = Step::Search { processors: vec![least, least + 1], states: STATES };
    let steps = match (by_address.is_empty(), model) {
        (true, _) => [few].into_iter().chain(claims).collect(),
        (false, MemoryModel::Tso) => [few].into_iter().chain(by_address).chain(claims).collect(),
        (false, MemoryModel::Sc) => by_address.into_iter().chain([few]).chain(claims).collect(),
    };
    Ok(Plan {
        steps,
        grounds: Some(composed.grounds),
        warnings: composed.warnings,
        // A question about a memory model does not include the protocol's own properties.
        unchecked: Vec::new(),
        processor,
        one_is_enough: question.one_is_enough(),
    })
}

/// The claims with all addresses of the model.
fn claims(question: &Question<'_>, composed: &Composed) -> Result<Vec<Claim>, Failure> {
    let mut claims: Vec<Claim> = Vec::new();
    for (name, program) in &composed.programs {
        let (source, program) = with_places(question.source, name, program.clone());
        match prepare(&program, question.processors.or(Some(&composed.processor))) {
            Ok(prepared) => claims.push(Claim {
                name: name.clone(),
                source,
                addresses: Some(Addresses::Exactly(composed.addresses)),
                views: question.views(&prepared),
                prepared,
            }),
            // A claim that cannot be composed is left out if one claim is sufficient and there is
            // another.
            Err(_) if question.one_is_enough() && !claims.is_empty() => {}
            Err(problems) => return Err(refused(question, &source, problems)),
        }
    }
    Ok(claims)
}

/// The claims about one address at a time; none if one address cannot stand for all.
fn one_address(question: &Question<'_>, composed: &Composed, model: MemoryModel) -> Vec<Step> {
    let Question { source, options, .. } = question;
    if interchangeable(source, &options.language, &composed.address).is_err() {
        return Vec::new();
    }
    let step = |(number, (name, program)): (usize, &(String, Program))| {
        let is_tso = model == MemoryModel::Tso;
        Step::OneAddress(OneAddress {
            name: name.clone(),
            program: program.clone(),
            processor: composed.processor.clone(),
            address: composed.address.clone(),
            // The first claim of `sc` is the strongest, and its proof needs no exclusions.
            exclusions: is_tso || number > 0,
            lemmas: is_tso.then_some(PROCESSORS),
        })
    };
    composed.by_address.iter().enumerate().map(step).collect()
}

/// The composed program printed and parsed again, so that each of its parts has a span in its own
/// text.
pub(crate) fn with_places(source: &Source, name: &str, program: Program) -> (Source, Program) {
    let name = format!("{}, to show: {name}", source.name);
    let composed = Source { name, text: print(&program) };
    let program = parse(&composed).0.unwrap_or(program);
    (composed, program)
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.steps.iter().enumerate() {
            writeln!(f, "{}. {step}", number + 1)?;
            if let (Step::Claim(_), true, true) =
                (step, self.one_is_enough, number + 1 < self.steps.len())
            {
                writeln!(
                    f,
                    "   If the proof succeeds, the protocol is verified; otherwise continue."
                )?;
            }
        }
        write!(
            f,
            "A violation is confirmed in the protocol as written, and reported with a \
             counterexample."
        )
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Search { processors, states } => {
                let numbers: Vec<String> = processors.iter().map(u64::to_string).collect();
                write!(
                    f,
                    "Search instances with {} processors for a violation, up to {} states each.",
                    numbers.join(" and "),
                    grouped(*states)
                )
            }
            Step::OneAddress(claim) => write!(f, "{claim}"),
            Step::Claim(claim) => write!(f, "{claim}"),
        }
    }
}

impl fmt::Display for OneAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Prove for any number of processors and addresses: {}.", self.name)?;
        if self.exclusions {
            writeln!(
                f,
                "   First prove which conditions a processor satisfies at one address at a time only."
            )?;
        }
        match self.lemmas {
            Some(processors) => writeln!(
                f,
                "   Abstract to one address, with lemmas found in the instance with {processors} \
                 processors; prove the lemmas together with the claim."
            )?,
            None => writeln!(f, "   Abstract to one address, without lemmas about addresses.")?,
        }
        write!(f, "   If the proof succeeds, the protocol is verified; otherwise continue.")
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Prove for any number of processors: {}.", self.name)?;
        for (number, view) in self.views.iter().enumerate() {
            let before = if number == 0 { "Abstraction:" } else { "If a lemma is missing:" };
            let named = if view.named { ", 1 known by name" } else { "" };
            let many = view.concrete;
            let concrete = if many == 1 { "processor" } else { "processors" };
            write!(f, "\n   {before} {many} concrete {concrete}{named}, Other for the rest.")?;
        }
        Ok(())
    }
}
