//! Rules that a user wants to see more often, or less.
//!
//! Whoever looks for a mistake often knows what it needs: copies that stay where they are, or an
//! eviction at every turn. So the rules of a protocol can be given factors, by their names, and
//! every weight that a walk gives a step is multiplied by the factor of its rule. A factor of 0
//! rules it out: such walks go through a part of the protocol only, which cannot show more than
//! the whole.

use std::fmt;

/// How many parts a factor of 1 has.
const ONE: f64 = 1024.0;

/// The largest factor.
pub const MAX_WEIGHT: f64 = 1000.0;

/// The factors of all rules; nothing if none was given.
#[derive(Debug, Clone, Default)]
pub(super) struct RuleWeights(Vec<u64>);

impl RuleWeights {
    /// Gives all rules a factor whose names match.
    pub(super) fn give(
        &mut self,
        names: &[&str],
        pattern: &str,
        factor: f64,
    ) -> Result<(), WeightError> {
        if !(0.0..=MAX_WEIGHT).contains(&factor) {
            return Err(WeightError::Factor(factor));
        }
        if !names.iter().any(|name| matches(pattern, name)) {
            let mut names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            names.dedup();
            return Err(WeightError::NoRule { pattern: pattern.to_owned(), names });
        }
        let parts = (factor * ONE).round() as u64;
        // What is not to happen never is something else than what is to happen hardly ever.
        let parts = if factor > 0.0 { parts.max(1) } else { 0 };
        self.0.resize(names.len(), ONE as u64);
        for (rule, _) in names.iter().enumerate().filter(|(_, name)| matches(pattern, name)) {
            self.0[rule] = parts;
        }
        Ok(())
    }

    /// The weight of a step with this rule.
    pub(super) fn weigh(&self, rule: u32, weight: u64) -> u64 {
        match self.0.get(rule as usize) {
            Some(&parts) => weight.saturating_mul(parts),
            None => weight,
        }
    }
}

/// Whether a name is what a pattern says, in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    let Some(mut rest) = rest.strip_suffix(last) else { return false };
    // The earliest place for each part leaves the most for the next.
    parts.into_iter().all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

/// Why a rule cannot be given a factor.
#[derive(Debug, Clone, PartialEq)]
pub enum WeightError {
    /// It is negative, too large, or no number.
    Factor(f64),
    /// No rule has such a name.
    NoRule {
        /// What was asked for.
        pattern: String,
        /// The names there are.
        names: Vec<String>,
    },
}

impl fmt::Display for WeightError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WeightError::Factor(factor) => {
                write!(f, "{factor} is not a weight: weights are from 0 to {MAX_WEIGHT}")
            }
            WeightError::NoRule { pattern, names } => {
                let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
                write!(f, "no rule is called \"{pattern}\"; the rules are {}", names.join(", "))
            }
        }
    }
}

impl std::error::Error for WeightError {}

#[cfg(test)]
mod tests {
    use super::{RuleWeights, WeightError, matches};

    #[test]
    fn stars_stand_for_any_text() {
        let all = [("evict", "evict"), ("*", "x"), ("*", ""), ("e*t", "evict"), ("e**t", "et")];
        for (pattern, name) in all.into_iter().chain([("*a*b*", "xaxbx"), ("ab*ba", "abba")]) {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("evict", "evict M"), ("ab*ba", "aba"), ("*a*b", "ba"), ("", "x")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn the_last_factor_counts() {
        let names = ["evict E", "evict M", "load"];
        let mut favour = RuleWeights::default();
        assert_eq!(favour.weigh(2, 7), 7);
        favour.give(&names, "evict*", 0.5).unwrap();
        favour.give(&names, "evict M", 0.0).unwrap();
        assert_eq!([0, 1, 2].map(|rule| favour.weigh(rule, 10)), [5120, 0, 10240]);
        favour.give(&names, "load", 0.000_001).unwrap();
        assert_eq!(favour.weigh(2, 10), 10);
        assert_eq!(favour.give(&names, "load", -1.0), Err(WeightError::Factor(-1.0)));
        assert!(matches!(favour.give(&names, "load", f64::NAN), Err(WeightError::Factor(_))));
        let refused = favour.give(&names, "store", 1.0).unwrap_err();
        let sentence =
            "no rule is called \"store\"; the rules are \"evict E\", \"evict M\", \"load\"";
        assert_eq!(refused.to_string(), sentence);
    }
}
