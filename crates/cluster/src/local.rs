//! Several processes on this machine: the first starts the others and tells them, by their standard
//! input, what only they may know.
//!
//! A child listens at a port that the system chooses and writes its number to its standard output;
//! the parent writes the secret and the addresses of all to its standard input. Nothing of it is on
//! a command line, which everybody could read.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::secret::Secret;

/// Where all processes on this machine listen.
const HERE: &str = "127.0.0.1:0";
/// How long children may take to end by themselves.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a process has to know to take part.
#[derive(Debug)]
pub struct Invitation {
    /// `host:port` of each process.
    pub addresses: Vec<String>,
    /// What all processes know.
    pub secret: Secret,
    /// Where this process listens.
    pub listener: TcpListener,
}

/// Processes that were started. They are ended when this is dropped, if they do not end by
/// themselves.
#[derive(Debug)]
pub struct Children(Vec<Child>);

/// Starts the processes 1 to `processes` − 1 by these commands, each of which calls [`join_parent`].
pub fn start_children(
    processes: usize,
    command: impl Fn(usize) -> std::io::Result<Command>,
) -> Result<(Invitation, Children), String> {
    let wrong = |error: std::io::Error| format!("cannot start {processes} processes: {error}");
    let secret = Secret::random()?;
    let listener = TcpListener::bind(HERE).map_err(wrong)?;
    let mut addresses = vec![listener.local_addr().map_err(wrong)?.to_string()];
    let mut children = Children(Vec::new());
    for process in 1..processes {
        let mut command = command(process).map_err(wrong)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        children.0.push(command.spawn().map_err(wrong)?);
    }
    for (number, child) in children.0.iter_mut().enumerate() {
        let mut line = String::new();
        if let Some(stdout) = &mut child.stdout {
            BufReader::new(stdout).read_line(&mut line).map_err(wrong)?;
        }
        let port: u16 = line.trim().parse().map_err(|_| {
            let process = number + 1;
            format!("process {process} did not start; its message is above")
        })?;
        addresses.push(format!("127.0.0.1:{port}"));
    }
    let invitation = format!("{secret}\n{}\n", addresses.join(" "));
    for child in &mut children.0 {
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(invitation.as_bytes()).map_err(wrong)?;
        }
    }
    let secret = Secret::of_file(secret.as_bytes())?;
    Ok((Invitation { addresses, secret, listener }, children))
}

/// In a started process: sends its address to the parent, and receives those of all processes.
pub fn join_parent() -> Result<Invitation, String> {
    let wrong = |error: std::io::Error| {
        format!("cannot connect to the process that started this one: {error}")
    };
    let listener = TcpListener::bind(HERE).map_err(wrong)?;
    let port = listener.local_addr().map_err(wrong)?.port();
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{port}").and_then(|()| stdout.flush()).map_err(wrong)?;
    let mut lines = std::io::stdin().lock().lines();
    let mut line = || {
        let none = || Err(std::io::Error::other("it has gone"));
        lines.next().unwrap_or_else(none).map_err(wrong)
    };
    let (secret, addresses) = (line()?, line()?);
    let addresses = addresses.split_whitespace().map(str::to_owned).collect();
    Ok(Invitation { addresses, secret: Secret::of_file(secret.as_bytes())?, listener })
}

impl Drop for Children {
    fn drop(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        for child in &mut self.0 {
            while Instant::now() < deadline && matches!(child.try_wait(), Ok(None)) {
                std::thread::sleep(Duration::from_millis(2));
            }
            if matches!(child.try_wait(), Ok(None)) {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}
