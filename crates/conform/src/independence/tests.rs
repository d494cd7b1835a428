use murphi::check::Options;
use murphi::source::Source;

use crate::events::{EventNames, find};
use crate::foundations::Unestablished;

/// A protocol with one memory cell for each address, and these rules.
fn protocol(rules: &str) -> Source {
    let text = format!(
        "type Proc: scalarset(2); Addr: scalarset(2); Value: 0..1; Flag: 0..1;
         var memory: array [Addr] of Value; other: Flag; busy: boolean;
             line: record d: Value; on: boolean; end;
             net: multiset [2] of Value; counts: array [Value] of boolean;
         procedure Load(p: Proc; a: Addr; v: Value); begin end;
         procedure Store(p: Proc; a: Addr; v: Value); begin end;
         startstate begin for a: Addr do memory[a] := 0; end; undefine line; end;
         {rules}"
    );
    Source { name: "cells.m".to_owned(), text }
}

/// What is underlined in the rules, with the first words of the complaint.
fn doubted(rules: &str) -> Vec<(String, String)> {
    let source = protocol(rules);
    let protocol = match find(&source, &Options::default(), &EventNames::default()) {
        Ok(protocol) => protocol,
        Err(problems) => panic!("{problems:#?}"),
    };
    let text =
        protocol.treatment.doubts.into_iter().map(|Unestablished { diagnostic: doubt, .. }| {
            let what =
                doubt.message.split(" is not established").next().unwrap_or_default().to_owned();
            (what, source.slice(doubt.span).to_owned())
        });
    text.collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(what, text)| (what.to_string(), text.to_string())).collect()
}

#[test]
fn copies_and_rules_that_name_what_they_load_are_fine() {
    let rules = "ruleset p: Proc; a: Addr; v: Value do
           rule memory[a] = v & !busy ==> begin Load(p, a, v); end;
           rule begin memory[a] := v; line.d := memory[a]; Store(p, a, v); MultisetAdd(v, net); end;
         end;
         rule !isundefined(line.d) ==> begin undefine line.d; end;
         invariant forall a: Addr do memory[a] = 0 | memory[a] != 0 end;";
    assert_eq!(doubted(rules), []);
}

#[test]
fn a_decision_on_data_is_underlined() {
    let independence = "data independence";
    for (rule, underlined) in [
        ("rule line.d = 1 ==> begin busy := true; end;", "line.d = 1"),
        ("rule begin if line.d != 0 then busy := true; end; end;", "line.d != 0"),
        ("rule begin switch line.d case 0: busy := true; end; end;", "line.d"),
        ("rule begin busy := counts[line.d]; end;", "line.d"),
        ("rule begin assume line.d = 0; end;", "line.d = 0"),
        ("rule begin while line.d = 0 do line.on := true; end; end;", "line.d = 0"),
        ("rule begin for v: Value do busy := true; end; end;", "v: Value"),
        ("rule exists v: Value do line.d = v end ==> begin busy := true; end;", "v: Value"),
    ] {
        let found = doubted(rule);
        assert!(found.contains(&(independence.to_owned(), underlined.to_owned())), "{found:?}");
    }
}

#[test]
fn comparing_two_places_through_one_parameter_is_a_decision() {
    let rule = "ruleset a: Addr; v: Value do
           rule memory[a] = v & line.d = v ==> begin busy := true; end; end;";
    assert_eq!(doubted(rule), pairs(&[("data independence", "line.d = v")]));
}

#[test]
fn a_value_from_nowhere_is_underlined() {
    let rules = "rule \"constant\" begin line.d := 1; end;
                 rule \"clear\" begin clear line; end;
                 rule \"empty\" begin clear net; end;";
    assert_eq!(
        doubted(rules),
        pairs(&[("causality", "1"), ("causality", "clear line;")])
            .into_iter()
            .map(|(what, text)| (what, text.trim_end_matches(';').to_owned()))
            .collect::<Vec<_>>()
    );
}

#[test]
fn data_under_another_name_is_underlined() {
    let rules = "rule begin other := line.d; end; rule begin line.d := other; end;";
    assert_eq!(
        doubted(rules),
        pairs(&[("data independence", "line.d"), ("data independence", "other")])
    );
}
