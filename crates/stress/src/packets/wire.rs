//! The file format of gem5's packet traces (`MemTraceProbe` behind a `CommMonitor`): the bytes `gem5`,
//! then messages of Protocol Buffers, each behind its length. The first is the header, with the names
//! of the requestors, every other a packet.
//!
//! Read one message at a time; what the messages have beside the fields below is skipped, as Protocol
//! Buffers want it. One pass, and no more memory than the longest message.

use std::io::{self, Read};

use super::PacketError;

const MAGIC: &[u8; 4] = b"gem5";

/// The longest message. A packet has some 40 bytes; the header has a name for each requestor.
const LONGEST: u64 = 1 << 20;

/// A packet, as far as it is of use here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Packet {
    pub(super) command: u64,
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) flags: u64,
    /// The number of the requestor.
    pub(super) requestor: u64,
}

/// A trace that is read.
pub(super) struct Messages<R> {
    input: R,
    file: String,
    /// How many bytes have been read.
    offset: u64,
    buffer: Vec<u8>,
}

impl<R: Read> Messages<R> {
    /// Checks the first bytes.
    pub(super) fn new(input: R, file: &str) -> Result<Self, PacketError> {
        let mut messages = Messages { input, file: file.to_owned(), offset: 0, buffer: Vec::new() };
        let mut magic = [0; 4];
        if messages.fill(&mut magic)? < 4 || magic != *MAGIC {
            let reason =
                "this is not a packet trace of gem5: it does not begin with the bytes `gem5`";
            return Err(messages.error(0, reason.to_owned()));
        }
        Ok(messages)
    }

    /// The names of the requestors, by number.
    pub(super) fn header(&mut self) -> Result<Vec<(u64, String)>, PacketError> {
        let start = self.offset;
        if !self.message()? {
            return Err(self.error(start, "the header is missing".to_owned()));
        }
        let mut names = Vec::new();
        for field in Fields::new(&self.buffer) {
            let broken = |reason: &str| self.error(start, reason.to_owned());
            let (4, Value::Bytes(entry)) = field.map_err(broken)? else { continue };
            let (mut number, mut name) = (0, String::new());
            for field in Fields::new(entry) {
                match field.map_err(broken)? {
                    (1, Value::Number(key)) => number = key,
                    (2, Value::Bytes(text)) => name = String::from_utf8_lossy(text).into_owned(),
                    _ => {}
                }
            }
            names.push((number, name));
        }
        Ok(names)
    }

    /// The next packet; `None` at the end of the trace.
    pub(super) fn packet(&mut self) -> Result<Option<Packet>, PacketError> {
        let start = self.offset;
        if !self.message()? {
            return Ok(None);
        }
        let (mut packet, mut seen) = (Packet::default(), 0u32);
        for field in Fields::new(&self.buffer) {
            let (number, value) = field.map_err(|reason| self.error(start, reason.to_owned()))?;
            let Value::Number(value) = value else { continue };
            match number {
                2 => packet.command = value,
                3 => packet.address = value,
                4 => packet.size = value,
                5 => packet.flags = value,
                6 => packet.requestor = value,
                _ => continue,
            }
            seen |= 1 << number;
        }
        if seen & 0b11100 != 0b11100 {
            let reason = "the packet lacks a command, an address or a size";
            return Err(self.error(start, reason.to_owned()));
        }
        if seen & 1 << 6 == 0 {
            let reason = "the packet does not name its requestor (pkt_id)";
            return Err(self.error(start, reason.to_owned()));
        }
        Ok(Some(packet))
    }

    /// Reads the next message into the buffer; false at the end of the trace.
    fn message(&mut self) -> Result<bool, PacketError> {
        let start = self.offset;
        let mut length = 0u64;
        for shift in (0..35).step_by(7) {
            let mut byte = [0];
            if self.fill(&mut byte)? == 0 {
                return match shift {
                    0 => Ok(false),
                    _ => Err(self.error(start, "the trace ends within a length".to_owned())),
                };
            }
            length |= u64::from(byte[0] & 0x7f) << shift;
            if byte[0] & 0x80 == 0 {
                break;
            }
        }
        if length > LONGEST {
            let reason = format!("a message of {length} bytes; no packet is longer than {LONGEST}");
            return Err(self.error(start, reason));
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.resize(length as usize, 0);
        let read = self.fill(&mut buffer)?;
        self.buffer = buffer;
        if read < self.buffer.len() {
            let reason = format!("the trace ends after {read} of the {length} bytes of a message");
            return Err(self.error(start, reason));
        }
        Ok(true)
    }

    /// Reads as many bytes as there are.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, PacketError> {
        let mut read = 0;
        while read < buffer.len() {
            match self.input.read(&mut buffer[read..]) {
                Ok(0) => break,
                Ok(length) => read += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.error(self.offset, error.to_string())),
            }
        }
        self.offset += read as u64;
        Ok(read)
    }

    fn error(&self, offset: u64, reason: String) -> PacketError {
        PacketError { file: self.file.clone(), offset, reason }
    }
}

/// The fields of a message.
struct Fields<'m>(&'m [u8]);

enum Value<'m> {
    Number(u64),
    Bytes(&'m [u8]),
}

impl<'m> Fields<'m> {
    fn new(message: &'m [u8]) -> Self {
        Fields(message)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..70).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn bytes(&mut self, length: u64) -> Option<&'m [u8]> {
        let length = usize::try_from(length).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn field(&mut self) -> Option<(u64, Value<'m>)> {
        let tag = self.number()?;
        let little = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte));
        let value = match tag & 7 {
            0 => Value::Number(self.number()?),
            1 => Value::Number(little(self.bytes(8)?)),
            2 => {
                let length = self.number()?;
                Value::Bytes(self.bytes(length)?)
            }
            5 => Value::Number(little(self.bytes(4)?)),
            _ => return None,
        };
        Some((tag >> 3, value))
    }
}

impl<'m> Iterator for Fields<'m> {
    type Item = Result<(u64, Value<'m>), &'static str>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.0 = &[];
        }
        Some(field.ok_or("this is not a Protocol Buffers message"))
    }
}
