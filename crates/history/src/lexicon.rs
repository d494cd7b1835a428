//! The words of the trace text, which other texts about memory share: what a name is, what a number
//! is, and how an error names them.

use crate::event::Kinds;

/// The longest name, in bytes.
pub const NAME_LIMIT: usize = 4096;

/// The most digits of a number; more than 64 bits need, for the sake of leading zeros.
pub const DIGIT_LIMIT: usize = 128;

/// What an address looks like.
pub const ADDRESS_HELP: &str = "an address is `M[0]`, `M[0x10]`, `M[x]`, or `x` for short";

/// What a name looks like.
pub const NAME_HELP: &str =
    "names start with a letter or `_`, followed by letters, digits, `_`, `.`, `$` or `'`";

/// What a fence looks like.
pub const FENCE_HELP: &str =
    "`fence w,r` keeps earlier writes before later reads; `sync` keeps everything";

/// What a word says that a fence orders: `r`, `w`, `rw`, `wr`, or `-` for nothing.
pub fn kinds(word: &[u8]) -> Option<Kinds> {
    match word {
        b"r" => Some(Kinds::READS),
        b"w" => Some(Kinds::WRITES),
        b"rw" | b"wr" => Some(Kinds::ALL),
        b"-" => Some(Kinds::NONE),
        _ => None,
    }
}

/// Whether a byte may stand in a name.
pub fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$' | b'\'')
}

/// Whether a byte may start a name.
pub fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// Whether a text can be the name of an address or an event.
///
/// ```
/// use tribunal_history::lexicon::is_name;
///
/// assert!(is_name("_x.1$'") && !is_name("1x") && !is_name(""));
/// ```
pub fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|&byte| starts_name(byte))
        && bytes.iter().all(|&byte| is_name_byte(byte))
        && bytes.len() <= NAME_LIMIT
}
