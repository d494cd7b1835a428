//! Gzip and zstd, whole and broken.

use std::io::{Cursor, Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use tribunal_history::{Format, ReadOptions, TraceReader, open, unpack};

const TRACE: &str = "0: M[x] := 1\n1: M[x] == 1\ncheck\n0: sync\ncheck\n";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The lengths of the traces, or the error they end in.
fn lengths(packed: Vec<u8>) -> Result<Vec<usize>, String> {
    let input = unpack(Cursor::new(packed));
    TraceReader::new(input, "t.axe", ReadOptions::default())
        .map(|trace| trace.map(|history| history.len()).map_err(|error| error.to_string()))
        .collect()
}

#[test]
fn packed_files_are_read_as_they_are() {
    assert_eq!(lengths(TRACE.into()), Ok(vec![2, 1]));
    assert_eq!(lengths(gzip(TRACE.as_bytes())), Ok(vec![2, 1]));
    assert_eq!(lengths(zstd(TRACE.as_bytes())), Ok(vec![2, 1]));
}

#[test]
fn packed_files_may_be_put_one_after_the_other() {
    let (a, b) = TRACE.as_bytes().split_at(17);
    assert_eq!(lengths([gzip(a), gzip(b)].concat()), Ok(vec![2, 1]));
    assert_eq!(lengths([zstd(a), zstd(b)].concat()), Ok(vec![2, 1]));
    let skipped = [0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    assert_eq!(lengths([&skipped, &*zstd(TRACE.as_bytes())].concat()), Ok(vec![2, 1]));
}

#[test]
fn every_truncation_is_an_error_with_a_place() {
    for (name, packed) in [("gzip", gzip(TRACE.as_bytes())), ("zstd", zstd(TRACE.as_bytes()))] {
        for length in 4..packed.len() {
            let error = lengths(packed[..length].to_vec()).unwrap_err();
            let (place, reason) = error.split_once(": ").unwrap();
            assert!(place.starts_with("t.axe:"), "{error}");
            let expected = format!(
                "cannot read the file any further: the {name} data is truncated, or followed by other data"
            );
            assert_eq!(reason, expected, "{length} of {} bytes", packed.len());
        }
    }
}

#[test]
fn broken_data_is_an_error_or_the_same_traces() {
    for packed in [gzip(TRACE.as_bytes()), zstd(TRACE.as_bytes())] {
        for at in 4..packed.len() {
            for bit in 0..8 {
                let mut broken = packed.clone();
                broken[at] ^= 1 << bit;
                match lengths(broken) {
                    Ok(lengths) => assert_eq!(lengths, [2, 1]),
                    Err(error) => assert!(error.starts_with("t.axe:"), "{error}"),
                }
            }
        }
    }
}

#[test]
fn garbage_after_packed_data_is_an_error() {
    for packed in [gzip(TRACE.as_bytes()), zstd(TRACE.as_bytes())] {
        let error = lengths([packed, b"0: x := 1\n".repeat(9)].concat()).unwrap_err();
        assert!(
            error.starts_with("t.axe:6:1: cannot read the file any further: invalid"),
            "{error}"
        );
    }
}

#[test]
fn a_little_file_that_unpacks_to_much_is_read_in_little_memory() {
    let comment = gzip(&vec![b'#'; 64 << 20]);
    assert!(comment.len() < 1 << 20);
    assert_eq!(lengths(comment), Ok(vec![0]));
}

#[test]
fn files_are_opened_by_name_and_recognised_by_content() {
    let folder = std::env::temp_dir().join(format!("tribunal-packed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (name, bytes) in [
        ("plain.gz", TRACE.as_bytes().to_vec()),
        ("gzip.axe", gzip(TRACE.as_bytes())),
        ("zstd", zstd(TRACE.as_bytes())),
        ("empty", Vec::new()),
    ] {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        let mut text = String::new();
        open(path.to_str().unwrap()).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, if name == "empty" { "" } else { TRACE });
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_name_of_a_file_suggests_its_format() {
    for (name, format) in [
        ("a.axe", Format::Text),
        ("a.txt.gz", Format::Text),
        ("-", Format::Text),
        ("a.jsonl", Format::JsonLines),
        ("a.ndjson.zst", Format::JsonLines),
        ("dir.json/a", Format::Text),
        ("A.JSON.GZ", Format::JsonLines),
    ] {
        assert_eq!(Format::guess(name), format, "{name}");
    }
    assert_eq!("axe".parse(), Ok(Format::Text));
    assert_eq!("text".parse(), Ok(Format::Text));
    assert_eq!("jsonl".parse(), Ok(Format::JsonLines));
    assert_eq!(
        "xml".parse::<Format>().unwrap_err().to_string(),
        "unknown trace format `xml`; the formats are `text` (or `axe`), `jsonl`, \
         `tracegen`, `spike`, `rvfi`, `whisper`, `m3` and `gem5`"
    );
}
