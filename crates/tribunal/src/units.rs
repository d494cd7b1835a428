//! Times and sizes as people write them on a command line: `500ms`, `60s`, `5m`, `8GiB`, `200MB`.

use std::time::Duration;

/// The units of time, in milliseconds.
const TIMES: [(&str, f64); 6] = [
    ("ms", 1.0),
    ("s", 1_000.0),
    ("", 1_000.0),
    ("m", 60_000.0),
    ("min", 60_000.0),
    ("h", 3_600_000.0),
];

/// The units of memory, in bytes.
const SIZES: [(&str, f64); 11] = [
    ("", 1.0),
    ("B", 1.0),
    ("K", 1024.0),
    ("KiB", 1024.0),
    ("M", 1_048_576.0),
    ("MiB", 1_048_576.0),
    ("G", 1_073_741_824.0),
    ("GiB", 1_073_741_824.0),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
];

/// A number without a unit is a number of bytes from here on; for a smaller one, the unit was
/// probably forgotten.
const SMALLEST_BARE: f64 = 65_536.0;

/// Parses a time: a number with `ms`, `s` (the default), `m` or `h`.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let milliseconds = measure(text, &TIMES)
        .ok_or_else(|| format!("`{text}` is not a time; write it like 500ms, 60s, 5m or 1h"))?;
    Ok(Duration::from_micros((milliseconds * 1_000.0) as u64))
}

/// Parses a size: a number with `KiB`, `MiB`, `GiB` (powers of 1024, short `K`, `M`, `G`), `KB`,
/// `MB` or `GB` (powers of 1000).
pub(crate) fn size(text: &str) -> Result<usize, String> {
    let bytes = measure(text, &SIZES)
        .ok_or_else(|| format!("`{text}` is not a size; write it like 512MiB, 8GiB or 200MB"))?;
    if bytes < SMALLEST_BARE && text.trim().bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("`{text}` has no unit; write {text}GiB or {text}MiB"));
    }
    Ok(bytes as usize)
}

/// Parses a number and a unit of the table, in any case.
fn measure(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().ok()?;
    let unit = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim()))?;
    Some(number * unit.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_units() {
        assert_eq!(time("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(time("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(time("90"), Ok(Duration::from_secs(90)));
        assert_eq!(time("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(time("1h"), Ok(Duration::from_secs(3600)));
    }

    #[test]
    fn sizes_are_read_with_their_units() {
        assert_eq!(size("8GiB"), Ok(8 << 30));
        assert_eq!(size("512 mib"), Ok(512 << 20));
        assert_eq!(size("200MB"), Ok(200_000_000));
        assert_eq!(size("1048576"), Ok(1 << 20));
        assert_eq!(size("8"), Err("`8` has no unit; write 8GiB or 8MiB".to_owned()));
    }

    #[test]
    fn nonsense_is_refused_with_the_remedy() {
        for text in ["", "s", "-1s", "1 parsec", "1.2.3s", "GiB", "inf", "nan"] {
            assert!(time(text).is_err() && size(text).is_err(), "{text}");
        }
        assert_eq!(
            time("soon"),
            Err("`soon` is not a time; write it like 500ms, 60s, 5m or 1h".to_owned())
        );
    }
}
