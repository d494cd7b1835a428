//! How fast traces are read, next to the least that reading could be: counting the lines and
//! inserting a number for each into a hash table.
//!
//! `cargo run --release --example parse_speed -- FILE…`, or without files for a trace of a million
//! events made up on the spot. Each is done a few times; the fastest counts. With `--once` the files
//! are read once and nothing else is done, for profilers and for measuring memory.

use std::collections::HashMap;
use std::fmt::Write;
use std::io::Read;
use std::time::Instant;

use tribunal_history::{Format, ReadOptions, TraceReader, open};

const TIMES: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut paths: Vec<String> = std::env::args().skip(1).collect();
    if paths.first().is_some_and(|first| first == "--once") {
        return paths.split_off(1).iter().try_for_each(|path| {
            let events = read(Box::new(open(path)?), path, Format::guess(path))?;
            println!("{path}: {events} events");
            Ok(())
        });
    }
    if paths.is_empty() {
        let trace = made_up(1_000_000);
        return report("made up", Format::Text, || Ok(Box::new(trace.as_bytes())));
    }
    for path in paths {
        report(&path, Format::guess(&path), || Ok(Box::new(open(&path)?)))?;
    }
    Ok(())
}

fn report<'t>(
    name: &str,
    format: Format,
    input: impl Fn() -> Result<Box<dyn Read + 't>, Box<dyn std::error::Error>>,
) -> Result<(), Box<dyn std::error::Error>> {
    let (mut events, mut lines) = (0, 0);
    let reading = fastest(|| {
        events = read(input()?, name, format)?;
        Ok(())
    })?;
    let least = fastest(|| {
        lines = count_and_insert(input()?)?;
        Ok(())
    })?;
    println!(
        "{name}: {events} events read in {reading:.3} s, {:.1} M/s; \
         {lines} lines counted and inserted in {least:.3} s; ratio {:.2}",
        events as f64 / reading / 1e6,
        reading / least
    );
    Ok(())
}

/// How many events there are in all traces of an input.
fn read(
    input: Box<dyn Read + '_>,
    name: &str,
    format: Format,
) -> Result<usize, Box<dyn std::error::Error>> {
    let options = ReadOptions { format, ..ReadOptions::default() };
    let mut events = 0;
    for history in TraceReader::new(input, name, options) {
        events += history?.len();
    }
    Ok(events)
}

/// The shortest of a few runs, in seconds.
fn fastest(
    mut run: impl FnMut() -> Result<(), Box<dyn std::error::Error>>,
) -> Result<f64, Box<dyn std::error::Error>> {
    let mut fastest = f64::INFINITY;
    for _ in 0..TIMES {
        let start = Instant::now();
        run()?;
        fastest = fastest.min(start.elapsed().as_secs_f64());
    }
    Ok(fastest)
}

/// What `wc -l` does, and an insertion a line.
fn count_and_insert(mut input: impl Read) -> std::io::Result<usize> {
    let mut piece = vec![0; 64 << 10];
    let mut seen: HashMap<u64, u32> = HashMap::new();
    loop {
        let length = input.read(&mut piece)?;
        if length == 0 {
            return Ok(seen.len());
        }
        for _ in memchr::memchr_iter(b'\n', &piece[..length]) {
            let line = seen.len();
            seen.insert(line as u64, line as u32);
        }
    }
}

/// A valid trace of 16 threads and 256 addresses.
fn made_up(events: u64) -> String {
    let mut memory = [0; 256];
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut trace = String::new();
    for value in 1..=events {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let (thread, address) = (random >> 32 & 15, random >> 40 & 255);
        let held = &mut memory[address as usize];
        let line = if random >> 60 & 1 == 0 {
            writeln!(trace, "{thread}: M[{address}] == {held}")
        } else {
            *held = value;
            writeln!(trace, "{thread}: M[{address}] := {value}")
        };
        line.expect("writing to a string does not fail");
    }
    trace
}
