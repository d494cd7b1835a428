//! The functions that C calls. Unsafe code is here only: pointers of the caller are read and written
//! as the header says, each at one place.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::time::Duration;

use history::Kinds;
use judge::Limits;
use models::Model;
use testbench::{Settings, TestBench, TraceStatus};

use crate::status::{
    CallError, TRIBUNAL_CONSISTENT, TRIBUNAL_ERROR_MODEL, TRIBUNAL_ERROR_SESSION, TRIBUNAL_LOADS,
    TRIBUNAL_STORES, of_standing, sentence,
};
use crate::table::{self, Entry, guarded};

/// What is declared before the first event. A field that is 0 stands for its default.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(non_camel_case_types)] // the name is that of the header
pub struct tribunal_settings {
    /// How many threads there are: 0, 1, … up to this. Has no default.
    pub threads: u32,
    /// How many bits a value has; default 64.
    pub value_bits: u32,
    /// The memory of the session in bytes; default 1 GiB.
    pub memory: u64,
    /// The time in milliseconds for each question to the engines; default: no limit.
    pub milliseconds: u64,
}

/// The version, as `tribunal -V` has it.
#[unsafe(no_mangle)]
pub extern "C" fn tribunal_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// A status in a sentence, for ever valid.
#[unsafe(no_mangle)]
pub extern "C" fn tribunal_status_text(status: i32) -> *const c_char {
    sentence(status).as_ptr()
}

/// Opens a session with this many threads, and writes its number to `session`.
///
/// # Safety
///
/// `model` is null or a text that ends with a zero byte; `session` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tribunal_open(
    model: *const c_char,
    threads: u32,
    session: *mut u64,
) -> i32 {
    let settings = tribunal_settings { threads, ..tribunal_settings::default() };
    // SAFETY: as the caller promises; the settings are ours.
    unsafe { tribunal_open_with(model, &settings, session) }
}

/// Opens a session, and writes its number to `session`; 0, which is no session, if there is none.
///
/// # Safety
///
/// As for [`tribunal_open`]; `settings` is null or can be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tribunal_open_with(
    model: *const c_char,
    settings: *const tribunal_settings,
    session: *mut u64,
) -> i32 {
    if session.is_null() {
        return returned(Err(CallError::argument("`session` is null")));
    }
    // SAFETY: it is not null, and the caller promises that it can be written.
    unsafe { session.write(0) };
    let opened = guarded(|| {
        // SAFETY: the caller promises that it is null or can be read.
        let settings = unsafe { settings.as_ref() };
        let settings = settings.ok_or_else(|| CallError::argument("`settings` is null"))?;
        // SAFETY: the caller promises that it is null or a text that ends with a zero byte.
        let model = unsafe { text(model) }?;
        Ok(table::open(TestBench::new(named(model)?, checked(settings)?)?))
    });
    returned(opened.map(|number| {
        // SAFETY: as above.
        unsafe { session.write(number) };
        TRIBUNAL_CONSISTENT
    }))
}

/// # Safety
///
/// `pointer` is null or a text that ends with a zero byte and lives for `'a`.
unsafe fn text<'a>(pointer: *const c_char) -> Result<&'a str, CallError> {
    if pointer.is_null() {
        return Err(CallError::argument("`model` is null"));
    }
    // SAFETY: it is not null; the rest is what the caller promises.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| CallError::argument("`model` is not UTF-8"))
}

fn named(model: &str) -> Result<Model, CallError> {
    model.to_ascii_lowercase().parse().map_err(|unknown: models::UnknownModel| CallError {
        status: TRIBUNAL_ERROR_MODEL,
        sentence: unknown.to_string(),
    })
}

fn checked(settings: &tribunal_settings) -> Result<Settings, CallError> {
    let tribunal_settings { threads, value_bits, memory, milliseconds } = *settings;
    let memory = (memory > 0).then(|| usize::try_from(memory)).transpose();
    let memory =
        memory.map_err(|_| CallError::argument("`memory` is more than can be addressed"))?;
    let time = (milliseconds > 0).then(|| Duration::from_millis(milliseconds));
    let value_bits = if value_bits == 0 { 64 } else { value_bits };
    Ok(Settings { threads, value_bits, limits: Limits { time, memory } })
}

/// Says what an address holds at first, before it is accessed; 0 if nothing is said.
#[unsafe(no_mangle)]
pub extern "C" fn tribunal_initial(session: u64, address: u64, value: u64) -> i32 {
    on(session, |entry| {
        entry.bench.initial(address, value)?;
        Ok(entry.bench.standing())
    })
}

