//! What is printed, compared with what is expected of it: a file that was recorded, or a text with
//! gaps.
//!
//! A recorded file is compared byte by byte; where `UPDATE_EXPECTED` is set it is written instead.
//! In a text with gaps, `[..]` stands for anything on a line, and `...` on a line of its own for any
//! lines.

use std::path::Path;

/// Fails, and shows both, unless a text is what the file has; writes the file if `UPDATE_EXPECTED`
/// is set.
#[track_caller]
pub fn expect(path: &Path, actual: &str) {
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(path, actual).expect("the expected file can be written");
        return;
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        expected == actual,
        "{} differs; UPDATE_EXPECTED=1 rewrites it. Expected:\n{expected}\nActual:\n{actual}",
        path.display()
    );
}

/// Fails, and shows both, unless what was printed is as expected.
#[track_caller]
pub fn assert_printed(printed: &str, expected: &str) {
    let lines = |text: &str| text.split('\n').map(str::to_owned).collect::<Vec<_>>();
    let fits = lines_fit(&lines(printed), &lines(expected));
    assert!(fits, "expected:\n{expected}\n\nprinted:\n{printed}");
}

/// Groups of lines between `...`: the first and the last are in their places, each of the others
/// as early as it can be, which leaves most to the rest.
fn lines_fit(lines: &[String], expected: &[String]) -> bool {
    let fit = |lines: &[String], group: &[String]| {
        lines.iter().zip(group).all(|(line, expected)| line_fits(line, expected))
    };
    let mut groups = expected.split(|line| line == "...");
    let first = groups.next().unwrap_or_default();
    if lines.len() < first.len() || !fit(lines, first) {
        return false;
    }
    let mut rest = &lines[first.len()..];
    let Some(last) = groups.next_back() else { return rest.is_empty() };
    for group in groups.filter(|group| !group.is_empty()) {
        let Some(at) = rest.windows(group.len()).position(|lines| fit(lines, group)) else {
            return false;
        };
        rest = &rest[at + group.len()..];
    }
    rest.len() >= last.len() && fit(&rest[rest.len() - last.len()..], last)
}

/// The same for the parts of a line between `[..]`.
fn line_fits(line: &str, expected: &str) -> bool {
    let Some((first, others)) = expected.split_once("[..]") else { return line == expected };
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let (between, last) = others.rsplit_once("[..]").unwrap_or(("", others));
    for part in between.split("[..]") {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_open_may_be_anything_and_nothing_else_may() {
        let fits = |printed: &str, expected: &str| {
            std::panic::catch_unwind(|| assert_printed(printed, expected)).is_ok()
        };
        for (printed, expected) in [
            ("", ""),
            ("one\n", "one\n"),
            ("1 of 20 in 3 s\n", "1 of [..] in [..] s\n"),
            ("a, b, a, c\n", "a, [..]a, c\n"),
            ("a\n", "[..]\n"),
            ("one\ntwo\nthree\n", "one\n...\nthree\n"),
            ("one\n", "one\n...\n"),
            ("1\n2\n1\n3\n", "...\n1\n3\n...\n"),
            ("one\n2 s\n3 s\n4\n", "one\n...\n[..] s\n4\n"),
        ] {
            assert!(fits(printed, expected), "{printed:?} is {expected:?}");
        }
        for (printed, expected) in [
            ("", "\n"),
            ("one\n", "one"),
            ("one\ntwo\n", "one\n"),
            ("1 of 20 in 3 m\n", "1 of [..] in [..] s\n"),
            ("ab\n", "ab[..]b\n"),
            ("one\ntwo\n", "[..]\n"),
            ("one\ntwo\n", "one\n...\nthree\n"),
            ("1\n2\n3\n", "...\n1\n3\n...\n"),
            ("1\n2\n1\n", "1\n2\n...\n2\n1\n"),
        ] {
            assert!(!fits(printed, expected), "{printed:?} is not {expected:?}");
        }
    }

    #[test]
    fn a_recorded_file_is_compared_byte_by_byte() {
        let path = std::env::temp_dir().join(format!("tribunal-snapshot-{}", std::process::id()));
        std::fs::write(&path, "one\n").unwrap();
        expect(&path, "one\n");
        assert!(std::panic::catch_unwind(|| expect(&path, "one")).is_err());
        std::fs::remove_file(&path).unwrap();
    }
}
