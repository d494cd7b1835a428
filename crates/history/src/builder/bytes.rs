//! Addresses that are bytes, while a trace is collected: whether values fit them, what each held at
//! first, and whether they overlap.
//!
//! `init` lines speak of bytes, so every address takes its initial value from the lines of all
//! bytes that it covers. Where addresses that are accessed do not overlap, the trace is one of plain
//! addresses from here on; where they do, [`Mixed`](crate::Mixed) takes them apart. All of it costs
//! a trace without sizes one comparison an event.

use std::collections::BTreeMap;

use super::{Builder, Draft, weight};
use crate::build_error::{BuildError, BuildErrorKind, error};
use crate::columns::Exchange;
use crate::event::{AddressId, AddressLabel, ByteRange, Operation, Value};

/// The widest value that a column holds, in bytes.
const COLUMN: u8 = 8;

impl Builder {
    fn bytes_of(&self, address: AddressId) -> Option<ByteRange> {
        match self.addresses[address.index()].label {
            AddressLabel::Bytes(range) => Some(range),
            AddressLabel::Number(_) | AddressLabel::Name(_) => None,
        }
    }

    /// Whether an address has more bytes than a column is wide.
    pub(crate) fn is_wide(&self, address: AddressId) -> bool {
        self.bytes_of(address).is_some_and(|bytes| bytes.size() > COLUMN)
    }

    /// Whether the values of an operation fit the bytes that it accesses.
    #[cold]
    pub(super) fn fits(&self, operation: &Operation, line: u32) -> Result<(), BuildError> {
        let Some(address) = operation.address() else { return Ok(()) };
        let values = operation.value_read().into_iter().chain(operation.value_written());
        values.into_iter().try_for_each(|value| self.value_fits(address, value.into(), line))
    }

    fn value_fits(&self, address: AddressId, value: u128, line: u32) -> Result<(), BuildError> {
        match self.bytes_of(address) {
            Some(bytes) if !bytes.holds(value) => {
                Err(error(BuildErrorKind::ValueTooWide { bytes, value }, line))
            }
            _ => Ok(()),
        }
    }

    /// Whether an `init` or `final` line may say this.
    pub(super) fn line_fits(
        &self,
        address: AddressId,
        value: Value,
        line: u32,
    ) -> Result<(), BuildError> {
        match self.bytes_of(address) {
            Some(bytes) if bytes.size() > COLUMN => {
                Err(error(BuildErrorKind::LineTooWide { bytes }, line))
            }
            _ => self.value_fits(address, value.into(), line),
        }
    }

    /// Says what the bytes beyond the eighth of a wide access read and wrote, as a number of their
    /// own; 0 where this is not said.
    pub fn upper_bytes(
        &mut self,
        event: Draft,
        read: Value,
        written: Value,
    ) -> Result<(), BuildError> {
        if (read, written) == (0, 0) {
            return Ok(());
        }
        let line = self.columns.line(event.0 as usize);
        if let Some(address) = self.columns.access(event.0 as usize).address() {
            for upper in [read, written] {
                self.value_fits(address, u128::from(upper) << 64, line)?;
            }
        }
        self.charge(weight::EXCHANGE, line)?;
        self.uppers.push((event, Exchange { read, written }));
        Ok(())
    }

    /// Gives every address that is bytes its initial value, and returns those that are accessed or
    /// spoken of if some of them overlap or are wider than a column.
    pub(super) fn settle_bytes(&mut self) -> Result<Option<Vec<ByteRange>>, BuildError> {
        if self.by_bytes.is_empty() {
            return Ok(None);
        }
        self.initial_bytes()?;
        let used = self.used_bytes();
        self.refuse_sizeless(&used)?;
        let overlap = used.windows(2).any(|pair| pair[0].overlaps(pair[1]));
        let wide = used.iter().any(|range| range.size() > COLUMN);
        Ok((overlap || wide).then_some(used))
    }

    /// What the `init` lines say of each byte, and with it of each address.
    fn initial_bytes(&mut self) -> Result<(), BuildError> {
        let mut lines: Vec<(u32, ByteRange, Value)> = Vec::new();
        for address in &self.addresses {
            if let (AddressLabel::Bytes(range), Some(line)) = (&address.label, address.init_line) {
                lines.push((line, *range, address.initial));
            }
        }
        lines.sort_unstable();
        let mut bytes: BTreeMap<u64, (u8, u32)> = BTreeMap::new();
        for (line, range, value) in lines {
            for (byte, value) in (range.start()..=range.last()).zip(value.to_le_bytes()) {
                let &mut (said, _) = bytes.entry(byte).or_insert((value, line));
                if said != value {
                    let address = AddressLabel::Bytes(range);
                    return Err(error(BuildErrorKind::InitTwice { address }, line));
                }
            }
        }
        for address in self.addresses.iter_mut().filter(|address| address.init_line.is_none()) {
            let AddressLabel::Bytes(range) = address.label else { continue };
            let lowest = range.start()..=range.last().min(range.start().saturating_add(7));
            for (&byte, &(value, line)) in bytes.range(lowest) {
                address.initial |= Value::from(value) << (8 * (byte - range.start()));
                if range.size() <= COLUMN {
                    address.init_line = Some(line);
                }
            }
        }
        Ok(())
    }

    /// The bytes that events, `final` and `order` lines speak of, sorted.
    fn used_bytes(&self) -> Vec<ByteRange> {
        let mut used = vec![false; self.addresses.len()];
        let accessed = self.columns.accesses().iter().filter_map(|access| access.address());
        let said = self.finals.iter().map(|f| f.address);
        let ordered = self.orders.iter().map(|&(address, ..)| address);
        for address in accessed.chain(said).chain(ordered) {
            used[address.index()] = true;
        }
        let ids = (0..used.len()).filter(|&a| used[a]).map(AddressId::new);
        let mut ranges: Vec<ByteRange> = ids.filter_map(|a| self.bytes_of(a)).collect();
        ranges.sort_unstable();
        ranges
    }

    /// A numbered address without a size is a name; it must not look like one of the bytes.
    fn refuse_sizeless(&self, used: &[ByteRange]) -> Result<(), BuildError> {
        for (draft, access) in self.columns.accesses().iter().enumerate() {
            let Some(address) = access.address() else { continue };
            let AddressLabel::Number(number) = self.addresses[address.index()].label else {
                continue;
            };
            // Ranges are short: those that could cover a byte start shortly before it.
            let near = used.partition_point(|range| range.start() <= number);
            let covering = used[..near]
                .iter()
                .rev()
                .take_while(|range| number - range.start() < u64::from(crate::MAX_ACCESS_SIZE))
                .find(|range| range.last() >= number);
            if let Some(&bytes) = covering {
                let kind = BuildErrorKind::SizeUnknown { number, bytes };
                return Err(error(kind, self.columns.line(draft)));
            }
        }
        Ok(())
    }
}
