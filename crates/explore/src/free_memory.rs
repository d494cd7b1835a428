//! How much memory an exploration may use when nobody says: four fifths of what is free, so that
//! it ends with "undecided" and not by the hand of the operating system.

use std::fs;

/// The assumed value if the system does not report one.
const UNKNOWN: usize = 8 << 30;

/// Four fifths of the memory that is free for this process.
pub fn default_budget() -> usize {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| available(&text));
    let free = match (machine, container()) {
        (Some(machine), Some(container)) => machine.min(container),
        (Some(free), None) | (None, Some(free)) => free,
        (None, None) => return UNKNOWN,
    };
    usize::try_from(free / 5 * 4).unwrap_or(usize::MAX)
}

/// What is left to the control group of this process, where it has a limit.
fn container() -> Option<u64> {
    let number = |file: &str| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let of = |limit: &str, used: &str| Some(number(limit)?.saturating_sub(number(used)?));
    of("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current").or_else(|| {
        let directory = "/sys/fs/cgroup/memory/memory";
        of(&format!("{directory}.limit_in_bytes"), &format!("{directory}.usage_in_bytes"))
    })
}

/// The bytes that `/proc/meminfo` says are available.
fn available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_available_memory_is_read_in_kibibytes() {
        let text = "MemTotal:       16384 kB\nMemAvailable:    8192 kB\n";
        assert_eq!(available(text), Some(8192 * 1024));
        assert_eq!(available("MemTotal: 1 kB\n"), None);
    }

    #[test]
    fn there_is_always_some_budget() {
        assert!(default_budget() > 0);
    }
}
