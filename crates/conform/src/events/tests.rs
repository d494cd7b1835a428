use murphi::check::Options;
use murphi::source::Source;

use super::{EventNames, find};

fn program(types: &str, procedures: &str) -> Source {
    let text = format!(
        "{types} var busy: boolean; {procedures}
         startstate begin busy := false; end; rule begin busy := !busy; end;"
    );
    Source { name: "m.m".to_owned(), text }
}

const TYPES: &str = "type Proc: scalarset(2); Addr: enum {X, Y}; Value: 0..1;";
const LOAD: &str = "procedure Load(p: Proc; a: Addr; v: Value); begin end;";
const STORE: &str = "procedure Store(p: Proc; a: Addr; v: Value); begin end;";

/// The complaints about a program.
fn complaints(types: &str, procedures: &str) -> Vec<String> {
    let source = program(types, procedures);
    match find(&source, &Options::default(), &EventNames::default()) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.into_iter().map(|problem| problem.message).collect(),
    }
}

#[test]
fn types_are_read_off_the_parameters() {
    let source = program(TYPES, &format!("{LOAD}{STORE}"));
    let found = find(&source, &Options::default(), &EventNames::default());
    let protocol = found.expect("it is suitable");
    assert_eq!((&*protocol.processor.text, protocol.processor.count), ("Proc", 2));
    assert_eq!((&*protocol.address.text, protocol.address.symmetric), ("Addr", false));
    assert_eq!((&*protocol.value.text, protocol.value.count), ("Value", 2));
    // Both procedures are there but nobody calls them.
    assert_eq!((protocol.without_events.len(), protocol.warnings.len()), (2, 0));
}

#[test]
fn other_names_can_be_given() {
    let read = LOAD.replace("Load", "Read");
    let source = program(TYPES, &format!("{read}{STORE}"));
    let names = EventNames { load: "Read".to_owned(), ..EventNames::default() };
    assert!(find(&source, &Options::default(), &names).is_ok());
}

#[test]
fn what_is_unsuitable_is_said() {
    let missing = "the protocol has no procedure `Store`, which marks where a processor stores";
    assert_eq!(complaints(TYPES, LOAD), [missing]);

    let two = "procedure Store(p: Proc; a: Addr); begin end;";
    let message = "`Store` cannot mark a store: it has 2 parameters, not 3";
    assert_eq!(complaints(TYPES, &format!("{LOAD}{two}")), [message]);

    let reference = "procedure Store(p: Proc; a: Addr; var v: Value); begin end;";
    let message = "`Store` cannot mark a store: it takes `v` by reference";
    assert_eq!(complaints(TYPES, &format!("{LOAD}{reference}")), [message]);

    let swapped = "procedure Store(a: Addr; p: Proc; v: Value); begin end;";
    assert_eq!(
        complaints(TYPES, &format!("{LOAD}{swapped}")),
        [
            "`Load` and `Store` disagree about the type of the processor",
            "`Load` and `Store` disagree about the type of the address"
        ]
    );

    let flags = format!("{LOAD}{STORE}").replace("v: Value", "v: boolean");
    let message = "the values of `Store` have no declared type of their own";
    assert_eq!(complaints(TYPES, &flags), [message]);

    let same = format!("{LOAD}{STORE}").replace("a: Addr", "a: Value");
    let message = "`Store` takes address and value of the same type `Value`";
    assert_eq!(complaints(TYPES, &same), [message]);
}
