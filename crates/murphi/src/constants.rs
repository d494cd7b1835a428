//! The constants that a model declares, as its source writes them: what `--const` can override.

use crate::ast::{DeclarationKind, Item};
use crate::parse::parse;
use crate::{Refusal, source::Source};

/// The constants of a source with the text of their values, in the order of their declarations.
///
/// ```
/// use tribunal_murphi::{constants, source::Source};
///
/// let source = Source { name: "m.m".into(), text: "const N: 3; M: N + 1;".into() };
/// let expected = [("N", "3"), ("M", "N + 1")].map(|(n, v)| (n.to_owned(), v.to_owned()));
/// assert_eq!(constants(&source).unwrap(), expected);
/// ```
pub fn constants(source: &Source) -> Result<Vec<(String, String)>, Refusal> {
    let (program, problems) = parse(source);
    let Some(program) = program else { return Err(Refusal::of(source, problems)) };
    let mut found = Vec::new();
    for item in &program.items {
        let Item::Declaration(declaration) = item else { continue };
        let DeclarationKind::Constant { names, value } = &declaration.kind else { continue };
        let text = source.slice(value.span);
        found.extend(names.iter().map(|name| (name.text.clone(), text.to_owned())));
    }
    Ok(found)
}
