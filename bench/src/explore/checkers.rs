//! The model checkers that are compared: ours; Rumur, which generates C; CMurphi, which generates
//! C++. The last two where they are on the PATH.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::child::{Usage, on_path};
use crate::context::Context;

use super::sizes::Size;

/// What is to be explored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run<'a> {
    /// The model and its constants.
    pub(crate) size: &'a Size,
    /// Whether symmetric states count as one.
    pub(crate) symmetry: bool,
    /// How many threads.
    pub(crate) threads: usize,
    /// Whether deadlocks are looked for.
    pub(crate) deadlock: bool,
}

/// The counts and the cost of an exploration.
#[derive(Clone, Debug)]
pub(crate) struct Explored {
    /// Whether nothing was found wrong.
    pub(crate) verdict: bool,
    /// Whether symmetry was on.
    pub(crate) symmetry: bool,
    /// States.
    pub(crate) states: u64,
    /// Rules fired.
    pub(crate) rules_fired: u64,
    /// Seconds of the exploration itself: of CPU time with one thread, of the clock with several.
    pub(crate) exploring: f64,
    /// Seconds before it.
    pub(crate) before: f64,
    /// Seconds in all.
    pub(crate) total: f64,
    /// Memory by states.
    pub(crate) bytes_per_state: f64,
}

impl Explored {
    /// States a second.
    pub(crate) fn rate(&self) -> f64 {
        self.states as f64 / self.exploring.max(1e-6)
    }

    /// States a second of the clock.
    pub(crate) fn rate_on_the_clock(&self) -> f64 {
        self.states as f64 / (self.total - self.before).max(1e-6)
    }
}

/// A model checker.
pub(crate) enum Checker {
    /// `tribunal explore`.
    Tribunal,
    /// Rumur, with the C compiler.
    Rumur { program: PathBuf },
    /// CMurphi's `mu`, with the C++ compiler and the folder of its headers.
    CMurphi { program: PathBuf, include: PathBuf },
}

/// Ours, and the others that are here.
pub(crate) fn present(context: &Context) -> Vec<Checker> {
    let mut checkers = vec![Checker::Tribunal];
    match on_path("rumur") {
        Some(program) => checkers.push(Checker::Rumur { program }),
        None => context.progress("rumur is not on the PATH (Debian: rumur)"),
    }
    if let Some(program) = on_path("mu") {
        let include = |folder: &Path| {
            let include = folder.parent()?.join("include");
            include.is_dir().then_some(include)
        };
        let real = fs::canonicalize(&program).unwrap_or_else(|_| program.clone());
        if let Some(include) = real.parent().and_then(include) {
            checkers.push(Checker::CMurphi { program, include });
        }
    }
    checkers
}

fn words<T: Into<OsString>>(list: impl IntoIterator<Item = T>) -> Vec<OsString> {
    list.into_iter().map(Into::into).collect()
}

impl Checker {
    /// How tables name it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Checker::Tribunal => "tribunal",
            Checker::Rumur { .. } => "rumur",
            Checker::CMurphi { .. } => "cmurphi",
        }
    }

    /// Explores a model; nothing where this checker refuses it or does not finish.
    pub(crate) fn explore(&self, context: &Context, run: &Run) -> io::Result<Option<Explored>> {
        match self {
            Checker::Tribunal => tribunal(context, run),
            Checker::Rumur { program } => rumur(context, run, program),
            Checker::CMurphi { program, include } => cmurphi(context, run, program, include),
        }
    }
}

fn tribunal(context: &Context, run: &Run) -> io::Result<Option<Explored>> {
    let explore = |more: &[&str]| {
        let mut command = words([context.tribunal.as_os_str()]);
        command.extend(words(["explore", "--json", "--quiet", "--symmetry"]));
        command.extend(words([if run.symmetry { "full" } else { "off" }]));
        command.extend(words(["--jobs", &run.threads.to_string()]));
        command.extend(words(if run.deadlock { [].as_slice() } else { &["--deadlock", "off"] }));
        for (name, value) in &run.size.constants {
            command.extend(words(["--const", &format!("{name}={value}")]));
        }
        command.extend(words(more));
        command.push(run.size.file.clone().into());
        context.measure(command)
    };
    // One step from the start states: everything that comes before the exploration.
    let before = explore(&["--bound", "1"])?;
    let usage = explore(&[])?;
    if !usage.answered() {
        return Ok(None);
    }
    let text = fs::read_to_string(context.output())?;
    let said: serde_json::Value = serde_json::from_str(text.trim()).unwrap_or_default();
    let number = |key: &str| said[key].as_f64().unwrap_or_default();
    Ok(Some(Explored {
        verdict: said["verdict"] == "verified",
        symmetry: run.symmetry,
        states: number("states") as u64,
        rules_fired: number("rules_fired") as u64,
        exploring: match run.threads {
            1 => usage.cpu() - before.cpu(),
            _ => number("seconds"),
        },
        before: before.wall,
        total: usage.wall,
        bytes_per_state: number("bytes_per_state"),
    }))
}

