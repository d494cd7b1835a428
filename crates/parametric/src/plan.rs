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
use explore::report::unchecked;
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

/// In how many states of each search with few processors a violation is looked for.
const STATES: u64 = 4_000_000;

/// How many processors there are while lemmas about addresses are looked for: more than two, so that
/// less is so by chance.
const PROCESSORS: u64 = 3;

/// What will be done, step by step, until one of them settles the question.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The steps.
    pub steps: Vec<Step>,
    /// What the claims rest on, and what of it is established, if it is about memory.
    pub grounds: Option<Grounds>,
    /// What may be wrong with the protocol.
    pub warnings: Vec<Diagnostic>,
    /// The type of processors.
    pub processor: Processor,
    /// Claims of the protocol that no step looks at: `cover "name"`.
    pub unchecked: Vec<String>,
    /// Whether one claim that holds is enough.
    pub(crate) one_is_enough: bool,
}

/// One thing to do.
#[derive(Debug, Clone)]
pub enum Step {
    /// Look for a violation with these numbers of processors. One settles the question.
    Search {
        /// The numbers.
        processors: Vec<u64>,
        /// In how many states of each search.
        states: u64,
    },
    /// Show a claim with one address that stands for all. That it holds settles the question; that
    /// it does not says nothing.
    OneAddress(OneAddress),
    /// Show a claim. That it does not hold settles the question, unless another may be enough.
    Claim(Claim),
}

/// A claim about one address at a time.
#[derive(Debug, Clone)]
pub struct OneAddress {
    /// What it says.
    pub name: String,
    /// The protocol composed with what observes it.
    pub(crate) program: Program,
    /// The types of processors and addresses.
    pub(crate) processor: String,
    pub(crate) address: String,
    /// Whether it is shown first what a processor does at one address at a time.
    pub exclusions: bool,
    /// With how many processors lemmas about addresses are looked for, if they are.
    pub lemmas: Option<u64>,
}

/// A program with a claim that is abstracted.
#[derive(Debug, Clone)]
pub struct Claim {
    /// What it says.
    pub name: String,
    /// What its places refer to.
    pub source: Source,
    /// For how many addresses it is, if it is about memory.
    pub addresses: Option<Addresses>,
    /// The program.
    pub prepared: Prepared,
    /// What is kept of processors, in the order in which it is tried.
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

/// What will be done about a question.
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
        // What is claimed is the memory model alone.
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
            // Another attempt at the same, which there is no need for if one before it succeeds.
            Err(_) if question.one_is_enough() && !claims.is_empty() => {}
            Err(problems) => return Err(refused(question, &source, problems)),
        }
    }
    Ok(claims)
}

/// The claims about one address at a time, if one can stand for the others.
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
            // The first claim of `sc` is the strongest: where it holds, it holds without.
            exclusions: is_tso || number > 0,
            lemmas: is_tso.then_some(PROCESSORS),
        })
    };
    composed.by_address.iter().enumerate().map(step).collect()
}

/// A composed program as a text of its own, in which each of its parts has a place.
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
                    "Search instances with {} processors for a violation, up to {states} states \
                     each.",
                    numbers.join(" and ")
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
            writeln!(f, "   First prove which states a processor cannot be in at one address.")?;
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
