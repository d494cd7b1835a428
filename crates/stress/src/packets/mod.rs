//! Test programs with the accesses of a workload, from packet traces of gem5.
//!
//! A packet trace has the command, the address and the requestor of every packet, and no data: it does
//! not say what a load returned, so that nothing can be judged by it. What it has is which accesses
//! race. Here they become programs, one for each window of packets: a thread for each requestor, the
//! words that its packets access, a distinct value for every store. A program in which no word is
//! written by one requestor and accessed by another is left out, since it has one outcome on every
//! machine.
//!
//! One pass over the trace; a window is in memory at a time.

mod wire;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::Read;

use history::AddressLabel;
use wire::{Messages, Packet};

use crate::program::{Action, Instruction, Place, Program};

/// `MemCmd::ReadReq` and `MemCmd::WriteReq`, the same in all versions of gem5; the numbers of other
/// commands have changed.
const READ: u64 = 1;
const WRITE: u64 = 4;

/// Flags of requests.
const FETCH: u64 = 0x100;
const SWAP: u64 = 0x0040_0000;
const PREFETCH: u64 = 0x0300_0000;

/// Words of 8 bytes, lines of 64.
const WORD: u64 = 8;
const LINE: u64 = 64;

/// What is wrong with a packet trace, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PacketError {
    /// The file, as the user named it.
    pub file: String,
    /// The byte of the unpacked trace at which the message begins.
    pub offset: u64,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for PacketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PacketError { file, offset, reason } = self;
        write!(f, "{file}: byte {offset}: {reason}")
    }
}

impl std::error::Error for PacketError {}

/// What became of the packets of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PacketCounts {
    /// Loads and stores that are in a program, or in a window without a race.
    pub accesses: u64,
    /// Instruction fetches and prefetches.
    pub fetches: u64,
    /// Packets with other commands: writebacks, upgrades, …
    pub others: u64,
    /// Windows in which no two requestors race.
    pub without_race: u64,
}

/// The programs of a packet trace, one for each window in which requestors race.
///
/// ```
/// use tribunal_stress::PacketPrograms;
///
/// // A header without names; requestor 1 writes 0x40, requestor 2 reads it.
/// let header = b"\x0a\x01m\x18\x01";
/// let write = b"\x08\x01\x10\x04\x18\x40\x20\x04\x30\x01";
/// let read = b"\x08\x02\x10\x01\x18\x40\x20\x04\x30\x02";
/// let mut trace = b"gem5".to_vec();
/// for message in [&header[..], write, read] {
///     trace.push(message.len() as u8);
///     trace.extend_from_slice(message);
/// }
/// let mut programs = PacketPrograms::new(&trace[..], "m.trc", 100)?;
/// let program = programs.next().unwrap()?;
/// assert_eq!((program.threads.len(), program.len()), (2, 2));
/// assert!(programs.next().is_none());
/// # Ok::<(), tribunal_stress::PacketError>(())
/// ```
pub struct PacketPrograms<R> {
    messages: Messages<R>,
    /// Requestors that fetch instructions, translate or prefetch.
    left_out: BTreeSet<u64>,
    window: usize,
    made: u64,
    counts: PacketCounts,
    ended: bool,
}

impl<R: Read> PacketPrograms<R> {
    /// Reads a trace; a program has the accesses of at most `window` packets. `file` is what errors
    /// call it.
    pub fn new(input: R, file: &str, window: usize) -> Result<Self, PacketError> {
        let mut messages = Messages::new(input, file)?;
        let names = messages.header()?;
        let is_left_out = |name: &str| {
            name.ends_with(".inst") || name.contains("walker") || name.contains("prefetcher")
        };
        let left_out =
            names.iter().filter(|(_, name)| is_left_out(name)).map(|&(number, _)| number);
        let left_out = left_out.collect();
        let window = window.max(1);
        Ok(PacketPrograms {
            messages,
            left_out,
            window,
            made: 0,
            counts: PacketCounts::default(),
            ended: false,
        })
    }

    /// What became of the packets so far.
    pub fn counts(&self) -> PacketCounts {
        self.counts
    }

    /// The next packets that count; fewer than a window at the end.
    fn window(&mut self) -> Result<Vec<Packet>, PacketError> {
        let mut window = Vec::new();
        while window.len() < self.window {
            let Some(packet) = self.messages.packet()? else {
                self.ended = true;
                break;
            };
            if packet.flags & (FETCH | PREFETCH) != 0 || self.left_out.contains(&packet.requestor) {
                self.counts.fetches += 1;
            } else if matches!(packet.command, READ | WRITE) {
                self.counts.accesses += 1;
                window.push(packet);
            } else {
                self.counts.others += 1;
            }
        }
        Ok(window)
    }
}

impl<R: Read> Iterator for PacketPrograms<R> {
    type Item = Result<Program, PacketError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            let window = match self.window() {
                Ok(window) => window,
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            };
            if window.is_empty() {
                continue;
            }
            if !races(&window) {
                self.counts.without_race += 1;
                continue;
            }
            self.made += 1;
            return Some(Ok(program(&window, format!("packets-{}", self.made))));
        }
        None
    }
}

/// The words that a packet accesses.
fn words(packet: &Packet) -> impl Iterator<Item = u64> + use<> {
    let first = packet.address / WORD;
    let last = packet.address.saturating_add(packet.size.clamp(1, LINE) - 1) / WORD;
    (first..=last).map(|word| word * WORD)
}

/// Whether a word is written by one requestor and accessed by another.
fn races(window: &[Packet]) -> bool {
    let mut users: BTreeMap<u64, (u64, bool, bool)> = BTreeMap::new();
    for packet in window {
        let writes = packet.command == WRITE;
        for word in words(packet) {
            let (first, shared, written) =
                users.entry(word).or_insert((packet.requestor, false, false));
            *shared |= *first != packet.requestor;
            *written |= writes;
        }
    }
    users.values().any(|&(_, shared, written)| shared && written)
}

/// The program of a window: threads in the order of the numbers of their requestors, an access for
/// each word of a packet.
fn program(window: &[Packet], name: String) -> Program {
    let all: BTreeSet<u64> = window.iter().flat_map(words).collect();
    let lines: BTreeSet<u64> = all.iter().map(|word| word / LINE).collect();
    let lines: BTreeMap<u64, u32> = lines.into_iter().zip(0..).collect();
    let places = all.iter().map(|&word| Place {
        label: AddressLabel::Number(word),
        initial: 0,
        line: lines[&(word / LINE)],
        word: (word % LINE / WORD) as u8,
    });
    let numbers: BTreeMap<u64, u32> = all.iter().copied().zip(0..).collect();
    let requestors: BTreeSet<u64> = window.iter().map(|packet| packet.requestor).collect();
    let threads: BTreeMap<u64, usize> = requestors.into_iter().zip(0..).collect();
    let mut instructions = vec![Vec::new(); threads.len()];
    let mut value = 0;
    for packet in window {
        for word in words(packet) {
            let place = numbers[&word];
            let action = if packet.flags & SWAP != 0 {
                value += 1;
                Action::Swap { place, value }
            } else if packet.command == WRITE {
                value += 1;
                Action::Store { place, value }
            } else {
                Action::Load { place }
            };
            instructions[threads[&packet.requestor]].push(Instruction::plain(action));
        }
    }
    Program { name, places: places.collect(), threads: instructions }
}
