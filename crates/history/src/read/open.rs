//! Files as they come: plain, gzip or zstd, distinguished by their first bytes.

use std::fs::File;
use std::io::{self, Chain, Cursor, Read};

use flate2::read::MultiGzDecoder;

use super::error::{InputError, InputErrorKind};
use super::{ReadOptions, TraceReader};

/// Opens a file, or standard input for `-`. Gzip and zstd are recognised by their first bytes,
/// whatever the name says, and unpacked on the way. Nothing is read before it is asked for.
pub fn open(path: &str) -> Result<Box<dyn Read + Send>, InputError> {
    if path == "-" {
        return Ok(unpack(io::stdin()));
    }
    let cannot_open = |error: io::Error| {
        let reason = error.to_string().into();
        InputError::of_file(path, InputErrorKind::CannotOpen { reason })
    };
    let file = File::open(path).map_err(cannot_open)?;
    if file.metadata().map_err(cannot_open)?.is_dir() {
        return Err(cannot_open(io::ErrorKind::IsADirectory.into()));
    }
    Ok(unpack(file))
}

/// Whether a path is that of a file that is there as a whole, so that nobody waits for an answer
/// before the rest of it comes.
pub fn is_complete(path: &str) -> bool {
    path != "-" && std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// The traces of an input that [`open`] found.
pub type Traces = TraceReader<Box<dyn Read + Send>>;

/// Opens a file of traces, or standard input for `-`.
pub fn traces(path: &str, options: ReadOptions) -> Result<Traces, InputError> {
    Ok(TraceReader::new(open(path)?, shown(path), options))
}

/// What messages call a file: its path, and standard input `<stdin>`.
pub fn shown(path: &str) -> &str {
    match path {
        "-" => "<stdin>",
        path => path,
    }
}

/// Unpacks an input if its first bytes say that it is packed.
pub fn unpack(input: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    Box::new(Unpacker::Unknown { input: Some(input), seen: Vec::new() })
}

/// How an input is packed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Packing {
    Plain,
    Gzip,
    Zstd,
}

/// Reads the first bytes, then knows.
enum Unpacker<R: Read> {
    Unknown { input: Option<R>, seen: Vec<u8> },
    Plain(Whole<R>),
    Gzip(Box<MultiGzDecoder<Whole<R>>>),
    Zstd(Box<zstd::Decoder<'static, io::BufReader<Whole<R>>>>),
    Failed,
}

/// The input with the bytes that were looked at put back.
type Whole<R> = Chain<Cursor<Vec<u8>>, R>;

impl<R: Read> Read for Unpacker<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Unpacker::Unknown { input, seen } = self {
            let packing = first_bytes(input, seen)?;
            let seen = std::mem::take(seen);
            let Some(input) = input.take() else { return Ok(0) };
            *self = Unpacker::Failed;
            *self = Self::known(packing, Cursor::new(seen).chain(input))?;
        }
        match self {
            Unpacker::Plain(input) => input.read(buffer),
            Unpacker::Gzip(decoder) => decoder.read(buffer).map_err(|e| broken("gzip", &e)),
            Unpacker::Zstd(decoder) => decoder.read(buffer).map_err(|e| broken("zstd", &e)),
            Unpacker::Unknown { .. } | Unpacker::Failed => Ok(0),
        }
    }
}

impl<R: Read> Unpacker<R> {
    fn known(packing: Packing, input: Whole<R>) -> io::Result<Self> {
        Ok(match packing {
            Packing::Plain => Unpacker::Plain(input),
            Packing::Gzip => Unpacker::Gzip(Box::new(MultiGzDecoder::new(input))),
            Packing::Zstd => Unpacker::Zstd(Box::new(zstd::Decoder::new(input)?)),
        })
    }
}

fn broken(format: &str, error: &io::Error) -> io::Error {
    let reason = match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            format!("the {format} data is truncated, or followed by other data")
        }
        _ => format!("invalid {format} data: {error}"),
    };
    io::Error::new(error.kind(), reason)
}

/// Reads until the packing is clear, and not a byte further than one `read` gives.
fn first_bytes<R: Read>(input: &mut Option<R>, seen: &mut Vec<u8>) -> io::Result<Packing> {
    let mut piece = [0; 4];
    loop {
        if let Some(packing) = packing(seen) {
            return Ok(packing);
        }
        let Some(input) = input else { return Ok(Packing::Plain) };
        match input.read(&mut piece) {
            Ok(0) => return Ok(Packing::Plain),
            Ok(length) => seen.extend_from_slice(&piece[..length.min(piece.len())]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The compression that the first bytes show, once there are enough of them.
fn packing(seen: &[u8]) -> Option<Packing> {
    match seen {
        [0x1f, 0x8b, ..] => Some(Packing::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Packing::Zstd),
        // A frame to be skipped, which may come before the first real one.
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Packing::Zstd),
        [] | [0x1f] | [0x28] | [0x28, 0xb5] | [0x28, 0xb5, 0x2f] => None,
        [0x50..=0x5f] | [0x50..=0x5f, 0x2a] | [0x50..=0x5f, 0x2a, 0x4d] => None,
        _ => Some(Packing::Plain),
    }
}
