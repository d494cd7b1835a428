//! What the end-to-end tests share: running the built command, and a place for files.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The command with these arguments, still to be run, in the root of the project.
pub(crate) fn tribunal(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tribunal"));
    command.args(arguments).current_dir(root()).env_remove("NO_COLOR");
    command
}

/// The root of the project.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What a run printed and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
}

impl Ran {
    pub(crate) fn lines(&self) -> Vec<&str> {
        self.stdout.lines().collect()
    }

    /// Standard output as one JSON object a line.
    pub(crate) fn json(&self) -> Vec<serde_json::Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }
}

/// Runs the command with this standard input.
pub(crate) fn run_with(input: impl AsRef<[u8]>, arguments: &[&str]) -> Ran {
    let mut child = spawn(arguments);
    let input = input.as_ref().to_vec();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let ran = finish(child);
    writer.join().unwrap();
    ran
}

/// Runs the command with nothing on standard input.
pub(crate) fn run(arguments: &[&str]) -> Ran {
    run_with("", arguments)
}

/// Starts the command with pipes at all ends.
pub(crate) fn spawn(arguments: &[&str]) -> Child {
    let mut command = tribunal(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Waits for a started command.
pub(crate) fn finish(child: Child) -> Ran {
    let output = child.wait_with_output().unwrap();
    Ran {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code(),
    }
}

/// A fresh directory for the files of one test, with a name that no other test uses.
pub(crate) fn directory(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Writes a file and returns its name.
pub(crate) fn file(directory: &Path, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = directory.join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The folders of traces with answers: that of the repository, and those of the large corpus where
/// it is present, each with the number of its traces.
pub(crate) fn corpora() -> Vec<(String, usize)> {
    let large = [("traces/litmus", 199), ("traces/random", 2000)];
    let large = large.map(|(name, count)| Some((oracle::large_corpus(name)?, count)));
    let small = (oracle::small_corpus("traces/litmus"), 20);
    let folders = std::iter::once(small).chain(large.into_iter().flatten());
    folders.map(|(path, count)| (path.to_str().unwrap().to_owned(), count)).collect()
}

/// Both threads read 0: consistent with tso, a violation of sc.
pub(crate) const STORE_BUFFERING: &str = "\
0: M[x] := 1
0: M[y] == 0
1: M[y] := 1
1: M[x] == 0
check
";

/// An interleaving.
pub(crate) const CONSISTENT: &str = "\
0: M[x] := 1
1: M[x] == 1
1: M[y] := 1
0: M[y] == 1
check
";

/// A read that goes back in time: a violation of every model.
pub(crate) const STALE_READ: &str = "\
0: M[x] := 1
0: M[x] := 2
0: M[x] == 1
check
";
