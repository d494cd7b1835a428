#![no_main]

use libfuzzer_sys::fuzz_target;
use stress::PacketPrograms;

fuzz_target!(|bytes: &[u8]| {
    let Some((&window, bytes)) = bytes.split_first() else { return };
    let Ok(programs) = PacketPrograms::new(bytes, "input", window.into()) else { return };
    for program in programs.map_while(Result::ok) {
        program.check().expect("what is made of packets is a program");
    }
});
