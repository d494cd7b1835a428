//! Campaigns on reference machines: every bug is found soon and explained in a few events, and
//! nothing is found where there is nothing.

use history::{ReadOptions, ThinAir, TraceReader};
use models::Model;
use stress::{Bug, Machine, MemoryModel};
use tribunal_hunt::Kind;

use crate::common::{campaign, machine, settle};

/// What a machine promises: the machines of rvwmo and aarch64 keep what wmo keeps.
fn promise(model: MemoryModel) -> Model {
    model.model().unwrap_or(Model::Wmo)
}

#[test]
fn every_bug_of_every_machine_is_found_and_shrunk_to_at_most_eight_events() {
    for &model in MemoryModel::ALL {
        for &(bug, name, _) in Bug::ALL {
            let Ok(broken) = Machine::new(model).with_bug(bug, Machine::DEFAULT_RATE) else {
                assert_eq!(model, MemoryModel::Sc);
                continue;
            };
            let settled = settle(&campaign(promise(model), 300, 2), &machine(broken), true);
            let last = settled.last().unwrap();
            let finding = last.findings.first().unwrap_or_else(|| panic!("{model} {name}"));
            eprintln!("{model} {name}: test {}, {}", last.number, finding.shape);
            assert_eq!(finding.kind, Kind::Violation);
            assert!(finding.events <= 8, "{model} {name}: {}", finding.shape);
            assert!(finding.certified, "{model} {name}: {}", finding.shape);
        }
    }
}

#[test]
fn a_machine_keeps_to_its_model() {
    for &model in MemoryModel::ALL {
        let machine = machine(Machine::new(model));
        let settled = settle(&campaign(promise(model), 60, 2), &machine, false);
        assert_eq!(settled.len(), 60);
        for settled in settled {
            assert!(settled.complete && settled.findings.is_empty(), "{model}: {settled:?}");
            assert_eq!((settled.totals.violations, settled.totals.undecided), (0, 0));
            assert!(settled.totals.operations > 0);
        }
    }
}

#[test]
fn the_machine_of_tso_is_not_sc_because_of_store_buffering() {
    let machine = machine(Machine::new(MemoryModel::Tso));
    let settled = settle(&campaign(Model::Sc, 40, 2), &machine, false);
    let findings = settled.iter().flat_map(|settled| &settled.findings);
    let finding = findings.into_iter().find(|finding| finding.name == "SB").unwrap();
    assert_eq!((&*finding.shape, finding.events), ("Wa1 Rb0 | Wb1 Ra0", 4));
    let file = |name| {
        let file = finding.files.iter().find(|(known, _)| *known == name);
        &file.unwrap_or_else(|| panic!("{name}")).1
    };
    assert!(file("why.svg").contains("<svg") && file("why.txt").contains("There is a cycle"));
    assert!(file("program.txt").contains(":= "));
    // The certificate is about the minimal trace as it is written.
    let options = ReadOptions { thin_air: ThinAir::Violation, ..ReadOptions::default() };
    let minimal = file("minimal.trace").as_bytes();
    let minimal = TraceReader::new(minimal, "minimal", options).next_trace().unwrap().unwrap();
    let certificate = evidence::Certificate::from_json(file("certificate.jsonl"), &minimal);
    certify::certify(&minimal, &certificate.unwrap()).unwrap();
}

#[test]
fn what_is_found_does_not_depend_on_the_number_of_workers() {
    let run = |jobs| {
        let machine = machine(Machine::new(MemoryModel::Pso));
        let settled = settle(&campaign(Model::Tso, 60, jobs), &machine, false);
        let row = |settled: tribunal_hunt::TestOutcome| {
            (settled.number, settled.totals, settled.findings, settled.coverage)
        };
        settled.into_iter().map(row).collect::<Vec<_>>()
    };
    assert_eq!(run(1), run(3));
}
