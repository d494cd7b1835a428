//! Derives the abstract programs of a protocol, from the views and lemmas of a certificate and
//! nothing else.

use std::sync::Arc;

use abstraction::{
    Exclusion, Lemma, Options, Prepared, View, by_address, exclusion_program, find_processor,
    of_one_address, one_address, possible_exclusions, prepare, with_processors, with_witnesses,
};
use conform::{Composed, EventNames, Grounds, MemoryModel};
use murphi::ast::{Program, PropertyKind};
use murphi::check::{self, Dialect};
use murphi::diagnostic::Diagnostic;
use murphi::interpret::Interpreter;
use murphi::parse::parse;
use murphi::print::print;
use murphi::source::Source;

use crate::certificate::{
    AddressLemmas, Certificate, ExclusionProof, Layer, OneAddress, Proof, Question, Witness,
};
use crate::interchangeable::interchangeable;
use crate::lemmas::read_lemmas;

/// The name of the claim that consists of the protocol's own invariants.
pub const OWN_CLAIMS: &str = "invariants and assertions of the protocol";

/// Why something cannot be derived, or is not what the certificate says.
pub(crate) type Result<T> = std::result::Result<T, String>;

/// The claims of a question: programs, and which of them are needed.
pub(crate) struct Claims {
    /// Claims with their programs.
    pub(crate) programs: Vec<(String, Program)>,
    /// Whether one of them is sufficient.
    pub(crate) one_is_enough: bool,
    /// Claims about one address at a time, each of which is sufficient.
    pub(crate) by_address: Vec<(String, Program)>,
    /// The type of processors, if it is known.
    pub(crate) processor: Option<String>,
    /// The type of addresses and their number, for a memory model.
    pub(crate) address: Option<(String, u64)>,
    /// The assumptions of the claims, for a memory model.
    pub(crate) grounds: Option<Grounds>,
    source: Source,
    language: check::Options,
}

/// The claims of a question.
pub(crate) fn claims(question: &Question) -> Result<Claims> {
    let source = Source { name: question.name.clone(), text: question.protocol.clone() };
    let language = language(question)?;
    let Some(memory_model) = &question.memory_model else {
        murphi::load(source.clone(), &language).map_err(|problems| first(&problems))?;
        let program = parse(&source).0.ok_or("the protocol is not a valid model")?;
        let program = conform::with_constants(program, &language.constants);
        return Ok(Claims {
            programs: vec![(OWN_CLAIMS.to_owned(), program)],
            one_is_enough: false,
            by_address: Vec::new(),
            processor: question.processors.clone(),
            address: None,
            grounds: None,
            source,
            language,
        });
    };
    let memory_model = match memory_model.as_str() {
        "sc" => MemoryModel::Sc,
        "tso" => MemoryModel::Tso,
        other => return Err(format!("\"{other}\" is not a memory model")),
    };
    let options = conform::Options {
        memory_model,
        events: EventNames {
            load: question.load.clone(),
            store: question.store.clone(),
            commit: question.commit.clone(),
        },
        language,
        only: question.only,
        exact: question.exact,
        assume_independence: question.assumes_independence(),
        ..conform::Options::default()
    };
    let composed = conform::composed_programs(&source, &options)
        .map_err(|_| "the protocol cannot be composed with observers".to_owned())?;
    let Composed { processor, address, addresses, programs, by_address, grounds, .. } = composed;
    Ok(Claims {
        programs: programs.into_iter().map(with_places).collect(),
        one_is_enough: memory_model == MemoryModel::Tso,
        by_address: by_address.into_iter().map(with_places).collect(),
        processor: question.processors.clone().or(Some(processor)),
        address: Some((address, addresses)),
        grounds: Some(grounds),
        source,
        language: options.language,
    })
}

/// The options with which the protocol is read.
fn language(question: &Question) -> Result<check::Options> {
    let dialect = match question.dialect.as_str() {
        "cmurphi" => Dialect::CMurphi,
        "rumur" => Dialect::Rumur,
        other => return Err(format!("\"{other}\" is not a dialect")),
    };
    let constants = question.constants.clone();
    let loop_limit = question.loop_limit;
    Ok(check::Options { constants, dialect, loop_limit, ..check::Options::default() })
}

