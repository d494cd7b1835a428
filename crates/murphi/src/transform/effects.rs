//! What statements change, and which places that moves. A call that comes to stand before a
//! statement must not change what the statement reads before the call, and a place must stay the
//! same place as long as it is spoken of.

use std::collections::HashSet;

use crate::ast::{Expression, ExpressionKind, Statement};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::transform::{changed, each_part, each_statement, names, root};

/// The roots of all that statements change.
pub fn written(statements: &[Statement]) -> HashSet<String> {
    let mut writes = HashSet::new();
    each_statement(statements, &mut |statement| {
        writes.extend(changed(statement).and_then(root).map(str::to_owned));
    });
    writes
}

/// The names in the indices of a place.
pub(super) fn index_names(place: &Expression) -> Vec<String> {
    let mut found = Vec::new();
    each_part(place, &mut |part| {
        if let ExpressionKind::Index(_, at) = &part.kind {
            found.extend(names(at));
        }
    });
    found
}

/// Whether a place is another one once these are changed.
pub fn is_moved(place: &Expression, writes: &HashSet<String>) -> bool {
    index_names(place).iter().any(|name| writes.contains(name))
}

/// Nothing that was read is changed by statements that come to stand before it.
pub(super) fn undisturbed(
    read: &[String],
    hoisted: &[Statement],
    span: Span,
) -> Result<(), Diagnostic> {
    let writes = written(hoisted);
    match read.iter().find(|name| writes.contains(*name)) {
        Some(name) => {
            let message = format!("this changes `{name}`, which is read in the same expression");
            let help = "call the function in a separate assignment";
            Err(Diagnostic::error(span, message).help(help))
        }
        None => Ok(()),
    }
}
