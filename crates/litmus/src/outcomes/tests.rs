//! The outcomes of well-known tests.

use super::*;

fn states(text: &str, model: Model) -> Vec<String> {
    let test = crate::parse(text).unwrap();
    let outcomes = outcomes(&test, model, &Limits::NONE).unwrap();
    let mut states = Vec::new();
    outcomes.each(|state| {
        states.push(outcomes.spelled(state));
        true
    });
    states
}

#[test]
fn a_store_buffer_adds_one_state_to_store_buffering() {
    let test = r"X86 SB
        { }
        P0          | P1          ;
        MOV [x],$1  | MOV [y],$1  ;
        MOV EAX,[y] | MOV EAX,[x] ;
        exists (0:EAX=0 /\ 1:EAX=0)";
    let sc = ["0:EAX=0; 1:EAX=1;", "0:EAX=1; 1:EAX=0;", "0:EAX=1; 1:EAX=1;"];
    assert_eq!(states(test, Model::Sc), sc);
    for model in [Model::Tso, Model::Pso, Model::Coherence] {
        assert_eq!(states(test, model), [&["0:EAX=0; 1:EAX=0;"], &sc[..]].concat());
    }
}
