//! Mutants: which there are, and what becomes of them.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use murphi::parse::parse;
use murphi::print::print;
use murphi::source::Source;
use tribunal_conform::mutate::{self, Answer, Fate, Mutant, Report, Totals};
use tribunal_conform::{EventNames, MemoryModel};

/// A memory in which a reader keeps a copy until the writer has text it to drop it.
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
fn every_mutant_is_printed_as_murphi_that_reads_the_same() {
    for name in ["mi", "msi-multiset", "piranha", "tso-cc", "msi-store-buffer", "lazy-caching"] {
        let found = mutants_of(&shipped(name));
        assert!(found.len() > 20, "{name}");
        for mutant in &found {
            let text = print(&mutant.program);
            let again = parse(&source(&text)).0.expect("a mutant is Murphi");
            assert_eq!(print(&again), text, "{name} {}", mutant.number);
        }
    }
}

#[test]
fn mutants_are_all_different() {
    let found = mutants_of(&shipped("msi"));
    let texts: BTreeSet<String> = found.iter().map(|mutant| print(&mutant.program)).collect();
    assert_eq!(texts.len(), found.len());
}

#[test]
fn start_states_claims_and_events_are_left_alone() {
    let source = source(COPIES);
    let program = parse(&source).0.expect("it is Murphi");
    let original = print(&program);
    let from = |text: &str, word: &str| text[text.find(word).expect("it is there")..].to_owned();
    let until = |text: &str, word: &str| text[..text.find(word).expect("it is there")].to_owned();
    for mutant in mutants_of(&source) {
        let text = print(&mutant.program);
        assert_eq!(from(&text, "invariant"), from(&original, "invariant"));
        assert_eq!(until(&text, "procedure drop"), until(&original, "procedure drop"));
        let start = |text: &str| until(&from(text, "startstate"), "ruleset");
        assert_eq!(start(&text), start(&original));
        for event in ["Load(p, a, copy[p][a])", "Store(p, a, v)"] {
            assert!(text.contains(event), "{}", mutant.describe(&source));
        }
    }
}

#[test]
fn the_mutants_of_a_small_protocol_have_the_fates_that_are_known() {
    let source = source(COPIES);
    let report = report(&source, &options(&[], 2));
    let fate = |description: &str| {
        let mut entries = report.entries.iter();
        let found = entries.find(|entry| entry.mutant.describe(&source).ends_with(description));
        found.map(|entry| entry.fate.clone()).expect(description)
    };
    let invariant = Fate::KilledByInvariant("copies agree".to_owned());
    assert_eq!(fate("rule \"store\": `drop(q, a)` deleted"), invariant);
    assert_eq!(fate("`state[q][a] = Shared` negated"), invariant);
    // With one location a stale copy is only late: the memory model has no objection.
    assert_eq!(fate("`drop(q, a)` with `q` → `p`"), invariant);
    let undefined = "`copy[Proc_1][Addr_1]` is undefined".to_owned();
    assert_eq!(fate("`copy[p][a] := memory[a]` deleted"), Fate::KilledByError(undefined));
    let lost = "no ordering cycle through 1 processor and 1 address".to_owned();
    assert_eq!(fate("`memory[a] := v` deleted"), Fate::KilledByMemoryModel(lost));
    let nothing = "a load returns an undefined value".to_owned();
    assert_eq!(
        fate("rule \"load\": guard without `state[p][a] = Shared`"),
        Fate::KilledByMemoryModel(nothing)
    );
    assert_eq!(fate("procedure `drop`: `undefine copy[p][a]` deleted"), Fate::Survived);
    let survivors = report.survivors().count();
    let totals = report.totals();
    assert_eq!((totals.mutants, totals.survived), (report.entries.len(), survivors));
    assert!(totals.by_memory_model > totals.only_by_memory_model);
}

#[test]
fn the_report_is_the_same_for_any_number_of_jobs() {
    let source = source(COPIES);
    let [one, three] = [1, 3].map(|jobs| report(&source, &options(&[], jobs)).text(&source));
    assert_eq!(one, three);
}

#[test]
fn tables_by_place_and_by_change_add_up() {
    let source = source(COPIES);
    let report = report(&source, &options(&[], 2));
    let total = report.totals().mutants;
    assert_eq!(report.by_place().iter().map(|(_, totals)| totals.mutants).sum::<usize>(), total);
    assert_eq!(report.by_operator().iter().map(|(_, totals)| totals.mutants).sum::<usize>(), total);
    assert_eq!(Totals::of(&report.entries), report.totals());
}

