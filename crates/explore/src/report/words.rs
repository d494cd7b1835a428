//! Numbers as people read them.

/// `1 state`, `1,024 states`.
///
/// ```
/// assert_eq!(tribunal_explore::report::counted(1_024, "state"), "1,024 states");
/// assert_eq!(tribunal_explore::report::counted(1, "state"), "1 state");
/// ```
pub fn counted(number: u64, what: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{} {what}{s}", grouped(number))
}

/// Thousands set off by commas.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups.map(|group| String::from_utf8_lossy(group)).collect();
    groups.join(",")
}
