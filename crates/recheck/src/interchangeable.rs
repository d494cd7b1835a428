//! Members of a scalarset that can take each other's place.
//!
//! A view keeps any few processors (or one address) in the place of any others, so nothing in the
//! protocol may show their order. The language lets a loop show it; the checker notes where that may
//! be so, and here it is refused.

use murphi::check::Options;
use murphi::diagnostic::Diagnostic;
use murphi::ir::Ordered;
use murphi::source::Source;

/// Says where the order of members of a scalarset may show in a protocol, if it may.
pub fn interchangeable(
    source: &Source,
    language: &Options,
    scalarset: &str,
) -> Result<(), Vec<Diagnostic>> {
    let model = murphi::load(source.clone(), language)?.model;
    let is_it = |ordered: &&Ordered| {
        model.types[ordered.scalarset.0 as usize].name.as_deref() == Some(scalarset)
    };
    let problem = |ordered: &Ordered| {
        let message =
            format!("the result may depend on the order of the members of `{scalarset}` here");
        Diagnostic::error(ordered.span, message)
            .help("they must be interchangeable to stand for any number of them")
    };
    let problems: Vec<Diagnostic> = model.ordered.iter().filter(is_it).map(problem).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}
