//! Models that are files: evidence checked against the text of the model.
//!
//! The kernel reads the syntax tree of the model and evaluates it with code of its own. A witness is
//! an execution, and every axiom is evaluated on it: by numbers that grow along relations, at any
//! length (`flow`, `orders`); where that does not show it and the trace is small, as the language
//! defines it (`dense`). A proof says which pairs would break
//! which axiom, and each pair is followed through the expression that it comes from (`links`). What
//! is shown neither way is tried: all executions of a small trace, one by one (`enumerate`). Of
//! accesses of mixed sizes, certificates speak of the parts (`mixed_sizes`).

mod chains;
mod dense;
mod enumerate;
mod events;
mod execution;
mod exists;
mod flow;
mod links;
mod mixed_sizes;
mod orders;
mod pairs;
mod proof;
mod reasons;
mod terms;

use cat::CatModel;
use evidence::FileCertificate;
use evidence::file::{Execution, FileEvidence};
use history::History;

use crate::rejection::{Fault, Name, Rejection};
use events::Events;
use execution::Run;
use mixed_sizes::MixedSizeRules;
use orders::AxiomStatus;
use terms::Terms;

pub use reasons::Reasons;

/// Checks that a certificate proves what it claims about this history and this model.
///
/// ```
/// use cat::CatModel;
/// use evidence::FileCertificate;
/// use tribunal_certify::certify_by_file;
///
/// let history = history::parse_text("0: x := 1\n0: y == 0\n1: y := 1\n1: x == 0")?;
/// let model = CatModel::from_text("sc.cat", "acyclic po | rf | co | fr as interleaving")?;
/// let line = format!(
///     r#"{{"tribunal":1,"trace":1,"model":"sc.cat","digest":"{}","verdict":"violation","events":4,
///        "proof":[{{"clause":[],"axiom":1,"links":[[[0,0],[0,1]],[[0,1],[1,0],[{{"initial":"y"}}]],
///        [[1,0],[1,1]],[[1,1],[0,0],[{{"initial":"x"}}]]]}}]}}"#,
///     model.digest()
/// );
/// let certificate = FileCertificate::from_json(&line, &history)?;
/// certify_by_file(&history, &model, &certificate)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn certify_by_file(
    history: &History,
    model: &CatModel,
    certificate: &FileCertificate,
) -> Result<(), Rejection> {
    if certificate.digest != model.digest() {
        return Err(Fault::OtherText { model: certificate.model.as_str().into() }.into());
    }
    let terms = Terms::of(model)?;
    let events = Events::new(history);
    let mixed_sizes = MixedSizeRules::of(model, &terms);
    match &certificate.evidence {
        FileEvidence::Consistent(execution) => {
            Ok(witness(model, &terms, &mixed_sizes, &events, execution, dense::MOST_EVENTS)?)
        }
        _ if events.are_parts() && mixed_sizes.is_doubtful => Err(Fault::MixedSizes.into()),
        FileEvidence::Violation(proof) => proof::check(model, &terms, &mixed_sizes, &events, proof),
        FileEvidence::Enumeration => Ok(enumerate::check(&terms, &mixed_sizes, &events)?),
    }
}

/// The same for witnesses, evaluated as if the trace were long, however short it is: to compare the
/// two evaluators.
#[doc(hidden)]
pub fn certify_as_long(
    history: &History,
    model: &CatModel,
    execution: &Execution,
) -> Result<(), Rejection> {
    let terms = Terms::of(model)?;
    let mixed_sizes = MixedSizeRules::of(model, &terms);
    Ok(witness(model, &terms, &mixed_sizes, &Events::new(history), execution, 0)?)
}

/// Whether an execution meets every axiom.
fn witness(
    model: &CatModel,
    terms: &Terms,
    mixed_sizes: &MixedSizeRules,
    events: &Events<'_>,
    execution: &Execution,
    most_dense: usize,
) -> Result<(), Fault> {
    let history = events.history;
    let all = execution.order.iter().all(|&event| exists::event(history, event))
        && execution.reads.iter().all(|&(reader, source)| {
            exists::event(history, reader) && exists::source(history, source)
        });
    if !all {
        return Err(Fault::NoSuchEvent);
    }
    let run = Run::of(events, execution)?;
    // Numbers are not compared along relations that reach whole accesses.
    let open = match events.are_parts() {
        true => Some((0, AxiomStatus::Unknown)),
        false => orders::unmet(terms, &run, execution),
    };
    let Some((axiom, met)) = open else { return Ok(()) };
    let unmet = |axiom| Fault::AxiomNotMet { axiom: axiom_name(model, axiom) };
    if events.len() <= most_dense {
        return dense::broken(terms, mixed_sizes, &run)
            .first()
            .map_or(Ok(()), |&axiom| Err(unmet(axiom)));
    }
    Err(match met {
        AxiomStatus::Unknown => {
            Fault::NotEvaluated { axiom: axiom_name(model, axiom), events: dense::MOST_EVENTS }
        }
        _ => unmet(axiom),
    })
}

fn axiom_name(model: &CatModel, number: usize) -> Name {
    model.axioms().nth(number).map_or("?".into(), |axiom| axiom.name.into())
}
