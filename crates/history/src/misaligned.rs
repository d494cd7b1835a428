//! Misaligned accesses: one access, or one for each byte (`--misaligned split`).
//!
//! The manuals of RISC-V and Arm let an implementation perform a misaligned load or store in parts
//! of any size; the weakest choice is bytes. Taken apart, the bytes of an access stand side by side
//! in program order, the lowest first, on the line of the access, with its annotation, times and
//! origin. The byte at the lowest address keeps the name of the access, the others append `'1`, `'2`,
//! …; what depends on the access depends on all of its bytes, and all of them depend on what it
//! depends on. Read-modify-writes and pairs of load-reserved and store-conditional stay whole: they
//! are atomic or they fail. So the history is the one of the trace in which the bytes are written
//! out, and everything that judges histories judges it. Linear, and nothing is done where all
//! accesses are aligned.

use rustc_hash::FxHashSet;

use crate::build_error::{BuildError, BuildErrorKind, error};
use crate::builder::{Builder, Draft, ThinAir};
use crate::columns::Exchange;
use crate::event::{AddressLabel, ByteRange, EventId, Operation, Value};
use crate::history::History;
use crate::retain::EventContent;

/// What a misaligned load or store is: one whose size is no power of two, or whose address is no
/// multiple of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Misaligned {
    /// One access, which takes effect at one point.
    #[default]
    Atomic,
    /// An access for each byte, in program order.
    Split,
}

impl Misaligned {
    /// The history of a trace that has ended, which may take so many bytes.
    pub(crate) fn finish(
        self,
        builder: Builder,
        thin_air: ThinAir,
        memory: Option<usize>,
    ) -> Result<History, BuildError> {
        if self == Misaligned::Atomic {
            return builder.finish(thin_air);
        }
        // What nobody wrote in one access may have been written by several, byte by byte.
        let whole = builder.finish(ThinAir::Violation)?;
        let builder = memory.map_or_else(Builder::new, Builder::with_memory_limit);
        let paired = whole.pairs().iter().flat_map(|&(store, load)| [store, load]).collect();
        Splitter { whole: &whole, builder, paired }.run(thin_air)
    }
}

/// A history whose misaligned accesses are taken apart.
struct Splitter<'h> {
    whole: &'h History,
    builder: Builder,
    /// The loads and stores of pairs.
    paired: FxHashSet<EventId>,
}

