//! Processes that search together: who they are, what they send each other, and how they end.
//!
//! [`connect`] brings the processes of a cluster together: each proves to each other that it knows a
//! secret and was asked the same question (`handshake.rs`). Of a [`Cluster`], every thread takes a
//! [`Seat`] and is then a [`Member`]: a worker of timely dataflow, which sends records to other workers
//! (with credit, so that memory is bounded), learns when a level is complete, and gathers notes of all
//! (`member.rs`). A process that is lost ends all others (`presence.rs`).
//!
//! A cluster is for one search, for several on which all processes [agree](Cluster::any), or for as many
//! as the first process likes: between searches it tells the others what comes next (`wire.rs`).

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
mod wire;

use std::fmt;
use std::io;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Once};

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
use wire::Wire;

/// The processes that search together, as one of them sees it.
#[derive(Clone)]
pub struct Cluster(Arc<Inner>);

struct Inner {
    presence: Arc<Presence>,
    threads: usize,
    wires: Vec<Option<Arc<Wire>>>,
    /// Whether the first process leads the others through several searches.
    is_led: bool,
    /// Whether another search may follow the next one, though nobody leads.
    goes_on: AtomicBool,
    /// Whether the last search has begun.
    is_over: AtomicBool,
}

impl Cluster {
    /// Of connections to all others, two for each.
    fn new(
        (process, threads, is_led): (usize, usize, bool),
        addresses: Vec<String>,
        data: Vec<Option<TcpStream>>,
        watches: Vec<Option<TcpStream>>,
    ) -> io::Result<Cluster> {
        let presence = Presence::watching(process, addresses, watches)?;
        let wire = |(peer, stream): (usize, Option<TcpStream>)| {
            stream.map(|stream| Arc::new(Wire::new(stream, peer, Arc::clone(&presence))))
        };
        let wires = data.into_iter().enumerate().map(wire).collect();
        silence_timely();
        let (goes_on, is_over) = (AtomicBool::new(is_led), AtomicBool::new(false));
        Ok(Cluster(Arc::new(Inner { presence, threads, wires, is_led, goes_on, is_over })))
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

    /// Whether the first process leads the others through several searches.
    pub fn is_led(&self) -> bool {
        self.0.is_led
    }

    /// Whether another search may follow the next one; not, unless this is called in all processes or
    /// the first one leads.
    pub fn expect_another(&self, goes_on: bool) {
        self.0.goes_on.store(goes_on || self.0.is_led, SeqCst);
    }

    /// Begins a search: a place for each thread of this process. All processes have to. There is none
    /// after the last search, or if the threads of a connection cannot be started, so that this process
    /// gives up.
    pub fn seats(&self) -> Vec<Seat> {
        let Inner { presence, threads, wires, goes_on, is_over, .. } = &*self.0;
        let is_last = !goes_on.load(SeqCst);
        if is_over.swap(is_last, SeqCst) {
            return Vec::new();
        }
        presence.begin_search();
        let lines: Vec<_> =
            wires.iter().map(|wire| wire.as_ref().map(|wire| Line(Arc::clone(wire)))).collect();
        let hooks = Hooks::default();
        let local = ProcessBuilder::new_typed_vector(*threads, hooks.refill.clone(), None);
        let begun =
            initialize_networking_from_sockets(local, lines, self.process(), *threads, hooks);
        let Ok((builders, guard)) = begun else {
            self.abandon();
            return Vec::new();
        };
        // It would wait for threads that wait for ever once a process is lost.
        std::mem::forget(guard);
        let seat = |builder| {
            let presence = Arc::clone(presence);
            Seat { builder, presence, threads: *threads, is_last }
        };
        builders.into_iter().map(seat).collect()
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

    /// After the last thread has left a search: waits until everything of it was written to the others
    /// and read from them.
    pub fn finish(&self) {
        self.0.presence.wait_for_end_of_search();
    }

    /// Between searches, the first process tells all others something.
    pub fn tell(&self, message: &[u8]) -> Result<(), Lost> {
        self.0.wires.iter().flatten().try_for_each(|wire| wire.tell(message))
    }

    /// Between searches, another process waits for what the first one says.
    pub fn hear(&self) -> Result<Vec<u8>, Lost> {
        self.0.wires.first().and_then(Option::as_ref).ok_or(Lost)?.hear()
    }

    /// Before or after a search, where nobody leads: whether any process says yes. All have to ask.
    pub fn any(&self, own: bool) -> Result<bool, Lost> {
        self.tell(&[u8::from(own)])?;
        let mut any = own;
        for wire in self.0.wires.iter().flatten() {
            any |= wire.hear()? == [1];
        }
        Ok(any)
    }

    /// Leaves, together with all others, after the last search: nobody is missed from now on.
    pub fn part(&self) {
        self.0.is_over.store(true, SeqCst);
        self.0.presence.end();
        // Whoever cannot be told any more has left.
        for wire in self.0.wires.iter().flatten() {
            let _ = wire.tell(&[]);
        }
        for wire in self.0.wires.iter().flatten() {
            let _ = wire.hear();
        }
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
