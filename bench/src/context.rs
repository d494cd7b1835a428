//! What all parts of a run share: its settings, the programs it measures, a place for trace files,
//! and the lines that report its progress.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use models::Model;

use crate::child::{Limits, Program, Usage, measure, on_path};

/// How much address space a measured program may take.
const MEMORY: u64 = 16 << 30;

/// What the command line asked for.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Small sizes, few repetitions.
    pub(crate) quick: bool,
    /// How many traces of each kind, where said.
    pub(crate) seeds: Option<u64>,
    /// Seconds of CPU time for one measurement of a program, where said.
    pub(crate) limit: Option<u64>,
    /// Where results go.
    pub(crate) results: PathBuf,
    /// The `tribunal` to measure, where said.
    pub(crate) tribunal: Option<PathBuf>,
}

/// A run.
pub(crate) struct Context {
    /// What was asked for.
    pub(crate) settings: Settings,
    /// The program that is measured.
    pub(crate) tribunal: PathBuf,
    /// Another checker to compare with, if there is one.
    pub(crate) axe: Option<PathBuf>,
    /// The Datalog engine of gradual-consistency-checking, if there is one.
    pub(crate) clingo: Option<PathBuf>,
    folder: PathBuf,
    start: Instant,
}

impl Context {
    /// Builds `tribunal` unless one is given, and makes a folder for trace files.
    pub(crate) fn new(settings: Settings) -> io::Result<Self> {
        let tribunal = match &settings.tribunal {
            Some(path) => path.clone(),
            None => build_tribunal()?,
        };
        let folder = std::env::temp_dir().join(format!("tribunal-bench-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        Ok(Self {
            settings,
            tribunal,
            axe: on_path("axe"),
            clingo: on_path("clingo"),
            folder,
            start: Instant::now(),
        })
    }

    /// How many traces of each kind.
    pub(crate) fn seeds(&self, normal: u64, quick: u64) -> u64 {
        self.settings.seeds.unwrap_or(self.pick(normal, quick)).max(1)
    }

    /// One of two, by whether the run is quick.
    pub(crate) fn pick<T>(&self, normal: T, quick: T) -> T {
        if self.settings.quick { quick } else { normal }
    }

    /// Seconds of CPU time for one measurement.
    pub(crate) fn limit(&self) -> u64 {
        self.settings.limit.unwrap_or(self.pick(60, 10)).max(1)
    }

    /// A file in the folder of this run.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Tells how far the run is.
    pub(crate) fn progress(&self, words: impl AsRef<str>) {
        eprintln!("[{:>5.0} s] {}", self.start.elapsed().as_secs_f64(), words.as_ref());
    }

    /// Measures a program; its output is in [`Context::output`] afterwards.
    pub(crate) fn measure(&self, words: Vec<OsString>) -> io::Result<Usage> {
        let limits = Limits { seconds: self.limit(), memory: MEMORY };
        measure(&Program { words, output: self.output() }, limits)
    }

    /// Where the output of the program measured last is.
    pub(crate) fn output(&self) -> PathBuf {
        self.file("output")
    }

    /// Measures `tribunal check` of one file.
    pub(crate) fn check(&self, model: Model, file: &Path) -> io::Result<Checked> {
        self.check_with(model, file, &[])
    }

    /// Measures `tribunal check` with more arguments. `--jobs 1` unless they say otherwise: times
    /// of one core are what ratios are made of.
    pub(crate) fn check_with(
        &self,
        model: Model,
        file: &Path,
        more: &[&str],
    ) -> io::Result<Checked> {
        let mut words: Vec<OsString> = vec![self.tribunal.clone().into()];
        words.extend(["check", "--json", "--quiet", "--model", model.name()].map(OsString::from));
        if !more.contains(&"--jobs") {
            words.extend(["--jobs", "1"].map(OsString::from));
        }
        words.extend(more.iter().map(OsString::from));
        words.push(file.into());
        let usage = self.measure(words)?;
        Ok(Checked { usage, said: CheckOutput::of(&fs::read_to_string(self.output())?) })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // Only trace files are lost if this fails.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A measured check.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    /// What it took.
    pub(crate) usage: Usage,
    /// What it said of the first trace.
    pub(crate) said: CheckOutput,
}

/// What a check said of a trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct CheckOutput {
    /// `consistent`, `violation` or `undecided`; empty if nothing.
    pub(crate) verdict: String,
    /// The phase that decided.
    pub(crate) decided_by: String,
}

impl CheckOutput {
    fn of(output: &str) -> Self {
        let first = output.lines().next().unwrap_or_default();
        let json: serde_json::Value = serde_json::from_str(first).unwrap_or_default();
        let word = |key: &str| json[key].as_str().unwrap_or_default().to_owned();
        Self { verdict: word("verdict"), decided_by: word("decided_by") }
    }
}

/// The workspace this program was built from.
pub(crate) fn workspace() -> &'static Path {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
    bench.parent().unwrap_or(bench)
}

/// Builds the command next to this program, so that both are of one commit and profile.
fn build_tribunal() -> io::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let folder = own.parent().ok_or_else(|| io::Error::other("no folder of its own"))?;
    if folder.file_name().is_none_or(|name| name != "release") {
        eprintln!("note: this is not a release build; times will be several times too long");
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.current_dir(workspace()).args(["build", "--quiet", "--package", "tribunal"]);
    if folder.file_name().is_some_and(|name| name == "release") {
        build.arg("--release");
    }
    if let Some(target) = folder.parent() {
        build.arg("--target-dir").arg(target);
    }
    if !build.status()?.success() {
        return Err(io::Error::other("building tribunal failed; --tribunal PATH uses another one"));
    }
    Ok(folder.join("tribunal"))
}
