//! Colour for terminals, where it is asked for.

use evidence::Verdict;

/// The role of a piece of text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Style {
    /// No violation.
    Good,
    /// It is broken.
    Bad,
    /// No answer.
    Open,
    /// Running text.
    Plain,
    /// A heading or number.
    Strong,
    /// Something to be overlooked.
    Faint,
}

impl Style {
    /// How a verdict is painted.
    pub(crate) fn of<H, B, U>(verdict: &Verdict<H, B, U>) -> Style {
        match verdict {
            Verdict::Holds(_) => Style::Good,
            Verdict::Broken(_) => Style::Bad,
            Verdict::Undecided(_) => Style::Open,
        }
    }
}

/// The text, with the escape codes of its style if `colour` is set.
pub(crate) fn paint(text: &str, style: Style, colour: bool) -> String {
    if !colour || text.is_empty() || style == Style::Plain {
        return text.to_owned();
    }
    let code = match style {
        Style::Good => "32",
        Style::Bad => "1;31",
        Style::Open => "33",
        Style::Strong => "1",
        Style::Plain => "0",
        Style::Faint => "2",
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}
