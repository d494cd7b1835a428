//! Colour for terminals, where it is asked for.

/// What a piece of text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Style {
    /// The promise is kept.
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
