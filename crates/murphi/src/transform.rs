//! What transformations of the syntax tree need, once.
//!
//! A transformation takes a parsed program apart and puts another one together. It looks at
//! expressions and statements ([`each_part`], [`each_statement`]), rebuilds them from rebuilt parts
//! ([`rebuilt`], [`parts_mut`]), makes new ones ([`and`], [`quantified`], [`when`]), puts expressions in place of
//! names ([`Substitution`]), asks for the declared type of a place ([`Declarations`])
//! and whether two expressions are the same ([`Interner`], [`path`]), and prefers
//! programs in which every rule stands alone ([`flatten`], and back by [`assembled`]), nothing is called ([`Inliner`]), no
//! name hides another ([`names_apart`]) and only assertions fail ([`explicit_errors`]).

mod assemble;
mod bounds;
mod build;
mod declarations;
mod effects;
mod errors;
mod flatten;
mod fold;
mod identity;
mod inline;
mod rename_apart;
mod returns;
mod substitute;
mod visit;

pub use assemble::{assembled, declarations, in_ruleset, property_item, rule_item};
pub use build::{
    and, as_branches, assign, binary, boolean, expression, field, identifier, implies, index,
    is_false, is_true, name, named_type, nested, not, not_taken, or, quantified, quantifier,
    statement, text, when,
};
pub use declarations::{Declarations, Scope, bind, bind_variables, local_variables, type_name};
pub use effects::{is_moved, written};
pub use errors::{Checked, explicit_errors, without_idle_puts};
pub use flatten::{Flat, FlatRule, Flattened, RuleId, flatten, flatten_all, rule_title};
pub use fold::{
    Part, bodies_mut, parts_mut, rebuilt, rebuilt_statements, try_rebuilt, try_rebuilt_statement,
    with_bodies,
};
pub use identity::{ExpressionId, Interner, Path, Step, indices, overlap, path, places_read, same};
pub use inline::Inliner;
pub use rename_apart::names_apart;
pub use substitute::Substitution;
pub use visit::{
    any_statement, bodies, changed, conjuncts, each_expression, each_part, each_statement,
    is_place, names, names_in, own_expressions, parts, root,
};
