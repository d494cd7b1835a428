//! Arbitrary bytes as a litmus test: read or refused, and what is read is written back.

#![no_main]

use diagnostics::source::Source;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes).into_owned();
    match litmus::parse(&text) {
        Ok(test) => {
            // Names and metadata may hold what cannot be told from the rest of a file; the program
            // and the question may not.
            let plain = litmus::Litmus {
                name: "test".to_owned(),
                description: None,
                metadata: Vec::new(),
                ..test
            };
            let printed = plain.to_text();
            let again = litmus::parse(&printed).expect("what is printed can be read");
            assert_eq!(again, plain);
            assert_eq!(again.to_text(), printed);
        }
        Err(problem) => {
            let source = Source { name: "input".to_owned(), text };
            assert!(problem.span.start <= problem.span.end);
            assert!(problem.span.end as usize <= source.text.len());
            assert!(problem.render(&source, true).starts_with("\x1b[1;3"));
        }
    }
});
