//! What the trace generator of Rocket Chip and Chipyard prints: requests and responses of cores.
//!
//! ```text
//! 0: store-req 5 0x0000000008 #7 @56       0: fence-req @71
//! 1: load-req 0x0000000008 #0 @64          0: fence-resp @90
//! 0: resp 0 #7 @70                         1: load-reserve-req 0x0000000010 #1 @92
//! 1: resp 5 #0 @81                         1: store-cond-req 9 0x0000000010 #2 @99
//! 1: swap-req 3 0x0000000008 #3 @104       Completed after 190 cycles
//! ```
//!
//! Program order is the order of the requests of a core; tags join a response to its request. A
//! load-reserve whose store-conditional succeeded (its response is 0) is one atomic with it if the
//! core asked for nothing in between, and else a read that is paired with a write; one whose
//! store-conditional failed is a read. Fences order everything. The generator has no acquires,
//! releases or dependencies. Loads, and atomics as reads, have their times: the end of a
//! store says nothing about when others see it, so stores and what writes have no end. What the
//! simulation did not answer before it ended is left out, but for stores, which others may have
//! seen. Lines that do not begin with a number and a colon are of the simulator and are skipped; a
//! line that begins with `Completed` ends a trace, and so does the end of the input.
//!
//! One pass; the requests of a trace are kept until it ends.

use std::io::Read;

use rustc_hash::FxHashMap;

use super::error::{InputError, InputErrorKind};
use super::window::Place;
use super::{Input, Piece, Token};
use crate::build_error::{BuildError, BuildErrorKind};
use crate::builder::Builder;
use crate::event::{AddressId, Operation, Times, Value};
use crate::history::History;

/// The longest line that is looked at.
const LINE_LIMIT: usize = 4096;

const COMMAND: &str = "`load-req`, `load-reserve-req`, `store-req`, `store-cond-req`, `swap-req`, \
                       `resp`, `fence-req` or `fence-resp`";
const LINE_HELP: &str = "a line is `0: load-req 0x8 #1 @64`, `0: store-req 5 0x8 #2 @70` or \
                         `0: resp 5 #1 @81`";

/// Reads traces of the trace generator.
pub(super) struct TracegenReader<R> {
    input: Input<R>,
    /// Whether the end of the trace under way has been seen.
    ended: bool,
}

/// What a core asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RequestKind {
    Load,
    LoadReserve,
    Store,
    StoreConditional,
    Swap,
    Fence,
}

#[derive(Clone, Copy, Debug)]
struct Request {
    asked: RequestKind,
    thread: u64,
    address: u64,
    value: Value,
    begin: u64,
    response: Option<(Value, u64)>,
    /// Of a load-reserve: its store-conditional. Of a store-conditional: its load-reserve.
    partner: Option<usize>,
    /// Of a load-reserve: whether its store-conditional is the next request of its core.
    is_next: bool,
    line: u32,
}

/// A trace being read.
#[derive(Default)]
struct Requests {
    all: Vec<Request>,
    tags: FxHashMap<(u64, u64), usize>,
    fences: FxHashMap<u64, usize>,
    reserved: FxHashMap<u64, usize>,
    /// The latest request of each core.
    latest: FxHashMap<u64, usize>,
}

/// What a line says.
struct TracegenLine {
    thread: u64,
    what: LineContent,
    /// The command, to point at.
    token: Token,
}

enum LineContent {
    Request { asked: RequestKind, value: Value, address: u64, tag: u64, time: u64 },
    Response { value: Value, tag: u64, time: u64 },
    FenceRequest { time: u64 },
    FenceResponse { time: u64 },
}

impl<R: Read> TracegenReader<R> {
    pub(super) fn new(input: Input<R>) -> Self {
        Self { input, ended: false }
    }

    pub(super) fn input(&mut self) -> &mut Input<R> {
        &mut self.input
    }