impl Splitter<'_> {
    fn run(mut self, thin_air: ThinAir) -> Result<History, BuildError> {
        let whole = self.whole;
        for address in whole.address_ids().map(|address| whole.address(address)) {
            if let Some(line) = address.init_line {
                let id = self.builder.address(&address.label);
                self.builder.initial(id, address.initial, line)?;
            }
        }
        for id in whole.event_ids() {
            match self.bytes_of(id) {
                Some(range) => self.split(id, range)?,
                None => self.copy(id)?,
            }
        }
        for line in whole.finals() {
            let label = &whole.address(line.address).label;
            for (label, value) in parts_of_line(label, line.value) {
                let address = self.builder.address(&label);
                self.builder.final_value(address, value, line.line)?;
            }
        }
        self.copy_orders()?;
        self.builder.finish(thin_air)
    }

    /// The bytes of an access that is taken apart.
    fn bytes_of(&self, id: EventId) -> Option<ByteRange> {
        let event = self.whole.event(id);
        let range = misaligned(&self.whole.address(event.address()?).label)?;
        (!event.is_atomic() && !self.paired.contains(&id)).then_some(range)
    }

    fn copy(&mut self, id: EventId) -> Result<(), BuildError> {
        let whole = self.whole;
        let event = whole.event(id);
        let address = event.address().map(|a| self.builder.address(&whole.address(a).label));
        let operation = event.operation.at(|old| address.unwrap_or(old));
        let content =
            EventContent { operation, upper: whole.upper_bytes(id), name: whole.name(id) };
        let draft = self.add_event(id, content)?;
        if let Some(load) = whole.load_of(id)
            && let Some(name) = whole.name(load)
        {
            self.builder.pair(draft, name)?;
        }
        Ok(())
    }

    fn split(&mut self, id: EventId, range: ByteRange) -> Result<(), BuildError> {
        let whole = self.whole;
        let read = whole.wide_value_read(id);
        let value = read.or(whole.wide_value_written(id)).unwrap_or_default();
        for (number, (byte, value)) in bytes(range, value).enumerate() {
            let address = self.builder.address_of_bytes(byte);
            let operation = match read {
                Some(_) => Operation::Read { address, value },
                None => Operation::Write { address, value },
            };
            let name = whole.name(id).map(|name| name_of_byte(name, number));
            let upper = Exchange { read: 0, written: 0 };
            self.add_event(id, EventContent { operation, upper, name: name.as_deref() })?;
        }
        Ok(())
    }

    /// Says of an access, or of a byte of it, what the trace says of the access.
    fn add_event(&mut self, id: EventId, content: EventContent<'_>) -> Result<Draft, BuildError> {
        let draft = self.whole.add_as(&mut self.builder, id, content)?;
        let whole = self.whole;
        let names: Vec<_> = whole
            .dependencies_with_kinds(id)
            .map(|(from, kinds)| (self.names_of(from), kinds))
            .collect();
        for (names, kinds) in names {
            for name in names {
                for kind in kinds.iter() {
                    self.builder.dependency_of_kind(draft, &name, kind)?;
                }
            }
        }
        Ok(draft)
    }

    /// The names of what stands for an event, if it has one.
    fn names_of(&self, id: EventId) -> Vec<Box<str>> {
        let Some(name) = self.whole.name(id) else { return Vec::new() };
        let count = self.bytes_of(id).map_or(1, |range| range.size().into());
        (0..count).map(|number| name_of_byte(name, number)).collect()
    }

    fn copy_orders(&mut self) -> Result<(), BuildError> {
        for chain in self.whole.orders() {
            let label = &self.whole.address(chain.address).label;
            if let Some(range) = misaligned(label) {
                let reason = format!(
                    "an `order` line about M[{range}], which is misaligned: with --misaligned \
                     split give the order of the writes of its bytes"
                );
                return Err(error(BuildErrorKind::Other { reason: reason.into() }, chain.line));
            }
            let address = self.builder.address(label);
            let writes = chain.writes.iter();
            let names = writes.map(|&write| self.whole.write_name(chain, write)).collect();
            self.builder.order(address, names, chain.line);
        }
        Ok(())
    }
}

fn misaligned(label: &AddressLabel) -> Option<ByteRange> {
    match *label {
        AddressLabel::Bytes(range) => (!range.is_aligned()).then_some(range),
        AddressLabel::Number(_) | AddressLabel::Name(_) => None,
    }
}

/// What a `final` line says of bytes, or of its address.
fn parts_of_line(label: &AddressLabel, value: Value) -> Vec<(AddressLabel, Value)> {
    match misaligned(label) {
        Some(range) => {
            let parts = bytes(range, value.into());
            parts.map(|(byte, value)| (AddressLabel::Bytes(byte), value)).collect()
        }
        None => vec![(label.clone(), value)],
    }
}

/// The bytes of a range, lowest first, and what each holds of a value.
fn bytes(range: ByteRange, value: u128) -> impl Iterator<Item = (ByteRange, Value)> {
    (0..range.size()).filter_map(move |number| {
        let byte = ByteRange::new(range.start() + u64::from(number), 1)?;
        Some((byte, (value >> (8 * u32::from(number)) & 0xff) as Value))
    })
}

/// What a byte of a named access is called, by its number from the lowest.
fn name_of_byte(name: &str, number: usize) -> Box<str> {
    if number == 0 { name.into() } else { format!("{name}'{number}").into() }
}
