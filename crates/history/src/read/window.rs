//! A byte window sliding over an input: what the readers of all formats look through.
//!
//! The window asks its input for more only when everything in it has been looked at, and takes
//! whatever one `read` gives, so that a producer at the other end of a pipe gets its answer as
//! soon as it has finished its trace. It keeps the recent past, so that a diagnostic can show the
//! line it is about. Memory is bounded by the size of the window, however long a line is.

use std::io::{ErrorKind, Read};

use memchr::{memchr, memchr_iter, memrchr};

/// Bytes held. Whatever needs to be seen in one piece (a name, a number) is far shorter.
const CAPACITY: usize = 128 << 10;

/// Bytes asked for at a time.
const PIECE: usize = 32 << 10;

/// Bytes of the past that survive when the window slides.
const PAST: usize = 16 << 10;

/// Bytes after the place of an error that are of interest.
pub(super) const REASON: usize = 256;

/// A place in the input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Bytes before it.
    pub(super) offset: u64,
    /// Bytes before the line it is on.
    pub(super) line_offset: u64,
    /// Its line, from 1.
    pub(super) line: u64,
}

impl Place {
    /// Its column in bytes, from 1.
    pub(super) fn column(self) -> u64 {
        self.offset - self.line_offset + 1
    }

    /// Its line as events carry it.
    pub(super) fn short_line(self) -> u32 {
        u32::try_from(self.line).unwrap_or(u32::MAX)
    }
}

/// The visible part of a line.
pub(super) struct VisibleLine<'w> {
    pub(super) bytes: &'w [u8],
    /// The offset of its first visible byte.
    pub(super) offset: u64,
}

/// The window.
pub(super) struct Window<R> {
    input: R,
    buffer: Vec<u8>,
    /// Where the input puts what it has.
    piece: Box<[u8]>,
    /// The next byte, as an index into the buffer.
    at: usize,
    /// The offset of the first byte of the buffer.
    offset: u64,
    line: u64,
    line_offset: u64,
    ended: bool,
    failure: Option<std::io::Error>,
    /// What kept the input from being read ahead: a failure when all before it is looked at.
    failure_ahead: Option<std::io::Error>,
}

