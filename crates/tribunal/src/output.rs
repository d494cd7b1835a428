//! The destinations of results: standard output, or a file that is written completely or not at
//! all.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::path::{Path, PathBuf};

use crate::arguments::{Colour, ColourFlag};
use crate::ending::{Ending, Failure};
use crate::interrupt::Interrupt;

/// Standard output, buffered; [`Output::flush`] says when a reader should see it.
pub(crate) struct Output(BufWriter<StdoutLock<'static>>);

impl Output {
    pub(crate) fn stdout() -> Self {
        Self(BufWriter::with_capacity(1 << 16, io::stdout().lock()))
    }

    pub(crate) fn print(&mut self, text: &str) -> Result<(), Failure> {
        self.0.write_all(text.as_bytes()).map_err(Failure::of_stdout)
    }

    pub(crate) fn writer(&mut self) -> &mut dyn Write {
        &mut self.0
    }

    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.0.flush().map_err(Failure::of_stdout)
    }
}

/// Refuses a directory in which no file can be created.
pub(crate) fn require_writable(directory: &Path) -> Result<(), Failure> {
    let probe = directory.join(format!(".tribunal-{}", std::process::id()));
    let made = File::create_new(&probe).and_then(|_| std::fs::remove_file(&probe));
    let name = directory.display().to_string();
    made.map_err(|error| Failure::File { name, action: "write to", error })
}

/// Makes a directory, with those above it, unless it is there.
pub(crate) fn create_directory(directory: &Path) -> Result<(), Failure> {
    let name = || directory.display().to_string();
    std::fs::create_dir_all(directory).map_err(|error| Failure::File {
        name: name(),
        action: "create",
        error,
    })
}

/// Writes a whole file.
pub(crate) fn save(path: &Path, text: &str, interrupt: &Interrupt) -> Result<(), Failure> {
    let mut file = Saved::create(path, interrupt)?;
    file.write(text.as_bytes())?;
    file.finish()
}

/// Whether to use colours on this stream.
pub(crate) fn colours(flag: ColourFlag, stream: &impl IsTerminal) -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match flag.color {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => {
            stream.is_terminal()
                && !set("NO_COLOR")
                && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    }
}

/// Writes a finished text to a file, or to standard output if there is no file or it is `-`.
/// Returns the ending of the command; a reader that has closed standard output does not change it.
pub(crate) fn deliver(
    text: &str,
    to: Option<&Path>,
    ending: Ending,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let delivered = match to {
        Some(path) if path != Path::new("-") => {
            return save(path, text, interrupt).map(|()| ending);
        }
        _ => {
            let mut output = Output::stdout();
            output.print(text).and_then(|()| output.flush())
        }
    };
    match delivered {
        Ok(()) | Err(Failure::BrokenPipe) => Ok(ending),
        Err(failure) => Err(failure),
    }
}

/// A file that is being written. Until it is finished, it is a temporary file beside its final
/// name, so that a reader finds either the old file or the complete new one. Anything but a regular
/// file (a pipe, a device) is written directly.
pub(crate) struct Saved {
    file: BufWriter<File>,
    name: PathBuf,
    temporary: Option<PathBuf>,
    interrupt: Interrupt,
}

impl Saved {
    pub(crate) fn create(path: &Path, interrupt: &Interrupt) -> Result<Self, Failure> {
        let name = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let temporary = match name.metadata() {
            Ok(metadata) if !metadata.is_file() => None,
            _ => Some(beside(&name)),
        };
        let place = temporary.as_deref().unwrap_or(&name);
        let file = File::create(place).map_err(|error| cannot_write(path, error))?;
        if let Some(temporary) = &temporary {
            interrupt.add_temporary(temporary);
        }
        let file = BufWriter::with_capacity(1 << 16, file);
        Ok(Self { file, name, temporary, interrupt: interrupt.clone() })
    }

    pub(crate) fn writer(&mut self) -> &mut dyn Write {
        &mut self.file
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.file.write_all(bytes).map_err(|error| self.failure(error))
    }

    /// Writes one line with this function.
    pub(crate) fn line(
        &mut self,
        line: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let written = line(&mut self.file).and_then(|()| self.file.write_all(b"\n"));
        written.map_err(|error| self.failure(error))
    }

    /// The failure behind an error of this file.
    pub(crate) fn failure(&self, error: io::Error) -> Failure {
        cannot_write(&self.name, error)
    }

    /// Renames the temporary file to its final name.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.file.flush().map_err(|error| self.failure(error))?;
        if let Some(temporary) = self.temporary.take() {
            self.interrupt.forget_temporary(&temporary);
            std::fs::rename(&temporary, &self.name).map_err(|error| self.failure(error))?;
        }
        Ok(())
    }
}

impl Drop for Saved {
    fn drop(&mut self) {
        if let Some(temporary) = self.temporary.take() {
            let _ = std::fs::remove_file(&temporary);
            self.interrupt.forget_temporary(&temporary);
        }
    }
}

/// Where a stream of results goes: standard output, or a file that appears when it is finished.
pub(crate) enum Sink {
    Stdout(Output),
    File(Saved),
}

impl Sink {
    /// A file, or standard output when there is none or it is `-`.
    pub(crate) fn open(to: Option<&Path>, interrupt: &Interrupt) -> Result<Self, Failure> {
        match to {
            Some(path) if path != Path::new("-") => Saved::create(path, interrupt).map(Sink::File),
            _ => Ok(Sink::Stdout(Output::stdout())),
        }
    }

    /// Writes with this function.
    pub(crate) fn write(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        match self {
            Sink::Stdout(output) => write(output.writer()).map_err(Failure::of_stdout),
            Sink::File(file) => write(file.writer()).map_err(|error| file.failure(error)),
        }
    }

    /// Flushes standard output, so that a reader gets what was written.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        match self {
            Sink::Stdout(output) => output.flush(),
            Sink::File(_) => Ok(()),
        }
    }

    /// Renames the temporary file to its final name.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self {
            Sink::Stdout(mut output) => output.flush(),
            Sink::File(file) => file.finish(),
        }
    }
}

fn cannot_write(path: &Path, error: io::Error) -> Failure {
    Failure::File { name: path.display().to_string(), action: "write", error }
}

/// The name of the temporary file.
fn beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}
