//! A source text and places in it.

/// A piece of the source: byte offsets, the end not included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// A source text with its name.
#[derive(Debug, Clone)]
pub struct Source {
    /// The file, as the user named it.
    pub name: String,
    /// The text.
    pub text: String,
}

impl Span {
    /// The span from the start of `self` to the end of `other`.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end.max(self.end) }
    }
}

impl Source {
    /// Line and column, both from 1, of a byte offset; columns count characters.
    pub fn position(&self, offset: u32) -> (usize, usize) {
        let before = &self.text.as_bytes()[..(offset as usize).min(self.text.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let column = before[start..].iter().filter(|&&byte| byte & 0xC0 != 0x80).count() + 1;
        (line, column)
    }

    /// Where a byte offset is: `protocol.m:12:3`.
    pub fn place(&self, offset: u32) -> String {
        let (line, column) = self.position(offset);
        format!("{}:{line}:{column}", self.name)
    }

    /// What a span says; empty if it is not a piece of this source.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// The line around a byte offset, without its line break, and the offset it begins at.
    pub fn line_at(&self, offset: u32) -> (&str, usize) {
        let bytes = self.text.as_bytes();
        let at = (offset as usize).min(bytes.len());
        let start = bytes[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let length = bytes[start..].iter().position(|&byte| byte == b'\n');
        let end = length.map_or(bytes.len(), |length| start + length);
        (self.text[start..end].trim_end_matches('\r'), start)
    }
}
