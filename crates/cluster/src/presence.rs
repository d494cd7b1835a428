//! Who is still there. A process that is lost is noticed by all others, which then end.
//!
//! Between any two processes there is a connection that carries nothing while all is well. A process
//! that ends, however it ends, closes it. A machine that is gone, or a network that is cut, is noticed
//! by the probes that the system sends on idle connections; a process that is only stopped (SIGSTOP)
//! is not lost, since its system still answers them. A process that notices a loss reports to all others which process
//! it is before it ends itself, so that nobody takes the second process to end for the first.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::socket::{setsockopt, sockopt};

/// Seconds until an idle connection is probed, between two probes, and how many may be lost.
const PROBES: (u32, u32, u32) = (2, 2, 3);

/// How long a process waits for others once it needs nothing more of them.
const FAREWELL: Duration = Duration::from_secs(5);

/// A process that is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Its number.
    pub process: usize,
    /// Its `host:port`.
    pub address: String,
    /// The level that was being searched.
    pub level: u32,
}

/// A search cannot go on since a process is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost;

/// What a process has done so far, for who watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Share {
    /// States that it owns.
    pub states: u64,
    /// Rules that it has fired.
    pub rules_fired: u64,
    /// States that it has expanded.
    pub expanded: u64,
    /// Bytes of memory for them.
    pub bytes: u64,
}

/// What all threads of a process know of the other processes.
#[derive(Debug)]
pub(crate) struct Presence {
    process: usize,
    addresses: Vec<String>,
    /// Set with the loss.
    is_lost: AtomicBool,
    loss: Mutex<Option<(usize, u32)>>,
    /// Whether this process has all it needs: who goes now is not missed.
    ending: AtomicBool,
    /// Since when.
    ended: OnceLock<Instant>,
    level: AtomicU32,
    /// Connections to which everything of a search was written, and from which everything was read.
    flushed: AtomicUsize,
    drained: AtomicUsize,
    watches: Vec<Option<TcpStream>>,
    shares: Mutex<Vec<Share>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Presence {
    /// Begins to watch the other processes, one connection for each.
    pub(crate) fn watching(
        process: usize,
        addresses: Vec<String>,
        watches: Vec<Option<TcpStream>>,
    ) -> std::io::Result<Arc<Presence>> {
        let mut readers = Vec::new();
        for (peer, watch) in watches.iter().enumerate() {
            if let Some(watch) = watch {
                probe(watch);
                // A word about a loss is never worth waiting for.
                watch.set_write_timeout(Some(Duration::from_millis(500)))?;
                readers.push((peer, watch.try_clone()?));
            }
        }
        let presence = Arc::new(Presence {
            process,
            is_lost: AtomicBool::new(false),
            loss: Mutex::default(),
            ending: AtomicBool::new(false),
            ended: OnceLock::new(),
            level: AtomicU32::new(0),
            flushed: AtomicUsize::new(0),
            drained: AtomicUsize::new(0),
            watches,
            shares: Mutex::new(vec![Share::default(); addresses.len()]),
            addresses,
        });
        for (peer, stream) in readers {
            let presence = Arc::clone(&presence);
            let name = format!("watch-{peer}");
            thread::Builder::new().name(name).spawn(move || presence.watch(peer, stream))?;
        }
        Ok(presence)
    }

    /// The number of this process.
    pub(crate) fn process(&self) -> usize {
        self.process
    }

    /// How many processes there are.
    pub(crate) fn processes(&self) -> usize {
        self.addresses.len()
    }

    /// Waits for the end of a process, or for news of another's.
    fn watch(&self, peer: usize, mut stream: TcpStream) {
        let mut news = [0; 8];
        match stream.read_exact(&mut news) {
            Ok(()) => {
                let [a, b, c, d, e, f, g, h] = news;
                let number = |bytes| u32::from_le_bytes(bytes);
                self.lose(number([a, b, c, d]) as usize, number([e, f, g, h]));
            }
            Err(_) => self.miss(peer),
        }
    }

    /// A process is no longer there.
    pub(crate) fn miss(&self, peer: usize) {
        if !self.ending.load(SeqCst) {
            self.lose(peer, self.level.load(SeqCst));
        }
    }

    /// Records the first process that is lost, and reports it to all others.
    fn lose(&self, process: usize, level: u32) {
        let mut loss = lock(&self.loss);
        if loss.is_some() || self.ending.load(SeqCst) {
            return;
        }
        *loss = Some((process.min(self.addresses.len() - 1), level));
        let news = [(process as u32).to_le_bytes(), level.to_le_bytes()].concat();
        for watch in self.watches.iter().flatten() {
            // Who does not hear it notices by itself.
            let _ = (&mut &*watch).write_all(&news);
        }
        self.is_lost.store(true, SeqCst);
    }

    /// Fails if a process is lost, or if others take too long to leave.
    pub(crate) fn all_there(&self) -> Result<(), Lost> {
        let is_late = || self.ended.get().is_some_and(|since| since.elapsed() > FAREWELL);
        match self.is_lost.load(SeqCst) || self.ending.load(SeqCst) && is_late() {
            true => Err(Lost),
            false => Ok(()),
        }
    }

    /// The process that is lost.
    pub(crate) fn loss(&self) -> Option<Loss> {
        let (process, level) = (*lock(&self.loss))?;
        Some(Loss { process, level, address: self.addresses[process].clone() })
    }

    /// The level that is being searched.
    pub(crate) fn enter_level(&self, level: u32) {
        self.level.store(level, SeqCst);
    }

    /// From now on this process needs nobody.
    pub(crate) fn end(&self) {
        let _ = self.ended.set(Instant::now());
        self.ending.store(true, SeqCst);
    }

    /// Another search begins.
    pub(crate) fn begin_search(&self) {
        self.flushed.store(0, SeqCst);
        self.drained.store(0, SeqCst);
        lock(&self.shares).fill(Share::default());
    }

    /// Everything of a search was written to another process.
    pub(crate) fn flushed(&self) {
        self.flushed.fetch_add(1, SeqCst);
    }

    /// Everything of a search was read from another process.
    pub(crate) fn drained(&self) {
        self.drained.fetch_add(1, SeqCst);
    }

    /// Waits until everything of a search was written to all others, and read from them.
    pub(crate) fn wait_for_end_of_search(&self) {
        let others = self.processes() - 1;
        let is_over = || self.flushed.load(SeqCst) >= others && self.drained.load(SeqCst) >= others;
        while !is_over() && self.all_there().is_ok() {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Keeps what a process has done.
    pub(crate) fn put_share(&self, process: usize, share: Share) {
        if let Some(kept) = lock(&self.shares).get_mut(process) {
            *kept = share;
        }
    }

    /// What each process has done, as far as is known here.
    pub(crate) fn shares(&self) -> Vec<Share> {
        lock(&self.shares).clone()
    }
}

/// Has the system look after an idle connection. Where it cannot, a machine that is gone is noticed
/// late.
fn probe(stream: &TcpStream) {
    let (idle, interval, count) = PROBES;
    let _ = setsockopt(stream, sockopt::KeepAlive, &true);
    #[cfg(target_os = "linux")]
    let _ = setsockopt(stream, sockopt::TcpKeepIdle, &idle);
    #[cfg(not(target_os = "linux"))]
    let _ = idle;
    let _ = setsockopt(stream, sockopt::TcpKeepInterval, &interval);
    let _ = setsockopt(stream, sockopt::TcpKeepCount, &count);
}
