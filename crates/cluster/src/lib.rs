//! Processes that search together: who they are, what they send each other, and how they end.
//!
//! [`connect`] brings the processes of a cluster together: each proves to each other that it knows a
//! secret and was asked the same question (`handshake.rs`). Of a [`Cluster`], every thread takes a
//! [`Seat`] and is then a [`Member`]: a worker of timely dataflow, which sends records to other workers
//! (with credit, so that memory is bounded), learns when a level is complete, and gathers notes of all
//! (`member.rs`). A process that is lost ends all others (`presence.rs`).

#![forbid(unsafe_code)]

mod connect;
mod handshake;
mod hosts;
mod line;
mod local;
mod member;
mod packet;
mod presence;
mod secret;

use std::fmt;
use std::net::TcpStream;
use std::sync::{Arc, Mutex, Once, PoisonError};

use timely::communication::Hooks;
use timely::communication::allocator::ProcessBuilder;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;

pub use connect::{Failed, Plan, connect};
pub use handshake::Identity;
pub use hosts::{WrongHosts, read_hosts};
pub use local::{Children, Invitation, join_parent, start_children};
pub use member::{Member, Seat, WINDOW};
pub use presence::{Loss, Lost, Share};
pub use secret::Secret;

use line::Line;
use presence::Presence;

/// The processes that search together, as one of them sees it. It is good for one search.
#[derive(Clone)]
pub struct Cluster(Arc<Inner>);

struct Inner {
    presence: Arc<Presence>,
    threads: usize,
    seats: Mutex<Option<Vec<Seat>>>,
}

impl Cluster {
    /// Of connections to all others, two for each.
    fn new(
        (process, threads): (usize, usize),
        addresses: Vec<String>,
        data: Vec<Option<TcpStream>>,
        watches: Vec<Option<TcpStream>>,
    ) -> std::io::Result<Cluster> {
        let presence = Presence::watching(process, addresses, watches)?;
        let line = |(peer, stream): (usize, Option<TcpStream>)| {
            let presence = Arc::clone(&presence);
            stream.map(|stream| Line { stream, peer, presence })
        };
        let lines: Vec<_> = data.into_iter().enumerate().map(line).collect();
        silence_timely();
        let hooks = Hooks::default();
        let local = ProcessBuilder::new_typed_vector(threads, hooks.refill.clone(), None);
        let (builders, guard) =
            initialize_networking_from_sockets(local, lines, process, threads, hooks)?;
        // It would wait for threads that wait for ever once a process is lost.
        std::mem::forget(guard);
        let seat = |builder| {
            let presence = Arc::clone(&presence);
            Seat { builder, presence, threads }
        };
        let seats = Mutex::new(Some(builders.into_iter().map(seat).collect()));
        Ok(Cluster(Arc::new(Inner { presence: Arc::clone(&presence), threads, seats })))
    }

    /// The number of this process.
    pub fn process(&self) -> usize {
        self.0.presence.process()
    }

    /// How many processes there are.
    pub fn processes(&self) -> usize {
        self.0.presence.processes()
    }

    /// Threads of each process.
    pub fn threads(&self) -> usize {
        self.0.threads
    }

    /// A place for each thread of this process; nothing the second time.
    pub fn seats(&self) -> Vec<Seat> {
        let mut seats = self.0.seats.lock().unwrap_or_else(PoisonError::into_inner);
        seats.take().unwrap_or_default()
    }

    /// The process that is lost.
    pub fn loss(&self) -> Option<Loss> {
        self.0.presence.loss()
    }

    /// What each process has done, as far as is known here; the first process knows of all.
    pub fn shares(&self) -> Vec<Share> {
        self.0.presence.shares()
    }

    /// Keeps what this process has done.
    pub fn put_share(&self, share: Share) {
        self.0.presence.put_share(self.process(), share);
    }

    /// Gives up: this process is lost for the others, and they for it.
    pub fn abandon(&self) {
        self.0.presence.miss(self.process());
    }

    /// After the last thread has left: waits until everything was written to the others.
    pub fn finish(&self) {
        self.0.presence.wait_for_flush();
    }
}

/// Timely's threads panic if a search ends before its first message, for want of memory for one. What
/// happened is known here and reported; theirs would look like a crash.
fn silence_timely() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let thread = std::thread::current();
            if !thread.name().is_some_and(|name| name.starts_with("timely:")) {
                report(panic);
            }
        }));
    });
}

impl PartialEq for Cluster {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Cluster {}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cluster(process {} of {})", self.process(), self.processes())
    }
}