/// A thread read a value, at this simulation time.
#[unsafe(no_mangle)]
pub extern "C" fn tribunal_load(
    session: u64,
    thread: u32,
    address: u64,
    value: u64,
    time: u64,
) -> i32 {
    on(session, |entry| Ok(entry.bench.load(thread, address, value, time)?))
}

/// A thread wrote a value, at this simulation time.
#[unsafe(no_mangle)]
pub extern "C" fn tribunal_store(
    session: u64,
    thread: u32,
    address: u64,
    value: u64,
    time: u64,
) -> i32 {
    on(session, |entry| Ok(entry.bench.store(thread, address, value, time)?))
}

/// A thread read a value and wrote another one at once, at this simulation time.
#[unsafe(no_mangle)]
pub extern "C" fn tribunal_atomic(
    session: u64,
    thread: u32,
    address: u64,
    read: u64,
    written: u64,
    time: u64,
) -> i32 {
    on(session, |entry| Ok(entry.bench.atomic(thread, address, (read, written), time)?))
}

/// A fence that keeps accesses of one kind before those of another: sums of `TRIBUNAL_LOADS` and
/// `TRIBUNAL_STORES`.
#[unsafe(no_mangle)]
pub extern "C" fn tribunal_fence(
    session: u64,
    thread: u32,
    before: u32,
    after: u32,
    time: u64,
) -> i32 {
    on(session, |entry| Ok(entry.bench.fence(thread, kinds(before)?, kinds(after)?, time)?))
}

fn kinds(bits: u32) -> Result<Kinds, CallError> {
    if bits & !(TRIBUNAL_LOADS | TRIBUNAL_STORES) != 0 {
        let sentence = "accesses are TRIBUNAL_LOADS, TRIBUNAL_STORES or their sum";
        return Err(CallError::argument(format!("{bits} is not a set of accesses; {sentence}")));
    }
    Ok(Kinds { reads: bits & TRIBUNAL_LOADS != 0, writes: bits & TRIBUNAL_STORES != 0 })
}

/// The status after a complete check of the events so far.
#[unsafe(no_mangle)]
pub extern "C" fn tribunal_ask(session: u64) -> i32 {
    on(session, |entry| Ok(entry.bench.ask()?))
}

/// Ends the trace and says the verdict. Asked again, it is the same.
#[unsafe(no_mangle)]
pub extern "C" fn tribunal_finish(session: u64) -> i32 {
    on(session, |entry| Ok(entry.bench.finish()))
}

/// Closes a session. Its number is wrong from then on.
#[unsafe(no_mangle)]
pub extern "C" fn tribunal_close(session: u64) -> i32 {
    match guarded(|| Ok(table::close(session))) {
        Ok(true) => TRIBUNAL_CONSISTENT,
        Ok(false) => TRIBUNAL_ERROR_SESSION,
        Err(wrong) => wrong.status,
    }
}

/// The number of events reported so far; 0 if the session is unknown.
#[unsafe(no_mangle)]
pub extern "C" fn tribunal_events(session: u64) -> u64 {
    guarded(|| table::with(session, |entry| Ok(entry.bench.events()))).unwrap_or(0)
}

/// Why things stand as they do, as text. The pointer is valid until this thread calls
/// `tribunal_explanation` or `tribunal_last_error` again.
#[unsafe(no_mangle)]
pub extern "C" fn tribunal_explanation(session: u64) -> *const c_char {
    kept(guarded(|| table::with(session, |entry| Ok(entry.bench.explanation()))))
}

/// What was last wrong with a call of a session, as text; empty if nothing was. The pointer is valid
/// as that of `tribunal_explanation` is.
#[unsafe(no_mangle)]
pub extern "C" fn tribunal_last_error(session: u64) -> *const c_char {
    kept(guarded(|| table::with(session, |entry| Ok(entry.wrong.clone()))))
}

thread_local! {
    static TEXT: RefCell<CString> = RefCell::new(CString::default());
}

/// Keeps a text for the caller, or the sentence of what is wrong.
fn kept(text: Result<String, CallError>) -> *const c_char {
    let text = text.unwrap_or_else(|wrong| wrong.sentence).replace('\0', "\u{FFFD}");
    let text = CString::new(text).unwrap_or_default();
    // While a thread ends, its text may be gone already.
    let kept = TEXT.try_with(|kept| {
        let pointer = text.as_ptr();
        *kept.borrow_mut() = text;
        pointer
    });
    kept.unwrap_or_else(|_| c"".as_ptr())
}

/// A call of a session that says how things stand.
fn on(session: u64, call: impl FnOnce(&mut Entry) -> Result<TraceStatus, CallError>) -> i32 {
    returned(guarded(|| table::with(session, call)).map(of_standing))
}

fn returned(called: Result<i32, CallError>) -> i32 {
    called.unwrap_or_else(|wrong| wrong.status)
}
