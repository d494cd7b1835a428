//! Calls of the C interface as bytes say, right ones and wrong ones, with what each must return: an
//! account of what is open, declared and finished that shares nothing with the interface. The fuzz
//! target `capi` uses it, too.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::ptr;

use tribunal_c::*;

/// What was opened, and what must be true of it.
struct Opened {
    number: u64,
    threads: u32,
    bits: u32,
    /// Initial values of addresses, and whether they were accessed.
    places: BTreeMap<u64, (u64, bool)>,
    events: u64,
    verdict: Option<i32>,
    is_broken: bool,
    is_closed: bool,
}

/// How often each kind of return was seen: the statuses from -8 to 3.
pub(crate) type Seen = BTreeMap<i32, u64>;

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn or_zero(&mut self) -> u64 {
        self.next().unwrap_or(0).into()
    }
}

/// Makes the calls that the bytes say, and panics if one returns what it must not.
pub(crate) fn drive(bytes: &[u8]) -> Seen {
    let (mut bytes, mut opened, mut seen) = (Bytes(bytes), Vec::new(), Seen::new());
    while let Some(call) = bytes.next() {
        let status = match call % 16 {
            0 => open(&mut bytes, &mut opened),
            _ if opened.is_empty() => nobody(bytes.or_zero()),
            call => {
                let at = bytes.or_zero() as usize % opened.len();
                Some(one(call, &mut opened[at], &mut bytes))
            }
        };
        if let Some(status) = status {
            assert!(
                (TRIBUNAL_ERROR_INTERNAL + 1..=TRIBUNAL_VIOLATION).contains(&status),
                "{status}"
            );
            *seen.entry(status).or_default() += 1;
        }
    }
    for each in opened.iter().filter(|each| !each.is_closed) {
        assert_eq!(tribunal_close(each.number), TRIBUNAL_CONSISTENT);
        assert_eq!(tribunal_ask(each.number), TRIBUNAL_ERROR_SESSION);
    }
    seen
}

/// Calls of a session that nobody opened: all are refused.
fn nobody(low: u64) -> Option<i32> {
    let session = u64::MAX - low;
    assert_eq!(tribunal_load(session, 0, 0, 0, 0), TRIBUNAL_ERROR_SESSION);
    assert_eq!(tribunal_finish(session), TRIBUNAL_ERROR_SESSION);
    assert_eq!(tribunal_events(session), 0);
    assert!(text(tribunal_explanation(session)).contains("unknown session"));
    Some(tribunal_close(session))
}

fn text(pointer: *const std::ffi::c_char) -> String {
    // SAFETY: what the interface returns is a text that ends with a zero byte, and is copied at once.
    unsafe { CStr::from_ptr(pointer) }.to_str().expect("it is UTF-8").to_owned()
}

fn open(bytes: &mut Bytes<'_>, opened: &mut Vec<Opened>) -> Option<i32> {
    if opened.len() >= 8 {
        return None;
    }
    let model = match bytes.or_zero() % 12 {
        0 => c"nonsense",
        1 => c"\xff\xfe",
        2..6 => c"SC",
        6..9 => c"tso",
        9 => c"pso",
        10 => c"cc",
        _ => c"coherence",
    };
    let (threads, bits) = (bytes.or_zero() as u32 % 5, bytes.or_zero() as u32 % 70);
    let settings =
        tribunal_settings { threads, value_bits: bits, memory: 1 << 20, milliseconds: 50 };
    let mut number = 77;
    let which = bytes.or_zero() % 16;
    // SAFETY: each pointer is null or points to what it must.
    let status = unsafe {
        match which {
            0 => tribunal_open_with(ptr::null(), &settings, &mut number),
            1 => tribunal_open_with(model.as_ptr(), ptr::null(), &mut number),
            2 => tribunal_open_with(model.as_ptr(), &settings, ptr::null_mut()),
            3 => tribunal_open(model.as_ptr(), threads, &mut number),
            _ => tribunal_open_with(model.as_ptr(), &settings, &mut number),
        }
    };
    let bits = if which == 3 || bits == 0 { 64 } else { bits };
    let expected = match () {
        () if which < 3 => TRIBUNAL_ERROR_ARGUMENT,
        () if model == c"\xff\xfe" => TRIBUNAL_ERROR_ARGUMENT,
        () if model == c"nonsense" => TRIBUNAL_ERROR_MODEL,
        () if threads == 0 || bits > 64 => TRIBUNAL_ERROR_ARGUMENT,
        () => TRIBUNAL_CONSISTENT,
    };
    assert_eq!(status, expected, "open {model:?} {threads} threads {bits} bits, kind {which}");
    match status {
        TRIBUNAL_CONSISTENT => opened.push(Opened {
            number,
            threads,
            bits,
            places: BTreeMap::new(),
            events: 0,
            verdict: None,
            is_broken: false,
            is_closed: false,
        }),
        _ => assert_eq!(number, if which == 2 { 77 } else { 0 }),
    }
    Some(status)
}

