//! The open sessions by their numbers. Numbers are not used again, so that one of a closed session
//! stays wrong.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use testbench::TestBench;

use crate::status::{CallError, TRIBUNAL_ERROR_INTERNAL, TRIBUNAL_ERROR_SESSION, sentence};

/// An open session, and what was last wrong with a call of it.
pub(crate) struct Entry {
    pub(crate) bench: TestBench,
    pub(crate) wrong: String,
}

struct Table {
    last: u64,
    entries: BTreeMap<u64, Arc<Mutex<Entry>>>,
}

static TABLE: RwLock<Table> = RwLock::new(Table { last: 0, entries: BTreeMap::new() });

/// Adds a session and says its number.
pub(crate) fn open(bench: TestBench) -> u64 {
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    table.last += 1;
    let number = table.last;
    table.entries.insert(number, Arc::new(Mutex::new(Entry { bench, wrong: String::new() })));
    number
}

/// Removes a session. Calls of it that are under way in other threads end as usual.
pub(crate) fn close(session: u64) -> bool {
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    let removed = table.entries.remove(&session);
    drop(table);
    removed.is_some()
}

/// Does something with a session, and notes what is wrong with it.
pub(crate) fn with<T>(
    session: u64,
    call: impl FnOnce(&mut Entry) -> Result<T, CallError>,
) -> Result<T, CallError> {
    let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    let entry = table.entries.get(&session).cloned();
    drop(table);
    let Some(entry) = entry else { return Err(wrong(TRIBUNAL_ERROR_SESSION)) };
    // A panic while the lock was held has left the session in an unknown state.
    let Ok(mut entry) = entry.lock() else { return Err(wrong(TRIBUNAL_ERROR_INTERNAL)) };
    let called = call(&mut entry);
    if let Err(wrong) = &called {
        entry.wrong.clone_from(&wrong.sentence);
    }
    called
}

/// Keeps a panic on this side of the border.
pub(crate) fn guarded<T>(call: impl FnOnce() -> Result<T, CallError>) -> Result<T, CallError> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| Err(wrong(TRIBUNAL_ERROR_INTERNAL)))
}

fn wrong(status: i32) -> CallError {
    CallError { status, sentence: sentence(status).to_string_lossy().into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::Model;
    use testbench::Settings;

    #[test]
    fn a_panic_makes_its_session_unusable_and_no_other() {
        let open = || open(TestBench::new(Model::Sc, Settings::default()).expect("it is sound"));
        let (one, other) = (open(), open());
        let status = |session, panics: bool| {
            let called =
                guarded(|| with(session, |_| if panics { panic!("on purpose") } else { Ok(()) }));
            called.map_or_else(|wrong| wrong.status, |()| 0)
        };
        assert_eq!(status(one, true), TRIBUNAL_ERROR_INTERNAL);
        assert_eq!(status(one, false), TRIBUNAL_ERROR_INTERNAL);
        assert_eq!(status(other, false), 0);
        assert!(close(one) && close(other) && !close(one));
        assert_eq!(status(other, false), TRIBUNAL_ERROR_SESSION);
    }
}
