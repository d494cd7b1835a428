//! CPU time and peak memory of another program.
//!
//! The kernel accounts for finished children in sum, and keeps only the largest memory of all of
//! them. So each measured program is the only child of a supervisor: this program again, as
//! `tribunal-bench supervise`, which limits CPU time and memory, runs it, and prints what it took.
//! Limits on CPU time, not on the clock: a loaded machine does not change who runs out of time.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use nix::sys::resource::{Resource, UsageWho, getrusage, setrlimit};
use nix::sys::time::TimeValLike;

use crate::statistics::median;

/// The signal a program gets when its CPU time is over.
const SIGXCPU: i32 = 24;

/// What a program may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Seconds of CPU time.
    pub(crate) seconds: u64,
    /// Bytes of address space.
    pub(crate) memory: u64,
}

/// How a program ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// With this exit code.
    Exit(i32),
    /// Its CPU time was over.
    OutOfTime,
    /// By another signal, as when memory runs out.
    Signal(i32),
}

/// What a program took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// Seconds of CPU time outside the kernel.
    pub(crate) user: f64,
    /// Seconds of CPU time in the kernel, most of it for fresh memory.
    pub(crate) system: f64,
    /// Seconds on the clock.
    pub(crate) wall: f64,
    /// The most bytes that were in memory at once.
    pub(crate) peak: u64,
    /// How it ended.
    pub(crate) end: End,
}

impl Usage {
    /// Seconds of CPU time.
    pub(crate) fn cpu(&self) -> f64 {
        self.user + self.system
    }

    /// Whether it ended with an answer: 0, or 1 for a violation.
    pub(crate) fn answered(&self) -> bool {
        matches!(self.end, End::Exit(0 | 1))
    }

    /// How it ended, where it gave no answer.
    pub(crate) fn failure(&self) -> Option<String> {
        match self.end {
            End::Exit(0 | 1) => None,
            End::Exit(code) => Some(format!("exit code {code}")),
            End::OutOfTime => Some("out of time".to_owned()),
            End::Signal(signal) => Some(format!("killed by signal {signal}")),
        }
    }

    /// The run with the median CPU time; a run without an answer if there is one.
    pub(crate) fn middle(runs: &[Usage]) -> Option<Usage> {
        if let Some(failed) = runs.iter().find(|run| !run.answered()) {
            return Some(*failed);
        }
        let times: Vec<f64> = runs.iter().map(Usage::cpu).collect();
        let middle = median(&times)?;
        let distance = |run: &&Usage| (run.cpu() - middle).abs();
        runs.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).copied()
    }
}

/// A program to be measured.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The program and its arguments.
    pub(crate) words: Vec<OsString>,
    /// Where its output goes.
    pub(crate) output: PathBuf,
}

/// Runs a program under a supervisor.
pub(crate) fn measure(program: &Program, limits: Limits) -> io::Result<Usage> {
    let reply = Command::new(std::env::current_exe()?)
        .arg("supervise")
        .args(["--seconds", &limits.seconds.to_string()])
        .args(["--memory", &limits.memory.to_string()])
        .arg("--output")
        .arg(&program.output)
        .arg("--")
        .args(&program.words)
        .stderr(Stdio::inherit())
        .output()?;
    parse(&String::from_utf8_lossy(&reply.stdout))
        .ok_or_else(|| io::Error::other(format!("could not run {:?}", program.words)))
}

/// The supervisor's side: runs the program and prints a line that [`measure`] reads.
pub(crate) fn supervise(words: &[OsString], output: &Path, limits: Limits) -> io::Result<()> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(io::Error::other("no program to run"));
    };
    setrlimit(Resource::RLIMIT_CPU, limits.seconds, limits.seconds + 5)?;
    setrlimit(Resource::RLIMIT_AS, limits.memory, limits.memory)?;
    // A crash of the program is an observation, not something to debug.
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    let start = Instant::now();
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(File::create(output)?)
        .stderr(Stdio::null())
        .status()?;
    let wall = start.elapsed();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let code = status.code().unwrap_or_else(|| -status.signal().unwrap_or(0));
    println!(
        "{} {} {} {} {code}",
        usage.user_time().num_microseconds(),
        usage.system_time().num_microseconds(),
        wall.as_micros(),
        usage.max_rss(),
    );
    Ok(())
}

fn parse(line: &str) -> Option<Usage> {
    let numbers: Vec<i64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let &[user, system, wall, kibibytes, code] = &numbers[..] else { return None };
    let seconds = |micros: i64| micros as f64 / 1e6;
    let end = match i32::try_from(code).ok()? {
        code if code >= 0 => End::Exit(code),
        code if code == -SIGXCPU => End::OutOfTime,
        code => End::Signal(-code),
    };
    Some(Usage {
        user: seconds(user),
        system: seconds(system),
        wall: seconds(wall),
        peak: u64::try_from(kibibytes).ok()? * 1024,
        end,
    })
}

/// A program of this name on the PATH.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_supervisor_is_read_back() {
        let usage = parse("1500000 250000 2000000 2048 0\n").unwrap();
        assert_eq!((usage.cpu(), usage.peak, usage.end), (1.75, 2 << 20, End::Exit(0)));
        assert_eq!(parse("1 1 1 1 -24").unwrap().end, End::OutOfTime);
        assert_eq!(parse("1 1 1 1 -9").unwrap().end, End::Signal(9));
        assert!(parse("").is_none());
    }

    #[test]
    fn the_middle_run_is_the_median_unless_one_failed() {
        let run = |user, end| Usage { user, system: 0.0, wall: user, peak: 0, end };
        let runs = [1.0, 9.0, 2.0].map(|user| run(user, End::Exit(0)));
        assert_eq!(Usage::middle(&runs).unwrap().user, 2.0);
        let failed = [runs[0], run(60.0, End::OutOfTime)];
        assert_eq!(Usage::middle(&failed).unwrap().end, End::OutOfTime);
    }
}
