#![no_main]

use history::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tribunal_fuzz::read_log(bytes, Format::Gem5));
