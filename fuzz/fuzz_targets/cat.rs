//! Arbitrary bytes as a cat model: read or refused with a place; what is read can be asked about a
//! history, and a witness that is found is one by the definition.

#![no_main]

use cat::{Answer, CatModel, meets, solve};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    match CatModel::from_text("input.cat", &text) {
        Ok(model) => {
            let trace = "0: M[x] := 1\n0: sync\n0: M[y] == 0\n1: <M[y] == 0; M[y] := 1>\n1: M[x] == 0";
            let history = history::parse_text(trace).expect("the trace is well-formed");
            if let Answer::Consistent(witness) = solve(&model, &history, |effort| effort.evaluations < 100) {
                assert!(meets(&model, &history, &witness));
            }
        }
        Err(error) => assert!(error.render(true).contains("error")),
    }
});