    /// Events have their values only when they are answered, so that there are no pieces.
    pub(super) fn next_piece(&mut self, _: &mut Builder) -> Result<Piece, InputError> {
        let reason = "--live does not support traces of the trace generator".into();
        let help = "convert the trace to text first, or check it without --live";
        let error = InputError::of_file(&self.input.file, InputErrorKind::Other { reason });
        Err(error.with_help(Some(help)))
    }

    pub(super) fn next_trace(&mut self) -> Result<Option<History>, InputError> {
        let mut requests = Requests::default();
        let mut begun = false;
        self.ended = false;
        self.input.window.skip_byte_order_mark();
        loop {
            let (place, line) = match self.input.window.take_line(LINE_LIMIT) {
                None => break,
                Some(Ok((place, line))) => (place, line.to_vec()),
                Some(Err(place)) => {
                    let kind = InputErrorKind::LineTooLong { limit: LINE_LIMIT };
                    return Err(self.input.error(Token { place, length: 1 }, kind));
                }
            };
            if line.starts_with(b"Completed") {
                if begun {
                    self.ended = true;
                    break;
                }
                continue;
            }
            let Some(said) = self.said(place, &line)? else { continue };
            begun = true;
            requests.add(&said).map_err(|reason| {
                let kind = InputErrorKind::Other { reason: reason.into() };
                self.input.error(said.token, kind).with_help(Some(LINE_HELP))
            })?;
            self.afford(&requests, said.token)?;
        }
        if let Some(failure) = self.input.failure() {
            return Err(failure);
        }
        if begun { self.finish(requests).map(Some) } else { Ok(None) }
    }

    /// Skips to behind the next line that begins with `Completed`.
    pub(super) fn skip_trace(&mut self) -> bool {
        while !self.ended {
            match self.input.window.take_line(LINE_LIMIT) {
                None => break,
                Some(Ok((_, line))) => self.ended = line.starts_with(b"Completed"),
                Some(Err(_)) => self.input.window.skip_rest_of_line(),
            }
        }
        self.ended
    }

    fn afford(&mut self, requests: &Requests, token: Token) -> Result<(), InputError> {
        match self.input.options.memory {
            Some(bytes) if requests.all.len() * 2 * size_of::<Request>() > bytes => {
                Err(self.input.senseless(token, BuildErrorKind::MemoryBudget { bytes }))
            }
            _ => Ok(()),
        }
    }

    /// What a line says, if it is the trace generator's.
    fn said(&mut self, place: Place, line: &[u8]) -> Result<Option<TracegenLine>, InputError> {
        let mut words = LineCursor { line, at: 0 };
        let Some(thread) = words.number() else { return Ok(None) };
        if !words.takes(b':') {
            return Ok(None);
        }
        words.skip_blanks();
        let at = words.at;
        let command = words.word();
        let what = words.what(&command);
        let token = Token {
            place: Place { offset: place.offset + at as u64, ..place },
            length: command.len().max(1),
        };
        match what {
            Some(what) if words.ended() => Ok(Some(TracegenLine { thread, what, token })),
            Some(_) | None => {
                let at = if known(&command) { words.at } else { at };
                let expected = if known(&command) { words.expected(&command) } else { COMMAND };
                let place = Place { offset: place.offset + at as u64, ..place };
                Err(self.input.unexpected_at(place, expected, LINE_HELP))
            }
        }
    }

    fn finish(&mut self, requests: Requests) -> Result<History, InputError> {
        let mut builder = self.input.builder();
        for number in 0..requests.all.len() {
            requests.add_to(number, &mut builder).map_err(|error| self.input.unfinished(error))?;
        }
        self.input.finish(builder)
    }
}

/// Whether the trace generator has such a command.
fn known(command: &[u8]) -> bool {
    command == b"resp" || command == b"fence-resp" || asked(command).is_some()
}

fn asked(command: &[u8]) -> Option<RequestKind> {
    Some(match command {
        b"load-req" => RequestKind::Load,
        b"load-reserve-req" => RequestKind::LoadReserve,
        b"store-req" => RequestKind::Store,
        b"store-cond-req" => RequestKind::StoreConditional,
        b"swap-req" => RequestKind::Swap,
        b"fence-req" => RequestKind::Fence,
        _ => return None,
    })
}

