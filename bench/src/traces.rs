//! What a machine recorded, as a history or as a trace file; and traces of special kinds.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use history::{Builder, History, Operation, ThinAir};
use oracle::Rng;

use crate::machine::{Access, Fault, Machine, Mix, Recorded, Shape, TSO_BUFFER};

/// The history of a recorded trace, thread by thread: nothing of the order in which threads took
/// turns is left to be found.
pub(crate) fn history(shape: Shape, seed: u64) -> History {
    let mut threads: Vec<Vec<Access>> = vec![Vec::new(); shape.threads];
    for Recorded { thread, access } in Machine::new(shape, seed) {
        threads[thread].push(access);
    }
    let mut builder = Builder::new();
    let mut line = 0;
    for (thread, accesses) in threads.iter().enumerate() {
        for access in accesses {
            line += 1;
            let operation = operation(&mut builder, *access);
            builder.event(thread as u64, operation, line).expect("within the limits of a trace");
        }
    }
    builder.finish(ThinAir::Malformed).expect("a memory returns what was written")
}

fn operation(builder: &mut Builder, access: Access) -> Operation {
    let mut at = |address: usize| builder.address_numbered(address as u64);
    match access {
        Access::Read { address, value } => Operation::Read { address: at(address), value },
        Access::Write { address, value } => Operation::Write { address: at(address), value },
        Access::Atomic { address, read, write } => {
            Operation::ReadModifyWrite { address: at(address), read, write }
        }
        Access::Fence => Operation::SYNC,
    }
}

/// Writes events as one trace in the text format, in the order in which they were recorded.
pub(crate) fn write_trace(
    events: impl Iterator<Item = Recorded>,
    out: &mut impl Write,
) -> io::Result<()> {
    for Recorded { thread, access } in events {
        match access {
            Access::Read { address, value } => writeln!(out, "{thread}: M[{address}] == {value}"),
            Access::Write { address, value } => writeln!(out, "{thread}: M[{address}] := {value}"),
            Access::Atomic { address, read, write } => {
                writeln!(out, "{thread}: <M[{address}] == {read}; M[{address}] := {write}>")
            }
            Access::Fence => writeln!(out, "{thread}: sync"),
        }?;
    }
    writeln!(out, "check")
}

/// Writes one trace to a file.
pub(crate) fn trace_file(path: &Path, events: impl Iterator<Item = Recorded>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    write_trace(events, &mut out)?;
    out.flush()
}

/// Seven threads that spin on a flag while an eighth works on 256 addresses and raises the flag
/// ten times; they read some of its work each time.
pub(crate) fn polling(events: usize) -> impl Iterator<Item = Recorded> {
    const SPINNERS: usize = 7;
    const ROUNDS: usize = 10;
    const ADDRESSES: usize = 256;
    let flag = ADDRESSES;
    let each_round = (events / ROUNDS).max(4 * (SPINNERS + 1));
    let mut rng = Rng::new(1);
    let mut memory = vec![0; ADDRESSES];
    (0..ROUNDS * each_round).map(move |at| {
        let (round, step) = ((at / each_round) as u64, at % each_round);
        let thread = step % (SPINNERS + 1);
        let address = rng.below(ADDRESSES);
        let access = if thread == SPINNERS {
            if step + SPINNERS + 1 >= each_round {
                Access::Write { address: flag, value: round + 1 }
            } else {
                memory[address] = at as u64 + 1;
                Access::Write { address, value: at as u64 + 1 }
            }
        } else if round > 0 && step <= SPINNERS {
            Access::Read { address, value: memory[address] }
        } else {
            Access::Read { address: flag, value: round }
        };
        Recorded { thread, access }
    })
}

/// A file of many traces of the size of litmus tests, valid and not.
pub(crate) fn litmus_file(path: &Path, traces: usize) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut rng = Rng::new(1);
    for seed in 0..traces {
        let shape = Shape {
            events: 6 + rng.below(7),
            threads: 2 + rng.below(3),
            addresses: 2 + rng.below(2),
            mix: Mix { loads: 10, stores: 8, atomics: 1, fences: 1 },
            buffer: [0, TSO_BUFFER][rng.below(2)],
            fault: rng.percent(30).then_some(Fault::MissedInvalidation),
        };
        write_trace(Machine::new(shape, seed as u64), &mut out)?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use judge::{Budget, Engine, Outcome, judge};
    use models::Model;

    fn parsed(events: impl Iterator<Item = Recorded>) -> History {
        let mut text = Vec::new();
        write_trace(events, &mut text).unwrap();
        history::parse_text(std::str::from_utf8(&text).unwrap()).unwrap()
    }

    #[test]
    fn a_trace_file_holds_the_recorded_events() {
        let shape = Shape::tsotool(500, 3, 4, TSO_BUFFER);
        let (read, built) = (parsed(Machine::new(shape, 7)), history(shape, 7));
        assert_eq!((read.len(), read.thread_count()), (500, 3));
        let of_first = |h: &History| h.thread_range(h.thread_by_label(0).unwrap()).len();
        assert_eq!(of_first(&read), of_first(&built));
    }

    #[test]
    fn polling_is_sequentially_consistent_and_mostly_spinning() {
        let history = parsed(polling(4000));
        let verdict = judge(&history, Model::Sc, Engine::Auto, &Budget::unlimited());
        assert!(matches!(verdict.outcome, Outcome::Holds(_)));
        assert_eq!(history.thread_count(), 8);
        let spinning =
            polling(4000).filter(|r| matches!(r.access, Access::Read { address: 256, .. })).count();
        assert!(spinning > 3400);
    }
}
