//! Making files, temporary ones among them.
//!
//! Several processes may write to one directory, and the number of a process does not tell them apart:
//! in containers that share a volume, each process may be number 1. A name that is taken is therefore
//! passed over. On Unix a temporary file loses its name as soon as it is open, and vanishes with the process
//! however that ends; elsewhere whoever closes it removes it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Distinguishes the temporary files of one process.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Makes a temporary file in `directory`, to be read and written. There is a path if the file is still
/// to be removed.
pub(crate) fn create_temporary(directory: &Path) -> io::Result<(File, Option<PathBuf>)> {
    let (file, path) = create_numbered(directory, &NUMBER)?;
    let path = match cfg!(unix) && fs::remove_file(&path).is_ok() {
        true => None,
        false => Some(path),
    };
    Ok((file, path))
}

/// Makes a file with the next number whose name is free.
fn create_numbered(directory: &Path, next: &AtomicU64) -> io::Result<(File, PathBuf)> {
    loop {
        let number = next.fetch_add(1, Relaxed);
        let name = format!("tribunal-{}-{number}.states", std::process::id());
        let path = directory.join(name);
        match create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return Ok((created?, path)),
        }
    }
}

/// Makes a file of this name, which must be free.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(path);
    file.map_err(|error| named(path, error))
}

/// An error with the name of the file.
pub(crate) fn named(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_of_the_same_number_share_a_directory() {
        let directory =
            std::env::temp_dir().join(format!("tribunal-test-shared-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let (ours, theirs) = (AtomicU64::new(0), AtomicU64::new(0));
        let mut paths: Vec<PathBuf> = [&ours, &ours, &theirs, &ours, &theirs]
            .map(|next| create_numbered(&directory, next).unwrap().1)
            .into();
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), 5);
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 5);
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn a_directory_that_is_missing_is_named() {
        let directory = Path::new("/nonexistent/directory");
        let error = create_temporary(directory).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("/nonexistent/directory"), "{error}");
    }
}
