//! Files of test programs.

use std::fmt;
use std::io::{self, Read};

use history::{Format, InputError, InputErrorKind};

use crate::condition::Test;
use crate::json::parse_programs_json;
use crate::text::parse_programs;

/// The most bytes of a file of programs.
const MAX_BYTES: u64 = 1 << 30;

/// Why there are no programs.
#[derive(Debug)]
pub enum ProgramFileError {
    /// The file cannot be opened, or a program in it cannot be understood.
    Input(InputError),
    /// The file of this name cannot be read.
    File(String, io::Error),
    /// The file of this name has no program.
    Empty(String),
}

impl fmt::Display for ProgramFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProgramFileError::Input(error) => error.fmt(f),
            ProgramFileError::File(name, error) => write!(f, "cannot read {name}: {error}"),
            ProgramFileError::Empty(name) => write!(f, "{name} contains no program"),
        }
    }
}

impl std::error::Error for ProgramFileError {}

impl From<InputError> for ProgramFileError {
    fn from(error: InputError) -> Self {
        ProgramFileError::Input(error)
    }
}

/// The programs of a file, or of standard input for `-`; JSON Lines where it is called so or begins
/// with a brace.
pub fn read_programs(file: &str) -> Result<Vec<Test>, ProgramFileError> {
    let shown = history::shown(file);
    let mut bytes = Vec::new();
    let read = history::open(file)?.take(MAX_BYTES).read_to_end(&mut bytes);
    read.map_err(|error| ProgramFileError::File(shown.to_owned(), error))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..good].iter().filter(|&&byte| byte == b'\n').count() + 1;
        let kind = InputErrorKind::Other { reason: "this is not UTF-8 text".into() };
        InputError::in_line(shown, line as u64, "", (0, 0), kind)
    })?;
    let json = Format::guess(file) == Format::JsonLines || text.trim_start().starts_with('{');
    let tests = match json {
        true => parse_programs_json(shown, &text)?,
        false => parse_programs(shown, &text)?,
    };
    match tests.is_empty() {
        true => Err(ProgramFileError::Empty(shown.to_owned())),
        false => Ok(tests),
    }
}
