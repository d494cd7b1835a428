//! Calls at random return what they must, in one thread and in several at once.

use chance::Rng;
use tribunal_c::*;

use crate::driver::{Seen, drive};

fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    (0..length).map(|_| rng.below(256) as u8).collect()
}

#[test]
fn calls_at_random_return_what_they_must_and_every_status_is_seen() {
    let trials = std::env::var("TRIBUNAL_TRIALS").ok().and_then(|text| text.parse().ok());
    let mut seen = Seen::new();
    for seed in 0..trials.unwrap_or(300) {
        for (status, count) in drive(&bytes(seed, 4000)) {
            *seen.entry(status).or_default() += count;
        }
    }
    for status in TRIBUNAL_ERROR_FINISHED..=TRIBUNAL_VIOLATION {
        // Sessions this short are never given up.
        if status != TRIBUNAL_UNDECIDED {
            assert!(seen.get(&status).is_some_and(|&count| count > 20), "{status}: {seen:?}");
        }
    }
}

#[test]
fn sessions_of_several_threads_do_not_disturb_each_other() {
    std::thread::scope(|scope| {
        for seed in 1000..1004 {
            scope.spawn(move || {
                (0..20).for_each(|more| drop(drive(&bytes(seed + 10 * more, 2000))))
            });
        }
    });
}

#[test]
fn threads_may_share_a_session() {
    let mut session = 0;
    // SAFETY: the text ends with a zero byte, and the number can be written.
    assert_eq!(unsafe { tribunal_open(c"sc".as_ptr(), 4, &mut session) }, TRIBUNAL_CONSISTENT);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for value in 1..=1000 {
                    let address = 0x100 + u64::from(thread);
                    tribunal_store(session, thread, address, value, value);
                    tribunal_load(session, thread, address, value, value);
                }
            });
        }
    });
    assert_eq!(tribunal_events(session), 8000);
    assert_eq!(tribunal_finish(session), TRIBUNAL_CONSISTENT);
    assert_eq!(tribunal_close(session), TRIBUNAL_CONSISTENT);
}
