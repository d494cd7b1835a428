//! The cores this process may use, and pinning threads to them. One of the places where this crate
//! is unsafe.

/// The cores this process may run on.
#[cfg(target_os = "linux")]
pub(crate) fn allowed() -> Vec<usize> {
    // SAFETY: a set of no cores is all zeroes.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is as large as said and lives through the call.
    let status = unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) };
    if status != 0 {
        return Vec::new();
    }
    let most = libc::CPU_SETSIZE as usize;
    // SAFETY: the numbers are below the size of the set.
    (0..most).filter(|&core| unsafe { libc::CPU_ISSET(core, &set) }).collect()
}

/// Keeps the calling thread on one core. Where the system refuses, it runs where it likes: races
/// are then rarer, not wrong.
#[cfg(target_os = "linux")]
pub(crate) fn pin(core: usize) {
    // SAFETY: a set of no cores is all zeroes.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the core came from `allowed`, so it is below the size of the set.
    unsafe { libc::CPU_SET(core, &mut set) };
    // SAFETY: the set is as large as said and lives through the call.
    unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) };
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn allowed() -> Vec<usize> {
    Vec::new()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn pin(_: usize) {}
