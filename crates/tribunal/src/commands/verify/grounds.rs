//! What a verdict rests on, in words: what is not established, where and why, and what was assumed.

use conform::Doubt;
use murphi::source::Source;
use report::verification::Open;

/// The flag that assumes what can be assumed.
pub(super) const ASSUME: &str = "--assume data-independence";

/// What is not established, with its places.
pub(super) fn open(doubts: &[Doubt], source: &Source) -> Vec<Open> {
    let open = doubts.iter().map(|doubt| {
        let (line, column) = source.position(doubt.diagnostic.span.start);
        Open {
            what: doubt.about.name().to_owned(),
            place: format!("{}:{line}:{column}", source.name),
            sentence: doubt.diagnostic.message.clone(),
        }
    });
    open.collect()
}

/// The verdict on what rests on something that is not established: the first place and reason, and
/// how many there are.
pub(super) fn undecided(open: &[Open]) -> String {
    let Some(first) = open.first() else { return String::new() };
    let more = match open.len() - 1 {
        0 => String::new(),
        1 => ", and at 1 more place".to_owned(),
        more => format!(", and at {more} more places"),
    };
    format!("{} (at {}{more}); nothing is known", first.sentence, first.place)
}

/// What a verdict says about what was assumed.
pub(super) fn assuming(sentence: &str, assumed: &[Doubt]) -> (String, Vec<String>) {
    match assumed.is_empty() {
        true => (sentence.to_owned(), Vec::new()),
        false => (
            format!("{sentence}, assuming data independence"),
            vec!["data-independence".to_owned()],
        ),
    }
}

/// What a verdict says about claims of the protocol that nothing looks at.
pub(super) fn with_unchecked(sentence: &str, unchecked: &[String]) -> String {
    match unchecked {
        [] => sentence.to_owned(),
        [one] => format!("{sentence}; {one} is not checked"),
        [several @ .., last] => {
            format!("{sentence}; {} and {last} are not checked", several.join(", "))
        }
    }
}

/// Whether assuming data independence would leave nothing open.
pub(super) fn can_be_assumed(open: &[Open]) -> bool {
    use conform::Foundation::{OtherValues, StartStates};
    let stays = |one: &Open| [StartStates, OtherValues].iter().any(|left| left.name() == one.what);
    !open.is_empty() && !open.iter().any(stays)
}
