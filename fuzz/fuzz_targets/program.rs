//! Arbitrary text as a program: read or refused, and what is read is written back, as text and as
//! JSON.

#![no_main]

use libfuzzer_sys::fuzz_target;
use stress::{parse_programs, parse_programs_json};

fuzz_target!(|text: &str| {
    for read in [parse_programs("input", text), parse_programs_json("input", text)] {
        match read {
            Ok(tests) => {
                let printed: String = tests.iter().map(ToString::to_string).collect();
                assert_eq!(parse_programs("printed", &printed).as_ref(), Ok(&tests));
                let lines: String = tests.iter().map(|test| test.to_json() + "\n").collect();
                assert_eq!(parse_programs_json("written", &lines).as_ref(), Ok(&tests));
            }
            Err(error) => {
                assert!(error.line >= 1 && error.line <= text.lines().count() as u64 + 1);
                assert!(error.render(true).starts_with("\x1b[1minput:"));
            }
        }
    }
});
