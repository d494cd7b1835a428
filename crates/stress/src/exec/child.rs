//! A command in a process group of its own, which does not outlive its owner.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::target::TargetError;

/// The number of lines of standard error that are kept, and the bytes of each.
const LAST_LINES: usize = 10;
const LINE_BYTES: u64 = 500;

/// A started command. When it is dropped, it is ended, with all it has started.
pub(super) struct Child {
    child: std::process::Child,
    errors: Arc<Mutex<VecDeque<String>>>,
}

/// How a command ended.
pub(super) enum Ended {
    /// It has not.
    Running,
    /// With status 0.
    Well,
    /// Otherwise; the words say how.
    Badly(String),
}

impl Child {
    /// Starts a command and sends it its order.
    pub(super) fn start(command: &str, order: String) -> Result<Self, TargetError> {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut shell, 0);
        let unavailable = |error| TargetError::Unavailable(format!("cannot run `sh`: {error}"));
        let mut child = shell.spawn().map_err(unavailable)?;
        if let Some(mut stdin) = child.stdin.take() {
            // A command that does not read its order is its own affair.
            let _ = thread::Builder::new().spawn(move || stdin.write_all(order.as_bytes()));
        }
        let errors = Arc::new(Mutex::new(VecDeque::new()));
        if let Some(stderr) = child.stderr.take() {
            let errors = Arc::clone(&errors);
            let _ = thread::Builder::new().spawn(move || keep_last(stderr, &errors));
        }
        Ok(Child { child, errors })
    }

    pub(super) fn stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Waits for it to end, no longer than this.
    pub(super) fn wait_until(&mut self, deadline: Instant) -> Ended {
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) if status.success() => return Ended::Well,
                Ok(Some(status)) => return Ended::Badly(how(status)),
                Ok(None) if Instant::now() < deadline => {
                    thread::sleep(Duration::from_millis(1));
                }
                Ok(None) | Err(_) => return Ended::Running,
            }
        }
    }

    /// The error about misbehaviour, with the last lines of standard error.
    pub(super) fn misbehaved(mut self, what: &str) -> TargetError {
        // One that crashes may still be about to say so, and why.
        let crashed = self.wait_until(Instant::now() + Duration::from_millis(100));
        let mut sentence = format!("the target {what}");
        // That its output is closed is our doing.
        let ours = ["was killed by signal 13", "exited with status 141"];
        if let Ended::Badly(how) = crashed
            && how != what
            && !ours.contains(&how.as_str())
        {
            sentence += &format!("; it {how}");
        }
        self.end();
        thread::sleep(Duration::from_millis(5));
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        if !errors.is_empty() {
            sentence += "\nlast lines of its standard error:";
            for line in errors.iter() {
                sentence += &format!("\n  {line}");
            }
        }
        TargetError::Misbehaved(sentence)
    }

    /// Ends it, and whatever it started that has stayed in its group.
    fn end(&mut self) {
        #[cfg(unix)]
        if let Ok(id) = i32::try_from(self.child.id()) {
            use nix::sys::signal::{Signal, killpg};
            let _ = killpg(nix::unistd::Pid::from_raw(id), Signal::SIGKILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.end();
    }
}

fn how(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("was killed by signal {signal}");
    }
    match status.code() {
        Some(code) => format!("exited with status {code}"),
        None => "was killed".to_owned(),
    }
}

/// Keeps the last lines of an output that may be endless, in lines that may be endless.
fn keep_last(stderr: impl Read, lines: &Mutex<VecDeque<String>>) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut stderr).take(LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text: String = String::from_utf8_lossy(&line)
            .trim_end()
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LAST_LINES {
            lines.pop_front();
        }
        lines.push_back(text);
    }
}