/// A program parsed from its printed text, so that each of its parts has a span.
fn with_places((name, program): (String, Program)) -> (String, Program) {
    let text = print(&program);
    let program = parse(&Source { name: name.clone(), text }).0.unwrap_or(program);
    (name, program)
}

/// Makes the certificate of a question from views and lemmas; everything else in it is derived. The
/// programs and invariants in `proofs` are ignored.
pub fn certificate(question: Question, proofs: &[Proof]) -> Result<Certificate> {
    let claims = claims(&question)?;
    let proofs =
        proofs.iter().map(|proof| claims.derived(proof)).collect::<Result<Vec<Proof>>>()?;
    Ok(Certificate { question, proofs })
}

/// Abstracts the processors of a program, with a view and lemmas.
fn layer(
    program: &Program,
    processor: Option<&str>,
    dialect: Dialect,
    witnesses: &[Witness],
    given: &Layer,
) -> Result<Layer> {
    let prepared = prepare(program, processor).map_err(|problems| first(&problems))?;
    let witnesses: Vec<abstraction::Witness> = witnesses.iter().cloned().map(witness).collect();
    let prepared = with_witnesses(&prepared, &witnesses).map_err(|problems| first(&problems))?;
    let read = read(&given.lemmas, &prepared)?;
    let Layer { concrete, named, .. } = *given;
    let how = Options { view: View { concrete, named }, dialect, ..Options::default() };
    let made = abstraction::abstraction(&prepared, &how, &read);
    let made = made.map_err(|problems| first(&problems))?;
    let abstraction = print(&made.program);
    let invariants =
        match parse(&Source { name: "abstraction".into(), text: abstraction.clone() }).0 {
            Some(program) => invariants(&program),
            None => return Err("the abstract program is not a valid model".to_owned()),
        };
    let (lemmas, checks) = (given.lemmas.clone(), made.checks);
    Ok(Layer { concrete, named, lemmas, invariants, checks, abstraction })
}

fn witness(Witness { invariant, site, kept, set }: Witness) -> abstraction::Witness {
    abstraction::Witness { invariant, site, kept, set }
}

/// The names of the invariants of a program.
fn invariants(program: &Program) -> Vec<String> {
    let flattened = murphi::transform::flatten_all(program).unwrap_or_default();
    let name = |property: &murphi::ast::Property| {
        property.message.as_ref().map_or(String::new(), |message| message.text.clone())
    };
    let properties = flattened.properties.iter().map(|property| &property.item);
    properties.filter(|one| one.kind == PropertyKind::Assertion).map(name).collect()
}

/// The interpreter of an abstract program.
pub(crate) fn runnable(question: &Question, layer: &Layer) -> Result<Interpreter> {
    let language = check::Options { constants: Vec::new(), ..language(question)? };
    let source = Source { name: "abstraction".into(), text: layer.abstraction.clone() };
    let checked = murphi::load(source, &language).map_err(|problems| first(&problems))?;
    Interpreter::new(Arc::new(checked.model)).map_err(|_| "a state is too large".to_owned())
}

impl Claims {
    /// The proof with everything that follows from its views and lemmas.
    pub(crate) fn derived(&self, proof: &Proof) -> Result<Proof> {
        let programs = if proof.one_address.is_some() { &self.by_address } else { &self.programs };
        let program = programs.iter().find(|(name, _)| *name == proof.claim);
        let (_, program) = program.ok_or("the claim does not ask for it")?;
        let (one_address, program) = match &proof.one_address {
            Some(given) => {
                let (derived, program) = self.one_address(program, given)?;
                (Some(derived), program)
            }
            None => (None, program.clone()),
        };
        let (claim, witnesses) = (proof.claim.clone(), proof.witnesses.clone());
        let processor = self.processor.as_deref();
        let of = find_processor(&program, processor).map_err(|problem| problem.message)?;
        self.interchangeable(&of.name)?;
        let processors =
            layer(&program, processor, self.language.dialect, &witnesses, &proof.processors)?;
        Ok(Proof { claim, one_address, witnesses, processors })
    }

