//! What statements change, and which places that moves. A call that comes to stand before a
//! statement must not change what the statement reads before the call, and a place must stay the
//! same place as long as it is spoken of.

use std::collections::HashSet;

use murphi::ast::{Expression, ExpressionKind, Statement};
use murphi::diagnostic::Diagnostic;
use murphi::source::Span;

use crate::syntax::{changed, each_part, each_statement, names, root};

/// The roots of all that statements change.
pub(crate) fn written(statements: &[Statement]) -> HashSet<String> {
    let mut writes = HashSet::new();
    each_statement(statements, &mut |statement| {
        writes.extend(changed(statement).and_then(root).map(str::to_owned));
    });
    writes
}

/// The names in the indices of a place.
pub(crate) fn index_names(place: &Expression) -> Vec<String> {
    let mut found = Vec::new();
    each_part(place, &mut |part| {
        if let ExpressionKind::Index(_, at) = &part.kind {
            found.extend(names(at));
        }
    });
    found
}

/// Whether a place is another one once these are changed.
pub(crate) fn is_moved(place: &Expression, writes: &HashSet<String>) -> bool {
    index_names(place).iter().any(|name| writes.contains(name))
}

/// Nothing that was read is changed by statements that come to stand before it.
pub(crate) fn undisturbed(
    read: &[String],
    hoisted: &[Statement],
    span: Span,
) -> Result<(), Diagnostic> {
    let writes = written(hoisted);
    match read.iter().find(|name| writes.contains(*name)) {
        Some(name) => {
            let message = format!("this changes `{name}`, which is read beside it");
            let help = "call the function in an assignment of its own";
            Err(Diagnostic::error(span, message).help(help))
        }
        None => Ok(()),
    }
}