fn rumur(context: &Context, run: &Run, program: &Path) -> io::Result<Option<Explored>> {
    let source = with_constants(context, run.size)?;
    let (code, checker) = (context.file("checker.c"), context.file("checker"));
    let symmetry = if run.symmetry { "heuristic" } else { "off" };
    let mut generate = words([program.as_os_str()]);
    generate.extend(words(["--threads", &run.threads.to_string()]));
    generate.extend(words(["--symmetry-reduction", symmetry, "--deadlock-detection"]));
    generate.extend(words([if run.deadlock { "stuttering" } else { "off" }, "--output"]));
    generate.extend([code.clone().into(), source.into()]);
    let generated = context.measure(generate)?;
    let mut compile = words(["gcc", "-std=c11", "-O3", "-march=native", "-mcx16", "-o"]);
    compile.extend([checker.clone().into(), code.into()]);
    compile.extend(words(["-lpthread", "-latomic"]));
    finish(context, run, &[generated], compile, words([checker]))
}

fn cmurphi(
    context: &Context,
    run: &Run,
    program: &Path,
    include: &Path,
) -> io::Result<Option<Explored>> {
    if run.threads > 1 {
        return Ok(None);
    }
    let source = with_constants(context, run.size)?;
    let (code, checker) = (source.with_extension("cpp"), context.file("checker"));
    // Bit-packed states, as everywhere in this comparison.
    let generated =
        context.measure(words([program.as_os_str(), "-b".as_ref(), source.as_ref()]))?;
    let mut compile = words(["g++", "-w", "-O3", "-march=native", "-I"]);
    compile.push(include.into());
    compile.extend(words(["-o".into(), OsString::from(&checker), code.into()]));
    let mut explore = words([checker]);
    explore.extend(words(["-m8000", "-ndl"]));
    explore.extend(words(if run.symmetry { None } else { Some("-nosym") }));
    finish(context, run, &[generated], compile, explore)
}

/// Compiles and runs a generated checker.
fn finish(
    context: &Context,
    run: &Run,
    generated: &[Usage],
    compile: Vec<OsString>,
    explore: Vec<OsString>,
) -> io::Result<Option<Explored>> {
    if generated.iter().any(|usage| !usage.answered()) {
        return Ok(None);
    }
    let compiled = context.measure(compile)?;
    if !compiled.answered() {
        return Ok(None);
    }
    let usage = context.measure(explore)?;
    let text = fs::read_to_string(context.output())?;
    let Some((states, rules_fired)) = totals(&text) else { return Ok(None) };
    if usage.failure().is_some() && !usage.answered() {
        return Ok(None);
    }
    let before = generated.iter().map(|usage| usage.wall).sum::<f64>() + compiled.wall;
    Ok(Some(Explored {
        verdict: text.contains("No error found"),
        symmetry: run.symmetry,
        states,
        rules_fired,
        exploring: if run.threads == 1 { usage.cpu() } else { usage.wall },
        before,
        total: before + usage.wall,
        bytes_per_state: usage.peak as f64 / states.max(1) as f64,
    }))
}

/// States and rules fired from a line such as `894 states, 2196 rules fired in 0s.`
fn totals(text: &str) -> Option<(u64, u64)> {
    let line = text.lines().rfind(|line| line.contains("rules fired in"))?;
    let numbers: Vec<u64> =
        line.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect();
    Some((*numbers.first()?, *numbers.get(1)?))
}

/// A copy of the model with other values for its constants: neither peer has a flag for them.
fn with_constants(context: &Context, size: &Size) -> io::Result<PathBuf> {
    let text = fs::read_to_string(&size.file)?;
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (name, value) in &size.constants {
        // Our models give each constant a line of its own, `NAME : VALUE;`.
        let declaration = lines.iter_mut().find(|line| {
            line.trim_start()
                .strip_prefix(name.as_str())
                .is_some_and(|rest| rest.trim_start().starts_with(':') && rest.contains(';'))
        });
        match declaration {
            Some(line) => *line = format!("  {name} : {value};"),
            None => return Err(io::Error::other(format!("{} has no {name}", size.model))),
        }
    }
    let file = context.file(&format!("{}.m", size.model));
    fs::write(&file, lines.join("\n") + "\n")?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_totals_of_a_generated_checker_are_read() {
        let text = "Progress\n\t100 states explored in 0s, with 5 rules fired.\n\
                    State Space Explored:\n\n\t894 states, 2196 rules fired in 0s.\n";
        assert_eq!(totals(text), Some((894, 2196)));
        assert_eq!(totals("nothing"), None);
    }
}
