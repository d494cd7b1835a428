//! What workers send each other through the dataflow: one message for one worker.

use std::io::Write;

use timely::Accountable;
use timely::bytes::arc::Bytes;
use timely::communication::Push;
use timely::dataflow::channels::pushers::exchange::Distributor;
use timely::dataflow::channels::{ContainerBytes, Message};

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Records of states that the receiver owns.
    Records,
    /// So many messages with records were taken in.
    Credit,
    /// A note from each worker to all others.
    Note,
    /// A reason to stop.
    Stop,
    /// What a process has done so far.
    Share,
}

/// A message. The default one is none, which timely leaves behind where it took one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Packet {
    content: Option<Content>,
}

/// What is in a message.
#[derive(Debug, Clone)]
pub(crate) struct Content {
    pub(crate) kind: Kind,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) bytes: Vec<u8>,
}

impl From<Content> for Packet {
    fn from(content: Content) -> Self {
        Packet { content: Some(content) }
    }
}

impl Packet {
    /// Takes what is in it.
    pub(crate) fn take(&mut self) -> Option<Content> {
        self.content.take()
    }
}

impl Accountable for Packet {
    fn record_count(&self) -> i64 {
        i64::from(self.content.is_some())
    }
}

/// Bytes before those of the content: kind, sender, receiver, and how many follow.
const HEAD: usize = 32;

impl ContainerBytes for Packet {
    fn from_bytes(bytes: Bytes) -> Self {
        let mut numbers =
            bytes[..HEAD].as_chunks().0.iter().map(|&eight| u64::from_le_bytes(eight));
        let mut number = || numbers.next().unwrap_or_default() as usize;
        let kind = match number() {
            0 => Kind::Records,
            1 => Kind::Credit,
            2 => Kind::Note,
            3 => Kind::Stop,
            _ => Kind::Share,
        };
        let (from, to, length) = (number(), number(), number());
        Content { kind, from, to, bytes: bytes[HEAD..HEAD + length].to_vec() }.into()
    }

    fn length_in_bytes(&self) -> usize {
        let bytes = self.content.as_ref().map_or(0, |content| content.bytes.len());
        HEAD + bytes.next_multiple_of(8)
    }

    fn into_bytes<W: Write>(&self, writer: &mut W) {
        // Only messages are sent, and the writer is memory with enough room.
        let Some(Content { kind, from, to, bytes }) = &self.content else { return };
        for number in [*kind as usize, *from, *to, bytes.len()] {
            let _ = writer.write_all(&(number as u64).to_le_bytes());
        }
        let _ = writer.write_all(bytes);
        let _ = writer.write_all(&[0; 8][..bytes.len().next_multiple_of(8) - bytes.len()]);
    }
}

/// Gives each message to the worker that it is for.
pub(crate) struct ByReceiver;

impl Distributor<Packet> for ByReceiver {
    fn partition<T: Clone, P: Push<Message<T, Packet>>>(
        &mut self,
        packet: &mut Packet,
        time: &T,
        workers: &mut [P],
    ) {
        if let Some(to) = packet.content.as_ref().map(|content| content.to) {
            Message::push_at(packet, time.clone(), &mut workers[to]);
        }
    }

    fn flush<T: Clone, P: Push<Message<T, Packet>>>(&mut self, _time: &T, _workers: &mut [P]) {}
}
