//! Checks that the members of a scalarset are interchangeable.
//!
//! A view keeps any few processors (or one address) in the place of any others, so nothing in the
//! protocol may depend on their order. The language allows a loop to depend on it; the checker of
//! crate `murphi` notes where that may be the case, and here such protocols are refused.

use murphi::check::Options;
use murphi::diagnostic::Diagnostic;
use murphi::ir::Ordered;
use murphi::source::Source;

/// A diagnostic if a protocol may depend on the order of the members of a scalarset.
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
