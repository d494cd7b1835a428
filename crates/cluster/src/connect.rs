//! Brings the processes of a cluster together: each listens for those with higher numbers and calls
//! those with lower ones, twice for each.
//!
//! Whoever calls without knowing the secret, or with another question, is refused and named, and the
//! others are waited for; once all are there nobody listens any more. Each caller is answered by a
//! thread of its own, so that one who says nothing holds up nobody.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::Cluster;
use crate::handshake::{self, Call, Identity, Purpose, Refused};
use crate::secret::Secret;

/// How long to wait before calling again.
const AGAIN: Duration = Duration::from_millis(50);
/// How long one call may take to get through.
const CALL: Duration = Duration::from_secs(5);
/// Callers that are answered at a time; more are turned away.
const CALLERS: usize = 64;

/// A cluster to be brought together.
#[derive(Debug)]
pub struct Plan {
    /// The number of this process.
    pub process: usize,
    /// `host:port` of each process.
    pub addresses: Vec<String>,
    /// Threads of each process.
    pub threads: usize,
    /// Whether the first process leads the others through several searches; else there is one.
    pub is_led: bool,
    /// What all processes know.
    pub secret: Secret,
    /// What all processes were asked.
    pub identity: Identity,
    /// Where this process listens already, if it does.
    pub listener: Option<TcpListener>,
    /// How long to wait for the others.
    pub patience: Duration,
}

/// Why processes did not come together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failed {
    /// A process is not one of this cluster, or this one is not; the sentence says why.
    Refused(String),
    /// Some did not come in time.
    Absent(String),
    /// Somebody interrupted it.
    Interrupted,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failed::Refused(why) | Failed::Absent(why) => f.write_str(why),
            Failed::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Failed {}

/// Waits for all processes. `remark` hears who was refused; setting `interrupt` ends the waiting.
pub fn connect(
    mut plan: Plan,
    remark: &(dyn Fn(&str) + Sync),
    interrupt: &AtomicBool,
) -> Result<Cluster, Failed> {
    let listener = plan.listener.take();
    let meeting = Meeting {
        lines: Mutex::new(plan.addresses.iter().map(|_| Lines::default()).collect()),
        failed: Mutex::new(None),
        deadline: Instant::now() + plan.patience,
        callers: Mutex::default(),
        interrupt,
        remark,
        plan: &plan,
    };
    let listener = match listener {
        Some(listener) => Some(listener),
        None if plan.process + 1 < plan.addresses.len() => Some(meeting.listen()?),
        None => None,
    };
    thread::scope(|scope| {
        for peer in 0..plan.process {
            let meeting = &meeting;
            scope.spawn(move || meeting.call(peer));
        }
        if let Some(listener) = &listener {
            meeting.answer(listener, scope);
        }
    });
    drop(listener);
    if let Some(failed) = lock(&meeting.failed).take() {
        return Err(failed);
    }
    let lines = std::mem::take(&mut *lock(&meeting.lines));
    let (data, watches) = lines.into_iter().map(|lines| (lines.data, lines.watch)).unzip();
    let how = (plan.process, plan.threads, plan.is_led);
    Cluster::new(how, plan.addresses.clone(), data, watches)
        .map_err(|error| Failed::Refused(format!("cannot start the threads of a cluster: {error}")))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The connections to a process.
#[derive(Default)]
struct Lines {
    data: Option<TcpStream>,
    watch: Option<TcpStream>,
}

impl Lines {
    fn line(&mut self, purpose: Purpose) -> &mut Option<TcpStream> {
        match purpose {
            Purpose::Data => &mut self.data,
            Purpose::Watch => &mut self.watch,
        }
    }
}

struct Meeting<'a> {
    plan: &'a Plan,
    lines: Mutex<Vec<Lines>>,
    failed: Mutex<Option<Failed>>,
    deadline: Instant,
    /// Those who have not said yet who they are.
    callers: Mutex<HashMap<SocketAddr, TcpStream>>,
    interrupt: &'a AtomicBool,
    remark: &'a (dyn Fn(&str) + Sync),
}

