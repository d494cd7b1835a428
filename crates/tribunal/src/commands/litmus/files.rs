//! The files to read: named ones, and those that `@FILE` lists.

use std::io::Read;
use std::path::Path;

use crate::ending::Failure;
use crate::input;

/// How deep lists may be nested.
const DEPTH: usize = 16;

/// The files that are meant, in order. A list has a name a line, beside the list itself unless it
/// is a whole path; `#` begins a comment.
pub(super) fn listed(files: &[String]) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    let mut rest: Vec<(String, usize)> = files.iter().rev().map(|file| (file.clone(), 0)).collect();
    while let Some((file, depth)) = rest.pop() {
        let Some(list) = file.strip_prefix('@') else {
            found.push(file);
            continue;
        };
        if depth == DEPTH {
            let sentence = format!("{list}: lists of lists are nested more than {DEPTH} deep");
            return Err(Failure::Usage(sentence));
        }
        let text = text(list)?;
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

/// The text of a file.
pub(super) fn text(file: &str) -> Result<String, Failure> {
    let name = input::shown(file).to_owned();
    let mut bytes = Vec::new();
    let read = history::open(file)?.take(MOST).read_to_end(&mut bytes);
    read.map_err(|error| Failure::File { name: name.clone(), action: "read", error })?;
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
        Failure::Usage(format!("{name}:{line}:{column}: this is not text (UTF-8)"))
    })
}

/// More than the longest test, so that too long a file is noticed and not read to its end.
const MOST: u64 = 32 << 20;