/// A line under a finger.
struct LineCursor<'l> {
    line: &'l [u8],
    at: usize,
}

impl LineCursor<'_> {
    fn skip_blanks(&mut self) {
        let rest = &self.line[self.at..];
        self.at += rest.len() - rest.trim_ascii_start().len();
    }

    fn ended(&mut self) -> bool {
        self.skip_blanks();
        self.at == self.line.len()
    }

    fn takes(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let found = self.line.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self) -> Vec<u8> {
        let rest = &self.line[self.at..];
        let length = rest.iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
        self.at += length;
        rest[..length].to_vec()
    }

    /// A number, decimal or hexadecimal, of 64 bits.
    fn number(&mut self) -> Option<u64> {
        self.skip_blanks();
        let rest = &self.line[self.at..];
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let text = std::str::from_utf8(&rest[..length]).ok()?;
        let number = match text.strip_prefix("0x") {
            Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16),
            _ if text.starts_with(|c: char| c.is_ascii_digit()) => text.parse(),
            _ => return None,
        };
        let number = number.ok()?;
        self.at += length;
        Some(number)
    }

    fn marked(&mut self, mark: u8) -> Option<u64> {
        if self.takes(mark) { self.number() } else { None }
    }

    fn what(&mut self, command: &[u8]) -> Option<LineContent> {
        match command {
            b"resp" => {
                let value = self.number()?;
                Some(LineContent::Response {
                    value,
                    tag: self.marked(b'#')?,
                    time: self.marked(b'@')?,
                })
            }
            b"fence-req" => Some(LineContent::FenceRequest { time: self.marked(b'@')? }),
            b"fence-resp" => Some(LineContent::FenceResponse { time: self.marked(b'@')? }),
            command => {
                let asked = asked(command)?;
                let writes = !matches!(asked, RequestKind::Load | RequestKind::LoadReserve);
                let value = if writes { self.number()? } else { 0 };
                let address = self.number()?;
                let tag = self.marked(b'#')?;
                Some(LineContent::Request { asked, value, address, tag, time: self.marked(b'@')? })
            }
        }
    }

    /// What should stand where reading ended.
    fn expected(&self, command: &[u8]) -> &'static str {
        match command {
            b"resp" => "a value, `#` and a tag, `@` and a time",
            b"fence-req" | b"fence-resp" => "`@` and a time",
            b"load-req" | b"load-reserve-req" => "an address, `#` and a tag, `@` and a time",
            _ => "a value, an address, `#` and a tag, `@` and a time",
        }
    }
}

impl Requests {
    /// Adds what a line says; an error is a sentence.
    fn add(&mut self, said: &TracegenLine) -> Result<(), String> {
        let TracegenLine { thread, ref what, token } = *said;
        let line = token.place.short_line();
        let new = Request {
            asked: RequestKind::Fence,
            thread,
            address: 0,
            value: 0,
            begin: 0,
            response: None,
            partner: None,
            is_next: false,
            line,
        };
        let number = self.all.len();
        let asks = matches!(what, LineContent::Request { .. } | LineContent::FenceRequest { .. });
        let latest = if asks { self.latest.insert(thread, number) } else { None };
        match *what {
            LineContent::Request { asked, value, address, tag, time } => {
                if self.tags.insert((thread, tag), number).is_some() {
                    return Err(format!(
                        "core {thread} already has a pending request with tag {tag}"
                    ));
                }
                let mut request = Request { asked, value, address, begin: time, ..new };
                match asked {
                    RequestKind::LoadReserve => drop(self.reserved.insert(thread, number)),
                    RequestKind::StoreConditional => self.pair(&mut request, number, latest)?,
                    _ => {}
                }
                self.all.push(request);
            }
            LineContent::FenceRequest { time } => {
                self.fences.insert(thread, number);
                self.all.push(Request { begin: time, ..new });
            }
            LineContent::FenceResponse { time } => {
                let fence = self.fences.remove(&thread);
                let fence = fence.ok_or_else(|| format!("core {thread} has no pending fence"))?;
                self.all[fence].response = Some((0, time));
            }
            LineContent::Response { value, tag, time } => {
                let request = self.tags.remove(&(thread, tag)).ok_or_else(|| {
                    format!("core {thread} has no pending request with tag {tag}")
                })?;
                self.all[request].response = Some((value, time));
            }
        }
        Ok(())
    }

