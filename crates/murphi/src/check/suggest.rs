//! Which name was meant: the closest one that would fit, if one is close.

use super::scope::Symbol;
use super::{Checker, Reported};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// The candidate that takes the fewest changes to become `wanted`, if those are few: at most one
/// for each three letters, and one for short names. Upper and lower case are the same.
pub(super) fn closest<'a>(
    wanted: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let allowed = (wanted.chars().count() / 3).max(1);
    let close = candidates.filter_map(|candidate| {
        let length = candidate.chars().count();
        // A name of one or two letters is close to every other one: that helps nobody.
        let changes = distance(wanted, candidate);
        (changes <= allowed && changes < length).then_some((changes, candidate))
    });
    close.min_by(|left, right| left.cmp(right)).map(|(_, candidate)| candidate)
}

/// How many letters must be inserted, removed, replaced or swapped with their neighbour.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.to_lowercase().chars().collect();
    let right: Vec<char> = right.to_lowercase().chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=right.len()).collect();
    for row in 1..=left.len() {
        let mut current = vec![row];
        for column in 1..=right.len() {
            let differs = usize::from(left[row - 1] != right[column - 1]);
            let mut least = (previous[column] + 1)
                .min(current[column - 1] + 1)
                .min(previous[column - 1] + differs);
            let swapped = row > 1
                && column > 1
                && left[row - 1] == right[column - 2]
                && left[row - 2] == right[column - 1];
            if swapped {
                least = least.min(before[column - 2] + 1);
            }
            current.push(least);
        }
        before = std::mem::replace(&mut previous, current);
    }
    previous[right.len()]
}

impl Checker<'_> {
    /// Complains about an unknown name: `message` says how, unless the name is declared further
    /// down. A known one that fits is suggested if it is close.
    pub(super) fn unknown(
        &mut self,
        name: &str,
        span: Span,
        message: String,
        fits: fn(Symbol) -> bool,
    ) -> Reported {
        // Once is enough: a name that is used a hundred times is still one mistake.
        if !self.unknown_names.insert(name.to_owned()) {
            return Reported;
        }
        let later = self.later.get(name).filter(|declared| declared.start > span.start);
        let diagnostic = match later {
            Some(&declared) => {
                let message = format!("`{name}` is used before its declaration");
                Diagnostic::error(span, message).related(declared, "declared here")
            }
            None => {
                let help = self.did_you_mean(name, fits);
                Diagnostic { help, ..Diagnostic::error(span, message) }
            }
        };
        self.error(diagnostic)
    }

    fn did_you_mean(&self, name: &str, fits: fn(Symbol) -> bool) -> Option<String> {
        let candidates = self.scopes.visible().filter(|(_, entry)| fits(entry.symbol));
        let close = closest(name, candidates.map(|(name, _)| name))?;
        Some(format!("did you mean `{close}`?"))
    }
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn a_slip_of_the_fingers_is_found() {
        let names = ["Invalid", "Shared", "Modified", "state", "i"];
        assert_eq!(closest("Invlaid", names.into_iter()), Some("Invalid"));
        assert_eq!(closest("shared", names.into_iter()), Some("Shared"));
        assert_eq!(closest("stat", names.into_iter()), Some("state"));
    }

    #[test]
    fn nothing_is_suggested_for_something_else() {
        let names = ["Invalid", "Shared", "i"];
        assert_eq!(closest("channel", names.into_iter()), None);
        assert_eq!(closest("j", names.into_iter()), None);
    }
}
