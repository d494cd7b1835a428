//! A few processors as they are, and one that stands for all others (Chou, Mannava and Park, "A
//! simple method for parameterized verification of cache coherence protocols"; Krstić,
//! "Parametrized system verification with guard strengthening and parameter abstraction").
//!
//! Every step of the protocol, looked at with any few processors in view, is a step of the result or
//! changes nothing there (L1 of docs/abstraction.md). Whatever is claimed, or fails, is seen in a view
//! of the processors that it is about (L2, L3), which [`limits`] sees to. So the program that
//! [`abstraction`] makes proves what it claims for any number of processors: lemma L4.
//!
//! ```text
//! before: ruleset p: P do rule "store" c[p] = M ==> memory := d[p]; end
//! after:  the same, and  ruleset d_p: Value do rule "store, p = Other" true ==> memory := d_p; end
//! ```

mod construct;
mod expression;
mod instance;
mod limits;
mod loops;
mod options;
mod order;
mod places;
mod processors;
mod properties;
mod quantify;
mod rule;
mod set_choice;
mod sets;
mod slice;
mod statement;
mod width;

use murphi::check::Dialect;
use murphi::diagnostic::Diagnostic;
use murphi::transform::{Checked, boolean, explicit_errors, flatten_all};

use crate::types::Types;
use crate::{Abstraction, Lemma, Prepared, lemma};

use construct::Construction;
pub use instance::{NAMED, OTHER};
pub use options::{Options, RunTimeErrors};
pub use properties::Claimable;
pub(crate) use rule::Built;

/// Abstracts a program; an error explains why that would not be sound.
pub fn abstraction(
    prepared: &Prepared,
    options: &Options,
    lemmas: &[Lemma],
) -> Result<Abstraction, Vec<Diagnostic>> {
    let types = Types::in_view(prepared, options);
    let checked = checked(&types, prepared, options)?;
    limits::check(prepared, &types, &checked)?;
    let own = |lemmas: &[Lemma]| with_own_names(prepared, &types, lemmas);
    let (lemmas, proved) = (own(lemmas), own(&options.proved));
    let options = Options { proved, ..options.clone() };
    let mut construction = Construction::new(&types, &options, &lemmas);
    construction.start_states(&checked);
    construction.rules(&checked);
    construction.properties(prepared, &checked);
    construction.lemmas(prepared);
    construction.finished(prepared)
}

/// The lemmas with fresh names.
fn with_own_names(prepared: &Prepared, types: &Types, lemmas: &[Lemma]) -> Vec<Lemma> {
    let own = |lemma: &Lemma| match prepared.rules.get(lemma.rule.0) {
        Some(rule) => lemma::with_own_names(lemma, rule, types),
        None => lemma.clone(),
    };
    lemmas.iter().map(own).collect()
}

/// The smallest number of concrete processors with which no claim of a program is about too many.
/// Claims that are refused in every view are not counted.
pub fn least_view(prepared: &Prepared, dialect: Dialect) -> u64 {
    let types = Types::new(prepared);
    let options = Options { dialect, ..Options::default() };
    let checked = checked(&types, prepared, &options);
    checked.map_or(0, |checked| limits::widest(&types, &checked))
}

/// The program with explicit checks for run-time errors, if their absence is claimed.
fn checked(
    types: &Types,
    prepared: &Prepared,
    options: &Options,
) -> Result<Checked, Vec<Diagnostic>> {
    let program = flatten_all(&prepared.program)?;
    if options.errors == RunTimeErrors::Claimed {
        return explicit_errors(types, &program, options.dialect);
    }
    let guards = program.rules.iter().map(|rule| boolean(true, rule.span)).collect();
    let properties = program.properties.iter().map(|each| boolean(true, each.span)).collect();
    Ok(Checked { program, guards, properties })
}
