//! What a program has that a verification could miss: by the kind of its claim or error, and by the
//! constructs of the language in it.
//!
//! Three kinds have letters: A for claims that may need more processors than they name, B for errors
//! in statements, C for errors in guards. What begins with "with" is anywhere in the program.

use super::family::Member;
use super::faults::Kind;

/// A feature, and whether a text has it.
type Feature = (&'static str, fn(&str) -> bool);

/// Of what is claimed.
const OF_CLAIMS: &[Feature] = &[
    ("A over a range", |text| text.contains(": 1..K")),
    ("A over an enumeration", |text| text.contains(": S")),
    ("A over truth values", |text| text.contains(": boolean")),
    ("A over another scalarset", |text| text.contains(": Q")),
    ("A stored references", |text| {
        ["holder[", "ref[", "owner", ".who", ".head"].iter().any(|each| text.contains(each))
    }),
    ("A negation", |text| text.contains("!(")),
    ("A implication", |text| text.contains("->")),
    ("A conditional", |text| text.contains(" ? ")),
    ("A comparison of claims", |text| text.contains(") = (")),
    ("A function", |text| text.contains("none(") || text.contains("some(")),
];

/// Of the whole program.
const OF_PROGRAMS: &[Feature] = &[
    ("with a union", |text| text.contains("union")),
    ("with a union of processors", |text| text.contains("union { V, P }")),
    ("with an alias", |text| text.contains("alias ")),
    ("with choose", |text| text.contains("choose ")),
    ("with a multiset", |text| text.contains("multiset [")),
    ("with switch", |text| text.contains("switch ")),
    ("with switch over processors", |text| text.contains("switch owner ")),
    ("with while", |text| text.contains("while ")),
    ("with an array by two processors", |text| text.contains("grid")),
    ("with a record of an array", |text| text.contains("dir.")),
    ("with a var parameter", |text| text.contains("(var ")),
    ("with an early return", |text| text.contains("then return")),
    ("with sets as arguments", |text| text.contains("s: Set")),
    ("with a counter up and down", |text| text.contains("n - 1") || text.contains("level - 1")),
    ("with a ruleset of starts", |text| text.contains("do startstate")),
    ("with an assumption", |text| text.contains("assume ")),
    ("with two scalarsets", |text| text.contains("scalarset(3)")),
    ("with undefined references", |text| {
        text.contains("undefine ref") || text.contains("undefine owner")
    }),
    ("with a loop over processors", |text| {
        text.contains("begin for") || text.contains(" for y: P")
    }),
];

/// All features of a member.
pub(crate) fn features(member: &Member) -> Vec<&'static str> {
    let of_kind = match member.kind {
        Kind::Invariant => "A invariant",
        Kind::Assertion => "A assertion",
        Kind::EffectlessError => "B error without effect",
        Kind::ErrorWithEffect => "B error with effect",
        Kind::GuardOfMany => "C guard of three or more",
        Kind::GuardOfFew => "C guard of up to two",
        Kind::Bare => "rules alone",
    };
    let mut found = vec![of_kind];
    let mut look = |features: &[Feature], text: &str| {
        found.extend(features.iter().filter(|(_, has)| has(text)).map(|(name, _)| *name));
    };
    if matches!(member.kind, Kind::Invariant | Kind::Assertion) {
        look(OF_CLAIMS, &member.added);
    }
    look(OF_PROGRAMS, &member.program.text());
    found
}
