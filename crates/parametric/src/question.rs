//! The question (a protocol, its claims and the options of the proof), and the reasons why there may be
//! no answer to it.

use abstraction::{Lemma, Prepared, View, least_view};
use conform::MemoryModel;
use explore::{Deadlock, Progress};
use murphi::diagnostic::Diagnostic;
use murphi::source::Source;
use recheck::read_lemmas;
use refine::Unrunnable;

/// The largest number of concrete processors that is chosen without `--concrete`.
const WIDEST: u64 = 7;

/// A protocol, and the claim that is to be proved for any number of processors.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The protocol.
    pub source: &'a Source,
    /// How the protocol is composed with observers, and searched.
    pub options: &'a conform::Options,
    /// The memory model that it must implement; `None` for its own invariants.
    pub memory_model: Option<MemoryModel>,
    /// The type of processors, if it was given (`--processors`).
    pub processors: Option<&'a str>,
    /// The number of concrete processors, if it was given (`--concrete`).
    pub concrete: Option<u64>,
    /// Whether one more processor may be known by name.
    pub named: bool,
    /// Lemmas to start with.
    pub lemmas: Option<&'a Source>,
}

/// Is called with a description of the current step, and the progress of its search.
pub type Listener<'a> = dyn FnMut(&str, &Progress) + 'a;

/// Why there is no answer at all.
#[derive(Debug, Clone)]
pub enum Failure {
    /// The protocol cannot be composed with observers.
    Composition(conform::Failure),
    /// The protocol, or its composition with an observer, cannot be abstracted. The diagnostics
    /// refer to this text.
    Unsuitable(Source, Vec<Diagnostic>),
    /// The lemmas to start with contain errors.
    Lemmas(Source, Vec<Diagnostic>),
    /// An instance of the protocol, or its abstraction, cannot be run.
    Unrunnable(Unrunnable),
}

impl Question<'_> {
    /// The views, in the order in which they are tried: two concrete processors and, if the
    /// protocol stores references, one more known by name; then three.
    pub(crate) fn views(&self, prepared: &Prepared) -> Vec<View> {
        let named = self.named && prepared.stores_several_processors();
        match self.concrete {
            Some(concrete) => vec![View { concrete, named }],
            None => {
                let mut views =
                    vec![View { concrete: 2, named }, View { concrete: 3, named: false }];
                // A claim about more processors can fail only in a view in which all of them are
                // concrete.
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
            // An observer's assumptions may leave a state without successors.
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

    /// Parses the lemmas to start with, for this program.
    pub(crate) fn lemmas(&self, prepared: &Prepared) -> Result<Vec<Lemma>, Failure> {
        let Some(source) = self.lemmas else { return Ok(Vec::new()) };
        read_lemmas(source, prepared).map_err(|problems| Failure::Lemmas(source.clone(), problems))
    }

    /// Whether one proved claim is sufficient. For `tso` it is: the claims are observers of the
    /// same property, the strictest first.
    pub(crate) fn one_is_enough(&self) -> bool {
        self.memory_model == Some(MemoryModel::Tso)
    }
}
