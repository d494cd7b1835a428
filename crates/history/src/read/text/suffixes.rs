//! What may follow an event: times, a name, dependencies, annotations and the load of a pair.

use std::io::Read;

use super::{InputError, InputErrorKind, TextReader, Token, name_text};
use crate::annotation::{AccessOrder, DependencyKind};
use crate::builder::{Builder, Draft};
use crate::event::Times;
use crate::lexicon::NAME_HELP;

const TIMES_HELP: &str = "times are `@ begin:end`, `@ begin:` or `@ :end`";
const SUFFIX: &str = "`@`, `as`, `dep`, an annotation or the next event";
const SUFFIX_HELP: &str = "an event may be followed by `@ begin:end`, `as name`, `dep name,name` \
                           (or `addr`, `data`, `ctrl`), `acq`, `rel`, `acqrel`, `sc` and `pair name`";

/// How the words begin that may follow an event, where a statement could begin with their letter or
/// with none.
const ANNOTATIONS: [&[u8]; 4] = [b"rel", b"sc", b"ct", b"pair"];

impl<R: Read> TextReader<R> {
    /// `@ …`, `as …`, dependencies, annotations and `pair …`, in any order
    pub(super) fn suffixes(
        &mut self,
        builder: &mut Builder,
        event: Draft,
    ) -> Result<(), InputError> {
        let (mut timed, mut named, mut annotated) = (false, false, false);
        while self.early_thread.is_none() {
            if self.by_lines {
                self.input.window.skip_spaces();
                if matches!(self.input.window.peek(), Some(b'\n' | b'#')) {
                    break;
                }
            }
            self.input.window.skip_blanks();
            let place = self.input.window.place();
            match self.input.window.peek() {
                Some(b'@') => {
                    self.once(&mut timed, Token { place, length: 1 }, "time")?;
                    self.times(builder, event)?;
                }
                Some(b'a') if self.input.window.starts_with(b"as") => {
                    self.keyword("as", SUFFIX, SUFFIX_HELP)?;
                    self.once(&mut named, Token { place, length: 2 }, "name")?;
                    self.input.window.skip_blanks();
                    self.named(NAME_HELP, |name| builder.name(event, name))?;
                }
                Some(b'd') if self.input.window.starts_with(b"dep") => {
                    self.keyword("dep", SUFFIX, SUFFIX_HELP)?;
                    self.dependencies(builder, event, DependencyKind::Address)?;
                }
                Some(b'a' | b'd') => self.annotation(builder, event, &mut annotated)?,
                _ if ANNOTATIONS.iter().any(|word| self.input.window.starts_with(word)) => {
                    self.annotation(builder, event, &mut annotated)?;
                }
                _ => break,
            }
        }
        Ok(())
    }

    /// `acq`, …, `addr …`, `data …`, `ctrl …` or `pair …`
    pub(super) fn annotation(
        &mut self,
        builder: &mut Builder,
        event: Draft,
        annotated: &mut bool,
    ) -> Result<(), InputError> {
        let token = self.word(SUFFIX, SUFFIX_HELP)?;
        let word = name_text(self.input.window.bytes_since(token.place));
        if let Some(order) = AccessOrder::from_spelling(word) {
            self.once(annotated, token, "annotation")?;
            let said = builder.annotate(event, order);
            return said.map_err(|error| self.input.senseless(token, error.kind));
        }
        match (DependencyKind::from_spelling(word), word) {
            (Some(kind), _) => self.dependencies(builder, event, kind),
            (None, "pair") => {
                self.input.window.skip_blanks();
                self.named(NAME_HELP, |name| builder.pair(event, name))
            }
            (None, _) => Err(self.input.unexpected_at(token.place, SUFFIX, SUFFIX_HELP)),
        }
    }

    pub(super) fn once(
        &mut self,
        seen: &mut bool,
        token: Token,
        what: &'static str,
    ) -> Result<(), InputError> {
        if std::mem::replace(seen, true) {
            return Err(self.input.error(token, InputErrorKind::Repeated { what }));
        }
        Ok(())
    }

    /// `@ [begin] : [end]`. The end is on the line of the colon; a number there that is followed by
    /// a colon of its own is no end but the thread of the next event.
    pub(super) fn times(&mut self, builder: &mut Builder, event: Draft) -> Result<(), InputError> {
        let place = self.input.window.place();
        self.input.window.bump();
        self.input.window.skip_blanks();
        let mut times = Times::default();
        if self.input.window.peek() != Some(b':') {
            times.begin = Some(self.number("a time or `:`", TIMES_HELP)?.0);
            self.input.window.skip_blanks();
        }
        self.expect(b':', "`:` after the begin time", TIMES_HELP)?;
        let mut length = self.input.window.since(place);
        self.input.window.skip_spaces();
        if matches!(self.input.window.peek(), Some(b'0'..=b'9')) {
            let (number, token) = self.number("an end time", TIMES_HELP)?;
            let end = self.input.window.since(place);
            match self.by_lines {
                true => self.input.window.skip_spaces(),
                false => self.input.window.skip_blanks(),
            }
            if self.input.window.peek() == Some(b':') {
                self.early_thread = Some((number, token));
            } else {
                times.end = Some(number);
                length = end;
            }
        }
        self.say_times(builder, event, times, Token { place, length })
    }

    pub(super) fn say_times(
        &mut self,
        builder: &mut Builder,
        event: Draft,
        times: Times,
        token: Token,
    ) -> Result<(), InputError> {
        if times == Times::default() {
            return Ok(());
        }
        builder.times(event, times).map_err(|error| self.input.senseless(token, error.kind))
    }

    /// `name, name, …`
    pub(super) fn dependencies(
        &mut self,
        builder: &mut Builder,
        event: Draft,
        kind: DependencyKind,
    ) -> Result<(), InputError> {
        loop {
            self.input.window.skip_blanks();
            self.named(NAME_HELP, |name| builder.dependency_of_kind(event, name, kind))?;
            self.input.window.skip_blanks();
            if self.input.window.peek() != Some(b',') {
                return Ok(());
            }
            self.input.window.bump();
        }
    }
}
