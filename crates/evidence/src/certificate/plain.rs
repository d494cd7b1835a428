//! The line of an order, read in one pass, where it is spelled as [`Certificate::write`] spells it:
//!
//! ```text
//! {"tribunal":1,"trace":1,"model":"tso","verdict":"consistent","events":2,"witness":[[9,0],[7,0]]}
//! ```
//!
//! Such a line has an event for every event of its trace, and reading it should not take longer
//! than replaying it. Nothing is built but the order. Any other spelling, however slight the
//! difference, and whatever is wrong in any way gives `None`: the reader for all lines knows what
//! to make of it, and has the words to complain.

use history::EventId;
use models::Model;

use super::labels::Labels;
use super::{Certificate, VERSION};
use crate::{Evidence, Witness};

/// The trace and the model, and where they end.
pub(super) fn header(line: &str) -> Option<(u64, Model, usize)> {
    let mut text = Text { bytes: line.as_bytes(), at: 0 };
    text.expect(b"{\"tribunal\":")?;
    if text.number()? != VERSION {
        return None;
    }
    text.expect(b",\"trace\":")?;
    let trace = text.number()?;
    text.expect(b",\"model\":\"")?;
    let start = text.at;
    let length = line.as_bytes()[start..].iter().position(|byte| !byte.is_ascii_lowercase())?;
    let model = line[start..start + length].parse().ok()?;
    text.at += length;
    text.expect(b"\",\"verdict\"")?;
    Some((trace, model, text.at))
}

/// The whole line, about a trace of so many events.
pub(super) fn order(line: &str, events: usize, labels: &Labels<'_>) -> Option<Certificate> {
    let (trace, model, at) = header(line)?;
    let mut text = Text { bytes: line.as_bytes(), at };
    text.expect(b":\"consistent\",\"events\":")?;
    if text.number()? != events as u64 {
        return None;
    }
    text.expect(b",\"witness\":[")?;
    // No more than the line can hold, whatever it says.
    let mut order = Vec::with_capacity(events.min(line.len() / "[0,0],".len() + 1));
    while order.is_empty() || text.byte(b',').is_some() {
        order.push(text.event(labels)?);
    }
    text.expect(b"]}")?;
    let evidence = Evidence::Consistent(Witness::Order(order));
    (text.at == line.len()).then_some(Certificate { trace, model, evidence })
}

/// A text and the place where reading goes on.
struct Text<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Text<'_> {
    fn expect(&mut self, word: &[u8]) -> Option<()> {
        let found = self.bytes[self.at..].starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found.then_some(())
    }

    fn byte(&mut self, byte: u8) -> Option<()> {
        let found = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found.then_some(())
    }

    /// A number as JSON has it, without a leading zero.
    fn number(&mut self) -> Option<u64> {
        let start = self.at;
        let mut number = 0u64;
        while let Some(digit) = self.bytes.get(self.at).map(|byte| byte.wrapping_sub(b'0'))
            && digit < 10
        {
            number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
            self.at += 1;
        }
        let digits = self.at - start;
        let plain = digits == 1 || (digits > 1 && self.bytes[start] != b'0');
        plain.then_some(number)
    }

    fn event(&mut self, labels: &Labels<'_>) -> Option<EventId> {
        self.byte(b'[')?;
        let thread = self.number()?;
        self.byte(b',')?;
        let index = self.number()?;
        self.byte(b']')?;
        labels.event_called([thread, index])
    }
}