    /// Joins a store-conditional to its load-reserve.
    fn pair(
        &mut self,
        request: &mut Request,
        number: usize,
        latest: Option<usize>,
    ) -> Result<(), String> {
        let thread = request.thread;
        let load = self.reserved.remove(&thread);
        let load = load.ok_or_else(|| {
            format!("core {thread} has no load-reserve before this store-conditional")
        })?;
        if self.all[load].address != request.address {
            return Err("the load-reserve has another address".to_owned());
        }
        self.all[load].partner = Some(number);
        self.all[load].is_next = latest == Some(load);
        request.partner = Some(load);
        Ok(())
    }

    /// Adds what came of a request.
    fn add_to(&self, number: usize, builder: &mut Builder) -> Result<(), BuildError> {
        let request = &self.all[number];
        let Some(operation) = self.operation(request, |at| builder.address_numbered(at)) else {
            return Ok(());
        };
        let end = request.response.map(|(_, time)| time);
        let end = end.filter(|_| operation.value_written().is_none());
        let draft = builder.event(request.thread, operation, request.line)?;
        builder.times(draft, Times { begin: Some(request.begin), end })?;
        if !self.is_pair(request) {
            return Ok(());
        }
        match (request.asked, request.partner) {
            (RequestKind::LoadReserve, _) => builder.name(draft, &pair_name(number)),
            (_, Some(load)) => builder.pair(draft, &pair_name(load)),
            (_, None) => Ok(()),
        }
    }

    /// Whether this is a load-reserve whose store-conditional succeeded.
    fn succeeded(&self, load: &Request) -> Option<&Request> {
        let store = load.partner.map(|store| &self.all[store])?;
        let answered = load.response.is_some() && store.response.is_some_and(|(v, _)| v == 0);
        (load.asked == RequestKind::LoadReserve && answered).then_some(store)
    }

    /// Whether this is a load-reserve or a store-conditional that succeeded, with something in
    /// between.
    fn is_pair(&self, request: &Request) -> bool {
        let load = match (request.asked, request.partner) {
            (RequestKind::LoadReserve, _) => request,
            (RequestKind::StoreConditional, Some(load)) => &self.all[load],
            _ => return false,
        };
        self.succeeded(load).is_some() && !load.is_next
    }

    /// What came of a request; `None` if nothing that counts.
    fn operation(
        &self,
        request: &Request,
        mut address: impl FnMut(u64) -> AddressId,
    ) -> Option<Operation> {
        let answered = request.response.map(|(value, _)| value);
        let at = request.address;
        Some(match (request.asked, answered) {
            (RequestKind::Fence, Some(_)) => Operation::SYNC,
            (RequestKind::Store, _) => {
                Operation::Write { address: address(at), value: request.value }
            }
            (RequestKind::Load, Some(value)) => Operation::Read { address: address(at), value },
            (RequestKind::Swap, Some(read)) => {
                Operation::ReadModifyWrite { address: address(at), read, write: request.value }
            }
            (RequestKind::LoadReserve, Some(read)) => {
                match self.succeeded(request).filter(|_| request.is_next) {
                    Some(store) => {
                        let address = address(at);
                        Operation::ReadModifyWrite { address, read, write: store.value }
                    }
                    None => Operation::Read { address: address(at), value: read },
                }
            }
            (RequestKind::StoreConditional, _) if self.is_pair(request) => {
                Operation::Write { address: address(at), value: request.value }
            }
            // A store-conditional that failed, or that is reported with its load-reserve.
            _ => return None,
        })
    }
}

/// What a paired load-reserve is called, by the number of its request.
fn pair_name(load: usize) -> String {
    format!("lr{load}")
}
