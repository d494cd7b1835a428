//! Tests that distinguish two models: what is found is the smallest, and both models say of it what is
//! claimed, by the definition of their files.

use judge::ModelFile;
use oracle::Definition;
use tribunal_hunt::separate;

fn names(first: &str, second: &str, size: usize) -> [Option<String>; 2] {
    let open = |name| ModelFile::shipped(name).unwrap();
    let found = separate(&open(first), &open(second), size, |_| true);
    let definitions = [first, second].map(|name| Definition::shipped(name).unwrap());
    for (direction, test) in found.tests.iter().enumerate() {
        let Some(test) = test else { continue };
        let history = test.cycle.history();
        assert!(definitions[direction].allows(&history), "{}", test.cycle);
        assert!(!definitions[1 - direction].allows(&history), "{}", test.cycle);
        assert!(test.litmus.is_some(), "{}", test.cycle);
    }
    found.tests.map(|test| test.map(|test| test.cycle.name()))
}

#[test]
fn the_smallest_test_between_two_models_is_found() {
    assert_eq!(names("sc", "tso", 4), [None, Some("SB".to_owned())]);
    assert_eq!(names("tso", "pso", 4), [None, Some("MP".to_owned())]);
    assert_eq!(names("tso", "tso", 4), [None, None]);
}