    /// Checks that nothing depends on the order of the members of a scalarset.
    fn interchangeable(&self, scalarset: &str) -> Result<()> {
        interchangeable(&self.source, &self.language, scalarset).map_err(|it| first(&it))
    }

    /// The program in which one address stands for all, made with exclusions and lemmas, and the
    /// layers that prove the exclusions.
    fn one_address(&self, program: &Program, proof: &OneAddress) -> Result<(OneAddress, Program)> {
        let Some((address, _)) = &self.address else {
            return Err("the question has no addresses".into());
        };
        self.interchangeable(address)?;
        // Addresses are abstracted first; at that point nothing may depend on the number of
        // processors.
        prepare(program, self.processor.as_deref()).map_err(|it| first(&it))?;
        let possible = possible_exclusions(program, address);
        let mut exclusions = Vec::new();
        let mut proofs = Vec::new();
        for one in &proof.exclusions {
            let (own, proof) = self.exclusions(program, &possible, one)?;
            exclusions.extend(own);
            proofs.push(proof);
        }
        let made = match &proof.lemmas {
            Some(lemmas) => self.by_lemmas(program, &exclusions, lemmas)?,
            None => one_address(program, address, &exclusions, self.language.dialect)
                .map_err(|it| first(&it))?,
        };
        let (_, made) = with_places(("one address".to_owned(), made));
        let derived =
            OneAddress { exclusions: proofs, lemmas: proof.lemmas.clone(), program: print(&made) };
        Ok((derived, made))
    }

    /// Exclusions, and the program whose proof establishes them.
    fn exclusions(
        &self,
        program: &Program,
        possible: &[Exclusion],
        proof: &ExclusionProof,
    ) -> Result<(Vec<Exclusion>, ExclusionProof)> {
        let Some((address, _)) = &self.address else {
            return Err("the question has no addresses".into());
        };
        let find = |wanted: &String| {
            let found = possible.iter().find(|one| one.to_string() == *wanted);
            found.cloned().ok_or_else(|| format!("no guard asks for \"{wanted}\" at some address"))
        };
        let own = proof.conditions.iter().map(find).collect::<Result<Vec<Exclusion>>>()?;
        let shown = exclusion_program(program, address, &own).map_err(|it| first(&it))?;
        let (_, shown) = with_places(("exclusions".to_owned(), shown));
        let processor = self.processor.as_deref();
        let processors = layer(&shown, processor, self.language.dialect, &[], &proof.processors)?;
        Ok((own, ExclusionProof { conditions: proof.conditions.clone(), processors }))
    }

    fn by_lemmas(
        &self,
        program: &Program,
        exclusions: &[Exclusion],
        lemmas: &AddressLemmas,
    ) -> Result<Program> {
        let Some((address, _)) = &self.address else {
            return Err("the question has no addresses".into());
        };
        let one = |problem: Diagnostic| problem.message;
        let processor = find_processor(program, self.processor.as_deref()).map_err(one)?;
        let program = with_processors(program, &processor, lemmas.processors);
        let (prepared, how) = by_address(&program, address, exclusions, self.language.dialect)
            .map_err(|it| first(&it))?;
        let read = read(&lemmas.lemmas, &prepared)?;
        let made = abstraction::abstraction(&prepared, &how, &read);
        Ok(of_one_address(made.map_err(|problems| first(&problems))?, address))
    }
}

fn read(lemmas: &[String], prepared: &Prepared) -> Result<Vec<Lemma>> {
    let source = Source { name: "lemmas".to_owned(), text: lemmas.join("\n\n") };
    read_lemmas(&source, prepared).map_err(|it| format!("a lemma is refused: {}", first(&it)))
}

fn first(problems: &[Diagnostic]) -> String {
    problems
        .first()
        .map_or("the program is not valid".to_owned(), |problem| problem.message.clone())
}