/// A call of a session that was opened, and perhaps closed or finished since.
fn one(call: u8, session: &mut Opened, bytes: &mut Bytes<'_>) -> i32 {
    let number = session.number;
    let thread = bytes.or_zero() as u32 % 6;
    let (address, value) = (bytes.or_zero() % 4, value(bytes));
    let fits = |value: u64| session.bits == 64 || value >> session.bits == 0;
    let wrong = match () {
        () if session.is_closed => Some(TRIBUNAL_ERROR_SESSION),
        () if session.verdict.is_some() => Some(TRIBUNAL_ERROR_FINISHED),
        () if thread >= session.threads => Some(TRIBUNAL_ERROR_THREAD),
        () if !fits(value) => Some(TRIBUNAL_ERROR_VALUE),
        () => None,
    };
    match call {
        1..4 => event(session, wrong, Some(address), |time| {
            tribunal_load(number, thread, address, value, time)
        }),
        4..7 => event(session, wrong, Some(address), |time| {
            tribunal_store(number, thread, address, value, time)
        }),
        7 | 8 => {
            let written = self::value(bytes);
            let wrong = wrong.or((!fits(written)).then_some(TRIBUNAL_ERROR_VALUE));
            event(session, wrong, Some(address), |time| {
                tribunal_atomic(number, thread, address, value, written, time)
            })
        }
        9 => fence(session, thread, bytes),
        10 => initial(session, address, value),
        11 => ask(session),
        12 => finish(session),
        13 => {
            let status = tribunal_close(number);
            let expected = match session.is_closed {
                true => TRIBUNAL_ERROR_SESSION,
                false => TRIBUNAL_CONSISTENT,
            };
            assert_eq!(status, expected);
            session.is_closed = true;
            status
        }
        14 => {
            let why = text(tribunal_explanation(number));
            assert!(!why.is_empty());
            assert!(
                !session.is_broken || session.is_closed || why.contains("violation of"),
                "{why}"
            );
            ask(session)
        }
        _ => {
            text(tribunal_last_error(number));
            let events = if session.is_closed { 0 } else { session.events };
            assert_eq!(tribunal_events(number), events);
            ask(session)
        }
    }
}

fn ask(session: &mut Opened) -> i32 {
    let status = tribunal_ask(session.number);
    session.stands(status);
    status
}

/// Small values for the most part, so that reads find writes.
fn value(bytes: &mut Bytes<'_>) -> u64 {
    match bytes.or_zero() {
        255 => u64::MAX,
        large @ 240.. => 1 << (large % 16 * 4),
        small => small % 4,
    }
}

fn event(
    session: &mut Opened,
    wrong: Option<i32>,
    address: Option<u64>,
    call: impl FnOnce(u64) -> i32,
) -> i32 {
    let was_broken = session.is_broken;
    let status = call(session.events);
    match wrong {
        Some(wrong) => assert_eq!(status, wrong),
        None => {
            session.stands(status);
            if !was_broken {
                session.events += 1;
                if let Some(address) = address {
                    session.places.entry(address).or_insert((0, false)).1 = true;
                }
            }
        }
    }
    status
}

fn fence(session: &mut Opened, thread: u32, bytes: &mut Bytes<'_>) -> i32 {
    let (before, after) = (bytes.or_zero() as u32 % 6, bytes.or_zero() as u32 % 6);
    let wrong = match () {
        () if session.is_closed => Some(TRIBUNAL_ERROR_SESSION),
        () if before > 3 || after > 3 || before == 0 || after == 0 => Some(TRIBUNAL_ERROR_ARGUMENT),
        () if session.verdict.is_some() => Some(TRIBUNAL_ERROR_FINISHED),
        () if thread >= session.threads => Some(TRIBUNAL_ERROR_THREAD),
        () => None,
    };
    let number = session.number;
    event(session, wrong, None, |time| tribunal_fence(number, thread, before, after, time))
}

fn initial(session: &mut Opened, address: u64, value: u64) -> i32 {
    let status = tribunal_initial(session.number, address, value);
    let place = session.places.get(&address).copied().unwrap_or((0, false));
    let expected = match () {
        () if session.is_closed => TRIBUNAL_ERROR_SESSION,
        () if session.verdict.is_some() => TRIBUNAL_ERROR_FINISHED,
        () if session.bits < 64 && value >> session.bits != 0 => TRIBUNAL_ERROR_VALUE,
        () if place.1 && place.0 != value => TRIBUNAL_ERROR_LATE,
        () => {
            session.stands(status);
            if !place.1 {
                session.places.insert(address, (value, false));
            }
            return status;
        }
    };
    assert_eq!(status, expected, "initial {address} {value}");
    status
}

fn finish(session: &mut Opened) -> i32 {
    let status = tribunal_finish(session.number);
    if session.is_closed {
        assert_eq!(status, TRIBUNAL_ERROR_SESSION);
        return status;
    }
    match session.verdict {
        Some(verdict) => assert_eq!(status, verdict, "the verdict has changed"),
        None => {
            assert_ne!(status, TRIBUNAL_OPEN);
            session.stands(status);
            session.verdict = Some(status);
        }
    }
    status
}

impl Opened {
    /// A status of a call that makes sense; a violation stays one.
    fn stands(&mut self, status: i32) {
        if self.is_closed {
            assert_eq!(status, TRIBUNAL_ERROR_SESSION);
            return;
        }
        if self.verdict.is_some() {
            assert_eq!(status, TRIBUNAL_ERROR_FINISHED);
            return;
        }
        assert!((TRIBUNAL_CONSISTENT..=TRIBUNAL_VIOLATION).contains(&status), "{status}");
        assert!(!self.is_broken || status == TRIBUNAL_VIOLATION, "a violation is gone");
        self.is_broken |= status == TRIBUNAL_VIOLATION;
    }
}
