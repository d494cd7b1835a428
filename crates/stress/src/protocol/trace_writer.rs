//! What a walk recorded, as a history or as text.
//!
//! Events of the text stand in the order in which they happened, which a history forgets: between
//! threads it means nothing, but it helps whoever reads the trace beside the protocol.

use std::fmt::Write as _;

use conform::{EventKind, RecordedEvent};
use history::{AddressLabel, BuildError, Builder, History, Operation, ThinAir, Value, WriteName};
use murphi::value::State;

use super::{Protocol, Walk};

/// Writes walks down.
pub struct TraceWriter<'a> {
    protocol: &'a Protocol,
    addresses: Vec<AddressLabel>,
}

impl<'a> TraceWriter<'a> {
    /// For walks of a protocol.
    pub fn new(protocol: &'a Protocol) -> Self {
        let label = |name: &String| match name.parse() {
            Ok(number) => AddressLabel::Number(number),
            Err(_) => AddressLabel::Name(name.as_str().into()),
        };
        let addresses = protocol.recording.addresses.iter().map(label).collect();
        TraceWriter { protocol, addresses }
    }

    /// The walk as a history; if `ordered`, with the order in which stores counted: that of their
    /// commits if the protocol marks those, else that of the stores. A load of a value that nobody
    /// stored is a violation of every model.
    pub fn history(&self, walk: &Walk, ordered: bool) -> Result<History, BuildError> {
        let mut builder = Builder::new();
        let addresses: Vec<_> = self.addresses.iter().map(|label| builder.address(label)).collect();
        let mut line = 0;
        for event in &walk.events {
            let (address, value) = (addresses[event.address as usize], event.value as Value);
            let operation = match event.kind {
                EventKind::Load => Operation::Read { address, value },
                EventKind::Store => Operation::Write { address, value },
                EventKind::Commit => continue,
            };
            line += 1;
            builder.event(self.thread(event), operation, line)?;
        }
        if walk.initial != 0 {
            for &address in &addresses {
                builder.initial(address, walk.initial as Value, 0)?;
            }
        }
        if ordered {
            for (number, &address) in addresses.iter().enumerate() {
                let values = self.order(walk, number as u32);
                if values.len() > 1 {
                    let writes = values.into_iter().map(|value| WriteName::Value(value as Value));
                    builder.order(address, writes.collect(), 0);
                }
            }
        }
        builder.finish(ThinAir::Violation)
    }

    /// Appends the walk in the text format, with its `check` line.
    pub fn text(&self, walk: &Walk, ordered: bool, text: &mut String) {
        if walk.initial != 0 {
            for address in &self.addresses {
                let _ = writeln!(text, "init M[{address}] == {}", walk.initial);
            }
        }
        let mut steps = walk.steps.iter().peekable();
        for (number, event) in walk.events.iter().enumerate() {
            while let Some(step) = steps.next_if(|step| step.events <= number) {
                self.step(step, text);
            }
            let sign = match event.kind {
                EventKind::Load => "==",
                EventKind::Store => ":=",
                EventKind::Commit => continue,
            };
            let (thread, address) = (self.thread(event), &self.addresses[event.address as usize]);
            let _ = writeln!(text, "{thread}: M[{address}] {sign} {}", event.value);
        }
        if ordered {
            for (number, address) in self.addresses.iter().enumerate() {
                let values = self.order(walk, number as u32);
                if values.len() > 1 {
                    let values: Vec<String> = values.iter().map(u64::to_string).collect();
                    let _ = writeln!(text, "order M[{address}]: {}", values.join(" < "));
                }
            }
        }
        text.push_str("check\n");
    }

    /// A step as a comment.
    fn step(&self, step: &super::Step, text: &mut String) {
        let interpreter = &self.protocol.recording.interpreter;
        let rule = &interpreter.model().rules[step.rule as usize];
        let _ = write!(text, "# {}", rule.name);
        if let Ok(state) = State::decode(interpreter.model(), interpreter.layout(), &step.from) {
            let bindings = interpreter.bindings(&state, step.rule as usize, step.instance);
            for (at, (name, value)) in bindings.iter().enumerate() {
                let _ = write!(text, "{}{name} = {value}", if at == 0 { "  " } else { ", " });
            }
        }
        text.push('\n');
    }

    fn thread(&self, event: &RecordedEvent) -> u64 {
        self.protocol.recording.processors[event.processor as usize].1
    }

    /// The values of an address in the order in which they counted.
    fn order(&self, walk: &Walk, address: u32) -> Vec<u64> {
        let counts = match self.protocol.recording.commits {
            true => EventKind::Commit,
            false => EventKind::Store,
        };
        let of_address = |event: &&RecordedEvent| event.kind == counts && event.address == address;
        walk.events.iter().filter(of_address).map(|event| event.value).collect()
    }
}
