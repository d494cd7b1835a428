//! How fast traces are read: `cargo run --release --example parse_speed -- FILE`.

use std::time::Instant;

use tribunal_history::{Format, ReadOptions, TraceReader, open};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let start = Instant::now();
        let options = ReadOptions { format: Format::guess(&path), ..ReadOptions::default() };
        let mut events = 0;
        for history in TraceReader::new(open(&path)?, &path, options) {
            events += history?.len();
        }
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{path}: {events} events, {seconds:.3} s, {:.2} M/s",
            events as f64 / seconds / 1e6
        );
    }
    Ok(())
}