impl Meeting<'_> {
    fn fail(&self, why: Failed) {
        lock(&self.failed).get_or_insert(why);
    }

    /// Whether to wait no longer, since all are there or since it makes no sense.
    fn is_over(&self) -> bool {
        if self.interrupt.load(SeqCst) {
            self.fail(Failed::Interrupted);
        }
        let absent = self.absent();
        if !absent.is_empty() && Instant::now() >= self.deadline {
            let names: Vec<String> = absent.iter().map(|&peer| self.name(peer)).collect();
            let seconds = self.plan.patience.as_secs();
            self.fail(Failed::Absent(format!(
                "no connection with {} after {seconds} s",
                names.join(", ")
            )));
        }
        absent.is_empty() || lock(&self.failed).is_some()
    }

    /// The processes that are not there yet.
    fn absent(&self) -> Vec<usize> {
        let lines = lock(&self.lines);
        let is_absent = |peer: &usize| {
            *peer != self.plan.process
                && (lines[*peer].data.is_none() || lines[*peer].watch.is_none())
        };
        (0..lines.len()).filter(is_absent).collect()
    }

    fn name(&self, peer: usize) -> String {
        format!("process {peer} ({})", self.plan.addresses[peer])
    }

    /// Listens at the address of this process; where that is not one of this machine (behind a
    /// service, say), at its port on all addresses.
    fn listen(&self) -> Result<TcpListener, Failed> {
        let address = &self.plan.addresses[self.plan.process];
        let port = address.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or(0);
        let anywhere = [("::", port), ("0.0.0.0", port)];
        let bound = TcpListener::bind(&address[..]).or_else(|error| match error.kind() {
            io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied => Err(error),
            _ => TcpListener::bind(anywhere[0]).or_else(|_| TcpListener::bind(anywhere[1])),
        });
        bound.map_err(|error| Failed::Refused(format!("cannot listen at {address}: {error}")))
    }

    /// Calls a process until it answers.
    fn call(&self, peer: usize) {
        for purpose in [Purpose::Data, Purpose::Watch] {
            loop {
                if self.is_over() {
                    return;
                }
                match self.call_once(peer, purpose) {
                    Ok(stream) => {
                        *lock(&self.lines)[peer].line(purpose) = Some(stream);
                        break;
                    }
                    // It is not there yet, or has gone.
                    Err(Refused::Broken(_)) => thread::sleep(AGAIN),
                    Err(Refused::ByPeer(why)) => {
                        return self.fail(Failed::Refused(format!(
                            "{} refuses this process: {why}",
                            self.name(peer)
                        )));
                    }
                    Err(why) => {
                        return self.fail(Failed::Refused(format!("{}: {why}", self.name(peer))));
                    }
                }
            }
        }
    }

    fn call_once(&self, peer: usize, purpose: Purpose) -> Result<TcpStream, Refused> {
        let mut last = io::Error::other("the host has no address");
        for address in self.plan.addresses[peer].to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CALL) {
                Ok(mut stream) => {
                    let call = Call { from: self.plan.process, to: peer, purpose };
                    let Plan { secret, identity, .. } = self.plan;
                    handshake::call(&mut stream, call, secret, identity)?;
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(Refused::Broken(last))
    }

    /// Answers callers until all are there.
    fn answer<'scope, 'env: 'scope>(
        &'env self,
        listener: &TcpListener,
        scope: &'scope thread::Scope<'scope, 'env>,
    ) {
        if let Err(error) = listener.set_nonblocking(true) {
            return self.fail(Failed::Refused(format!("cannot listen: {error}")));
        }
        while !self.is_over() {
            match listener.accept() {
                Ok((stream, from)) => {
                    let Ok(other) = stream.try_clone() else { continue };
                    let mut callers = lock(&self.callers);
                    if callers.len() < CALLERS {
                        callers.insert(from, other);
                        scope.spawn(move || {
                            if let Err(why) = self.answer_one(stream, from) {
                                (self.remark)(&format!("refused a connection from {from}: {why}"));
                            }
                        });
                    }
                }
                Err(_) => thread::sleep(Duration::from_millis(5)),
            }
        }
        // Nobody waits for those who say nothing.
        for caller in lock(&self.callers).values() {
            let _ = caller.shutdown(Shutdown::Both);
        }
    }

    fn answer_one(&self, mut stream: TcpStream, from: SocketAddr) -> Result<(), Refused> {
        stream.set_nonblocking(false)?;
        let Plan { secret, identity, .. } = self.plan;
        let answered =
            handshake::answer(&mut stream, secret, identity, |call| self.is_expected(call));
        lock(&self.callers).remove(&from);
        let call = answered?;
        *lock(&self.lines)[call.from].line(call.purpose) = Some(stream);
        Ok(())
    }

    fn is_expected(&self, call: Call) -> Result<(), String> {
        let Call { from, to, purpose } = call;
        let own = self.plan.process;
        if to != own {
            return Err(format!(
                "this is process {own}, not {to}: the --cluster files of the processes differ"
            ));
        }
        if from <= own || from >= self.plan.addresses.len() {
            return Err(format!(
                "process {from} does not connect to process {own}: compare the values of --process"
            ));
        }
        match lock(&self.lines)[from].line(purpose) {
            Some(_) => Err(format!(
                "process {from} has connected already: two processes have the same --process"
            )),
            None => Ok(()),
        }
    }
}
