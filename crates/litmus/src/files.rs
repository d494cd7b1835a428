//! The files to read: named ones, those that `@FILE` lists, and the tests in a folder.

use std::fmt;
use std::io::{self, Read};
use std::path::Path;

use history::InputError;

/// How deep lists may be nested.
const DEPTH: usize = 16;

/// More than the longest test, so that too long a file is noticed and not read to its end.
const MOST: u64 = 32 << 20;

/// Why a file cannot be used.
#[derive(Debug)]
pub enum FileError {
    /// It cannot be opened.
    Input(InputError),
    /// The file of this name cannot be read.
    File(String, io::Error),
    /// The file of this name is not text, at this line and column.
    NoText(String, usize, usize),
    /// Lists are nested too deep.
    Nested(String),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Input(error) => error.fmt(f),
            FileError::File(name, error) => write!(f, "cannot read {name}: {error}"),
            FileError::NoText(name, line, column) => {
                write!(f, "{name}:{line}:{column}: this is not text (UTF-8)")
            }
            FileError::Nested(list) => {
                write!(f, "{list}: lists of lists are nested more than {DEPTH} deep")
            }
        }
    }
}

impl std::error::Error for FileError {}

/// The files that are meant, in order. A list has a name a line, beside the list itself unless it
/// is a whole path; `#` begins a comment.
pub fn listed_files(files: &[String]) -> Result<Vec<String>, FileError> {
    let mut found = Vec::new();
    let mut rest: Vec<(String, usize)> = files.iter().rev().map(|file| (file.clone(), 0)).collect();
    while let Some((file, depth)) = rest.pop() {
        let Some(list) = file.strip_prefix('@') else {
            match Path::new(&file).is_dir() {
                true => found.extend(tests_in(&file)?),
                false => found.push(file),
            }
            continue;
        };
        if depth == DEPTH {
            return Err(FileError::Nested(list.to_owned()));
        }
        let text = read_text(list)?;
        let names = text.lines().map(|line| line.split('#').next().unwrap_or("").trim());
        let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
        let folder = Path::new(list).parent().unwrap_or(Path::new(""));
        for name in names.into_iter().rev() {
            let (at, name) = match name.strip_prefix('@') {
                Some(name) => ("@", name),
                None => ("", name),
            };
            rest.push((format!("{at}{}", folder.join(name).display()), depth + 1));
        }
    }
    Ok(found)
}

/// The litmus tests in a folder, by name.
fn tests_in(folder: &str) -> Result<Vec<String>, FileError> {
    let failed = |error| FileError::File(folder.to_owned(), error);
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let paths = paths.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let tests =
        paths.into_iter().filter(|path| path.extension().is_some_and(|end| end == "litmus"));
    let mut names: Vec<String> = tests.map(|path| path.display().to_string()).collect();
    names.sort();
    match names.is_empty() {
        true => Err(failed(io::Error::other("the folder contains no .litmus files"))),
        false => Ok(names),
    }
}

/// The text of a file, or of standard input for `-`.
pub fn read_text(file: &str) -> Result<String, FileError> {
    let name = history::shown(file).to_owned();
    let mut bytes = Vec::new();
    let read = history::open(file).map_err(FileError::Input)?.take(MOST).read_to_end(&mut bytes);
    read.map_err(|error| FileError::File(name.clone(), error))?;
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
        FileError::NoText(name, line, column)
    })
}