impl<R: Read> Window<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            buffer: Vec::new(),
            piece: vec![0; PIECE].into(),
            at: 0,
            offset: 0,
            line: 1,
            line_offset: 0,
            ended: false,
            failure: None,
            failure_ahead: None,
        }
    }

    /// Whether the input is known to have ended, without asking it.
    pub(super) fn has_ended(&self) -> bool {
        self.ended && self.at == self.buffer.len()
    }

    /// The next byte; `None` at the end and after a failure (see [`Window::take_failure`]).
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        match self.buffer.get(self.at) {
            Some(&byte) => Some(byte),
            None => self.peek_further(),
        }
    }

    #[cold]
    fn peek_further(&mut self) -> Option<u8> {
        self.fill(CAPACITY).then(|| self.buffer[self.at])
    }

    /// Steps over the byte just peeked at, which is not a line end.
    #[inline]
    pub(super) fn bump(&mut self) {
        self.at += 1;
    }

    /// Whether the next bytes are these; no more is read than that takes.
    pub(super) fn starts_with(&mut self, word: &[u8]) -> bool {
        loop {
            let seen = self.visible().len().min(word.len());
            if self.visible()[..seen] != word[..seen] {
                return false;
            }
            if seen == word.len() {
                return true;
            }
            if !self.fill(CAPACITY) {
                return false;
            }
        }
    }

    /// Whether the input has to be asked before a line that says something is there to its end.
    pub(super) fn lacks_line(&self) -> bool {
        let mut rest = self.visible().trim_ascii_start();
        while rest.first() == Some(&b'#')
            && let Some(end) = memchr(b'\n', rest)
        {
            rest = rest[end..].trim_ascii_start();
        }
        !self.ended && memchr(b'\n', rest).is_none()
    }

    /// What is there of the input from the next byte on, without asking for more.
    #[inline]
    pub(super) fn visible(&self) -> &[u8] {
        &self.buffer[self.at..]
    }

    /// Steps over visible bytes of which the last and only the last is a line end.
    #[inline]
    pub(super) fn skip_line(&mut self, length: usize) {
        self.at += length - 1;
        self.newline();
    }

    /// Why the input cannot be read any further, if it failed.
    pub(super) fn take_failure(&mut self) -> Option<std::io::Error> {
        self.failure.take()
    }

    /// Where the next byte is.
    #[inline]
    pub(super) fn place(&self) -> Place {
        Place {
            offset: self.offset + self.at as u64,
            line_offset: self.line_offset,
            line: self.line,
        }
    }

    /// How many bytes lie between a place and the next byte.
    #[inline]
    pub(super) fn since(&self, place: Place) -> usize {
        (self.offset + self.at as u64 - place.offset) as usize
    }

    /// The bytes from a recent place up to the next byte.
    #[inline]
    pub(super) fn bytes_since(&self, place: Place) -> &[u8] {
        &self.buffer[(place.offset - self.offset) as usize..self.at]
    }

    /// Bytes from a recent place on, as many as are visible, at most `length`.
    pub(super) fn bytes(&self, place: Place, length: usize) -> &[u8] {
        let start = (place.offset - self.offset) as usize;
        &self.buffer[start..self.buffer.len().min(start + length)]
    }

    /// Steps over the mark that some editors put at the start of a file.
    pub(super) fn skip_byte_order_mark(&mut self) {
        const MARK: &[u8] = b"\xef\xbb\xbf";
        if self.offset > 0 || self.at > 0 || self.peek() != Some(MARK[0]) {
            return;
        }
        while self.buffer.len() < MARK.len() && self.fill(CAPACITY) {}
        if self.buffer.starts_with(MARK) {
            self.at = MARK.len();
            self.line_offset = MARK.len() as u64;
        }
    }

    /// Steps over blanks within a line.
    pub(super) fn skip_spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r')) {
            self.bump();
        }
    }

    /// Steps over blanks, line ends and comments.
    #[inline]
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r' | 0x0b | 0x0c) => self.bump(),
                Some(b'\n') => self.newline(),
                Some(b'#') => self.skip_comment(),
                _ => return,
            }
        }
    }

    #[inline]
    fn newline(&mut self) {
        self.at += 1;
        self.line += 1;
        self.line_offset = self.offset + self.at as u64;
    }

    /// Steps to the end of the line.
    fn skip_comment(&mut self) {
        while self.peek().is_some() {
            match memchr(b'\n', &self.buffer[self.at..]) {
                Some(length) => {
                    self.at += length;
                    return;
                }
                None => self.at = self.buffer.len(),
            }
        }
    }

    /// Steps over the rest of the line with its end and hands it out without it; `None` at the end
    /// of the input. A line of more than `limit` bytes is an error at its start.
    pub(super) fn take_line(&mut self, limit: usize) -> Option<Result<(Place, &[u8]), Place>> {
        self.peek()?;
        let place = self.place();
        let mut length = 0;
        let ended = loop {
            let unseen = &self.buffer[self.at + length..];
            match memchr(b'\n', unseen) {
                Some(more) => {
                    length += more;
                    break true;
                }
                None => length += unseen.len(),
            }
            if length > limit || !self.fill(limit + CAPACITY) {
                break false;
            }
        };
        if length > limit {
            return Some(Err(place));
        }
        let start = self.at;
        self.at += length;
        if ended {
            self.newline();
        }
        Some(Ok((place, &self.buffer[start..start + length])))
    }

    /// Whether nothing but blanks stands before the next byte in its line.
    pub(super) fn is_at_line_start(&self) -> bool {
        let start = Place { offset: self.line_offset, ..self.place() };
        let before = self.index(start).map(|start| &self.buffer[start..self.at]);
        before.is_some_and(|before| before.trim_ascii().is_empty())
    }

    /// Steps over the rest of the line, with its end if it has one.
    pub(super) fn skip_rest_of_line(&mut self) {
        self.skip_comment();
        if self.peek() == Some(b'\n') {
            self.newline();
        }
    }

    /// Asks the input once for more; false if there is no more. What has not been stepped over
    /// stays; the past goes when the window would outgrow `capacity`.
    fn fill(&mut self, capacity: usize) -> bool {
        if self.ended {
            return false;
        }
        if let Some(failure) = self.failure_ahead.take() {
            self.failure = Some(failure);
            self.ended = true;
            return false;
        }
        if self.buffer.len() + PIECE > capacity {
            self.slide();
        }
        let read = loop {
            match self.input.read(&mut self.piece) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                other => break other,
            }
        };
        let length = read.unwrap_or_else(|error| {
            self.failure = Some(error);
            0
        });
        self.buffer.extend_from_slice(&self.piece[..length]);
        self.ended = length == 0;
        !self.ended
    }

    /// Forgets the past, except for the part that messages may show.
    fn slide(&mut self) {
        let gone = self.at.saturating_sub(PAST);
        self.buffer.drain(..gone);
        self.at -= gone;
        self.offset += gone as u64;
    }

    /// Asks the input until so many bytes are visible or there are no more.
    pub(super) fn read_ahead(&mut self, length: usize) {
        let missing = length.saturating_sub(self.visible().len());
        if missing == 0 || self.ended || self.failure_ahead.is_some() {
            return;
        }
        self.slide();
        match self.input.by_ref().take(missing as u64).read_to_end(&mut self.buffer) {
            Ok(read) => self.ended = read < missing,
            Err(failure) => self.failure_ahead = Some(failure),
        }
    }

    /// Steps over visible lines, so many bytes that the last of them is a line end.
    pub(super) fn skip_lines(&mut self, length: usize, lines: u64) {
        self.at += length;
        self.line += lines;
        self.line_offset = self.offset + self.at as u64;
    }

    /// Reads on, within reason, to the end of the line of a recent place, so that what an error
    /// shows of it does not depend on the pieces in which the input arrives.
    pub(super) fn read_on(&mut self, place: Place) {
        while let Some(from) = self.index(place)
            && self.buffer.len() - from < REASON
            && memchr(b'\n', &self.buffer[from..]).is_none()
            && self.fill(usize::MAX)
        {}
        // What the input has to say after the place of an error changes nothing about the error.
        self.failure = None;
    }

    /// What is visible of the line of a recent place, up to so many bytes after the place.
    pub(super) fn line_around(&self, place: Place, length: usize) -> Option<VisibleLine<'_>> {
        let from = self.index(place)?;
        let start = memrchr(b'\n', &self.buffer[..from]).map_or(0, |newline| newline + 1);
        let after = &self.buffer[from..self.buffer.len().min(from.saturating_add(length))];
        let end = from + memchr(b'\n', after).unwrap_or(after.len());
        Some(VisibleLine { bytes: &self.buffer[start..end], offset: self.offset + start as u64 })
    }

    /// Where a place is in the buffer, if it is still there.
    fn index(&self, place: Place) -> Option<usize> {
        let index = usize::try_from(place.offset.checked_sub(self.offset)?).ok()?;
        (index <= self.buffer.len()).then_some(index)
    }

    /// The start of an earlier line, if it is recent enough to be shown.
    pub(super) fn start_of_line(&self, line: u64) -> Option<Place> {
        let back = usize::try_from(self.line.checked_sub(line)?).ok()?;
        let recent = &self.buffer[self.at.saturating_sub(PAST)..self.at];
        let offset = self.offset + (self.at - recent.len()) as u64;
        let line_offset = match memchr_iter(b'\n', recent).rev().nth(back) {
            Some(newline) => offset + newline as u64 + 1,
            None if offset == 0 && line == 1 => 0,
            None => return None,
        };
        Some(Place { offset: line_offset, line_offset, line })
    }
}
