//! The question (a protocol, its claims and the options of the proof), and the reasons why there may be
//! no answer to it.

use abstraction::{Lemma, Prepared, View, least_view};
use conform::MemoryModel;
use explore::{Deadlock, Progress};
use murphi::diagnostic::Diagnostic;
use murphi::source::Source;
use recheck::read_lemmas;
use refine::Unrunnable;

/// The most processors that are kept concrete without being asked for.
const WIDEST: u64 = 7;

/// A protocol, and what is to be shown of it for any number of processors.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The protocol.
    pub source: &'a Source,
    /// How it is composed and searched.
    pub options: &'a conform::Options,
    /// The memory model it is to implement; without one, its own invariants are to hold.
    pub memory_model: Option<MemoryModel>,
    /// The type of processors, if the protocol does not say.
    pub processors: Option<&'a str>,
    /// How many processors stay concrete, if that is given.
    pub concrete: Option<u64>,
    /// Whether one more processor may be known by its name.
    pub named: bool,
    /// Lemmas to begin with.
    pub lemmas: Option<&'a Source>,
}

/// Hears what is being done, and how far the search is that does it.
pub type Listener<'a> = dyn FnMut(&str, &Progress) + 'a;

/// Why there is no answer at all.
#[derive(Debug, Clone)]
pub enum Failure {
    /// The protocol cannot be composed with observers.
    Composition(conform::Failure),
    /// The protocol, or a composition of it, cannot be abstracted: the diagnostics are about this
    /// text.
    Unsuitable(Source, Vec<Diagnostic>),
    /// The lemmas to begin with are wrong.
    Lemmas(Source, Vec<Diagnostic>),
    /// An instance of the protocol, or its abstraction, cannot be run.
    Unrunnable(Unrunnable),
}

impl Question<'_> {
    /// What to keep of processors, in the order in which it is tried: two, and one more by its name
    /// if that may help; then three.
    pub(crate) fn views(&self, prepared: &Prepared) -> Vec<View> {
        let named = self.named && prepared.stores_several_processors();
        match self.concrete {
            Some(concrete) => vec![View { concrete, named }],
            None => {
                let mut views =
                    vec![View { concrete: 2, named }, View { concrete: 3, named: false }];
                // A claim about more processors is seen to fail only with all of them in view.
                let least = least_view(prepared, self.options.language.dialect);
                if (4..=WIDEST).contains(&least) {
                    views.push(View { concrete: least, named: false });
                }
                views
            }
        }
    }

    /// How a claim is refined.
    pub(crate) fn refinement(&self, view: View, lemmas: &[Lemma]) -> refine::Options {
        let mut search = self.options.search.clone();
        if self.memory_model.is_some() {
            // What an observer assumes away may leave a state without successors.
            search.deadlock = Deadlock::Off;
        }
        let language = self.options.language.clone();
        refine::Options {
            name: self.source.name.clone(),
            abstraction: abstraction::Options {
                view,
                dialect: language.dialect,
                ..abstraction::Options::default()
            },
            language: murphi::check::Options { constants: Vec::new(), ..language },
            search,
            symmetry: self.options.symmetry,
            lemmas: lemmas.to_vec(),
        }
    }

    /// The lemmas to begin with, about a program.
    pub(crate) fn lemmas(&self, prepared: &Prepared) -> Result<Vec<Lemma>, Failure> {
        let Some(source) = self.lemmas else { return Ok(Vec::new()) };
        read_lemmas(source, prepared).map_err(|problems| Failure::Lemmas(source.clone(), problems))
    }

    /// Whether one claim that holds is enough: for `tso` each is an attempt at the same, with an
    /// observer that objects to less than the one before.
    pub(crate) fn one_is_enough(&self) -> bool {
        self.memory_model == Some(MemoryModel::Tso)
    }
}