#[test]
fn one_mutant_by_itself_has_the_same_fate() {
    let source = source(COPIES);
    let options = options(&[], 1);
    let report = report(&source, &options);
    let entry = &report.entries[0];
    let fate = mutate::classify(&source, &entry.mutant, &options, &AtomicBool::new(false));
    assert_eq!(fate.expect("it can be verified"), entry.fate);
}

#[test]
fn survivors_are_the_same_if_a_mutant_that_is_noticed_is_asked_no_more() {
    let source = source(COPIES);
    let survivors = |options: &mutate::Options| -> Vec<usize> {
        report(&source, options).survivors().map(|entry| entry.mutant.number).collect()
    };
    let brief = mutate::Options { survivors: true, ..options(&[], 2) };
    let found = survivors(&options(&[], 2));
    assert_eq!(survivors(&brief), found);
    // And they can be tried alone.
    let again = report(&source, &mutate::Options { only: found.clone(), ..brief });
    let numbers: Vec<usize> = again.entries.iter().map(|entry| entry.mutant.number).collect();
    assert_eq!((numbers, again.totals().survived), (found.clone(), found.len()));
}

#[test]
fn an_interrupted_trial_leaves_the_rest_undecided() {
    let interrupt = AtomicBool::new(false);
    let mut stop = |progress: &mutate::Progress| {
        interrupt.store(progress.done >= 2, Ordering::Relaxed);
    };
    let report = mutate::run(&source(COPIES), &options(&[], 1), &mut stop, &interrupt);
    let totals = report.expect("it can be verified").totals();
    assert!(totals.undecided > 0 && totals.killed > 0, "{totals:?}");
}

#[test]
fn what_the_protocol_itself_does_not_pass_is_not_asked() {
    let text = COPIES.replace(
        "forall p: Proc; a: Addr do state[p][a] = Shared ->",
        "forall p: Proc; a: Addr do",
    );
    let text = text.replace("copy[p][a] = memory[a] end", "state[p][a] = Invalid end");
    let report = report(&source(&text), &options(&[], 2));
    assert_eq!(report.baseline.claims, Answer::Invariant("copies agree".to_owned()));
    let totals = report.totals();
    assert_eq!((totals.by_invariant, totals.by_error), (0, 0));
    assert!(totals.by_memory_model > 0);
    let text = report.text(&source(&text));
    assert!(text.contains("check skipped for all mutants: invariants and assertions"), "{text}");
}

#[test]
fn the_mutants_of_mi_with_two_processors() {
    let source = shipped("mi");
    let mut options = options(&[("ProcessorCount", "2")], 2);
    options.verify.search.memory = Some(4 << 20);
    let report = report(&source, &options);
    let totals = report.totals();
    assert_eq!(report.baseline.states, Some(67));
    let (killed, survived) = (totals.killed, totals.survived);
    assert_eq!((totals.mutants, killed, survived, totals.equivalent), (115, 107, 7, 1));
    assert!(totals.by_memory_model >= 40 && totals.by_deadlock >= 50, "{totals:?}");
    // What survives leaves data behind that nobody reads, but for one: an evictor that was too late
    // may as well stay in M until the forward comes.
    let changes: BTreeSet<String> =
        report.survivors().map(|entry| entry.mutant.change(&source)).collect();
    let forgets =
        |change: &&String| change.starts_with("`undefine") || change.contains("drop_data");
    assert_eq!(changes.iter().filter(forgets).count() + 1, changes.len(), "{changes:?}");
    assert!(changes.contains("`become(p, a, MI_F)` with `MI_F` → `M`"), "{changes:?}");
}

#[test]
fn tso_cc_without_self_invalidation_is_noticed_by_nothing_but_the_observer() {
    let source = shipped("tso-cc");
    let mut options = options(&[("BackgroundEvictions", "0")], 2);
    options.verify.memory_model = MemoryModel::Tso;
    let change = "rule \"cache receives DataS\": `self_invalidate_other_than(p, a)` deleted";
    let mutant = mutants_of(&source)
        .into_iter()
        .find(|mutant| mutant.describe(&source).ends_with(change))
        .expect("it is one of the mutants");
    let fate = mutate::classify(&source, &mutant, &options, &AtomicBool::new(false));
    let claim = "TSO-LB allows the value of every load".to_owned();
    assert_eq!(fate.expect("it can be verified"), Fate::KilledByMemoryModel(claim));
}
