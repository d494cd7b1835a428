//! Large valid traces: a random interleaving of random programs on one memory, with the
//! instruction mix of efficient-tso-verification (§5).

use history::{AddressId, AddressLabel, Builder, History, Operation, ThinAir, Value};
use oracle::Rng;

/// The size of a trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Events in all.
    pub(crate) events: usize,
    /// Threads.
    pub(crate) threads: usize,
    /// Addresses.
    pub(crate) addresses: usize,
    /// How many in a hundred are read-modify-writes; reads and writes share the rest.
    pub(crate) atomics: u32,
}

/// A trace that one sequentially consistent memory produced.
pub(crate) fn sequential(size: Size, seed: u64) -> History {
    let mut rng = Rng::new(seed);
    let mut builder = Builder::new();
    let addresses: Vec<AddressId> =
        (0..size.addresses).map(|a| builder.address(&AddressLabel::Number(a as u64))).collect();
    let mut memory: Vec<Value> = vec![0; size.addresses];
    for event in 0..size.events {
        let at = rng.below(size.addresses);
        let address = addresses[at];
        let fresh = event as Value + 1;
        let operation = if rng.percent(size.atomics) {
            let read = std::mem::replace(&mut memory[at], fresh);
            Operation::ReadModifyWrite { address, read, write: fresh }
        } else if rng.percent(2) {
            Operation::SYNC
        } else if rng.percent(50) {
            Operation::Read { address, value: memory[at] }
        } else {
            memory[at] = fresh;
            Operation::Write { address, value: fresh }
        };
        let thread = rng.below(size.threads) as u64;
        builder.event(thread, operation, event as u32 + 1).expect("within the limits");
    }
    builder.finish(ThinAir::Malformed).expect("a memory returns what was written")
}
