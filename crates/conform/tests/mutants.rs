//! Mutants: which there are, and what becomes of them.

use std::sync::atomic::AtomicBool;

use murphi::parse::parse;
use murphi::print::print;
use murphi::source::Source;
use tribunal_conform::mutate::{self, Fate, Mutant, Operator, Report, Totals};
use tribunal_conform::{EventNames, MemoryModel};

/// A memory in which a reader keeps a copy until the writer has told it to drop it.
const COPIES: &str = "
type
  Proc: scalarset(2);
  Addr: scalarset(1);
  Value: 0..1;
  Line: enum { Invalid, Shared };
var
  memory: array [Addr] of Value;
  state: array [Proc] of array [Addr] of Line;
  copy: array [Proc] of array [Addr] of Value;

procedure Load(p: Proc; a: Addr; v: Value); begin end;
procedure Store(p: Proc; a: Addr; v: Value); begin end;

procedure drop(p: Proc; a: Addr);
begin
  state[p][a] := Invalid;
  undefine copy[p][a];
end;

startstate begin
  for a: Addr do
    memory[a] := 0;
    for p: Proc do state[p][a] := Invalid; undefine copy[p][a]; end;
  end;
end;

ruleset p: Proc; a: Addr do
  rule \"fetch\" state[p][a] = Invalid ==> begin
    state[p][a] := Shared;
    copy[p][a] := memory[a];
  end;

  rule \"load\" state[p][a] = Shared ==> begin
    Load(p, a, copy[p][a]);
  end;

  rule \"evict\" state[p][a] = Shared ==> begin
    drop(p, a);
  end;
end;

ruleset p: Proc; a: Addr; v: Value do
  rule \"store\" begin
    for q: Proc do
      if state[q][a] = Shared then drop(q, a); end;
    end;
    memory[a] := v;
    Store(p, a, v);
  end;
end;

invariant \"copies agree\"
  forall p: Proc; a: Addr do state[p][a] = Shared -> copy[p][a] = memory[a] end;
";

fn source(text: &str) -> Source {
    Source { name: "protocol.m".to_owned(), text: text.to_owned() }
}

fn shipped(name: &str) -> Source {
    let path = format!("{}/../../protocols/{name}.m", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the protocol is there");
    Source { name: format!("{name}.m"), text }
}

fn options(constants: &[(&str, &str)], jobs: usize) -> mutate::Options {
    let mut options = mutate::Options { jobs, ..mutate::Options::default() };
    let constants = constants.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    options.verify.language.constants = constants.collect();
    options.verify.memory_model = MemoryModel::Sc;
    options
}

fn mutants_of(source: &Source) -> Vec<Mutant> {
    let program = parse(source).0.expect("it is Murphi");
    mutate::mutants(&program, &EventNames::default())
}

fn report(source: &Source, options: &mutate::Options) -> Report {
    mutate::run(source, options, &mut |_| (), &AtomicBool::new(false)).expect("it can be verified")
}

#[test]
fn mutants_are_enumerated_in_the_order_of_the_source() {
    let source = source(COPIES);
    let found: Vec<String> =
        mutants_of(&source).iter().map(|mutant| mutant.describe(&source)).collect();
    assert_eq!(found.len(), 14, "{found:#?}");
    for description in [
        "line 17, procedure `drop`: `state[p][a] := Invalid` with `Invalid` → `Shared`",
        "line 17, procedure `drop`: `state[p][a] := Invalid` deleted",
        "line 29, rule \"fetch\": guard without `state[p][a] = Invalid`",
        "line 46, rule \"store\": `state[q][a] = Shared` negated",
        "line 46, rule \"store\": `drop(q, a)` with `q` → `p`",
    ] {
        assert!(found.iter().any(|mutant| mutant == description), "{description} in {found:#?}");
    }
}

#[test]
fn probe() {
    let name = std::env::var("PROBE").unwrap_or("mi".into());
    let source = if name == "copies" { source(COPIES) } else { shipped(&name) };
    let constants = std::env::var("CONSTS").unwrap_or("ProcessorCount=2".into());
    let pairs: Vec<(&str, &str)> =
        constants.split(',').filter_map(|pair| pair.split_once('=')).collect();
    let mut options = options(&pairs, 2);
    if std::env::var("TSO").is_ok() {
        options.verify.memory_model = MemoryModel::Tso;
    }
    let started = std::time::Instant::now();
    let report = report(&source, &options);
    println!("{:?}", report.baseline);
    println!("{}", report.text(&source));
    for entry in &report.entries {
        println!(
            "{:>4} {} => {:?} {:?}",
            entry.mutant.number,
            entry.mutant.describe(&source),
            entry.fate,
            entry.findings
        );
    }
    println!("{:?}", started.elapsed());
    let _ = (print, Fate::Survived, Operator::DropCase, Totals::default());
}
