//! Certificates of verdicts for any number of processors: what was shown is accepted, and what was
//! tampered with is not, also where the tamperer derives the rest again.

#![allow(clippy::unwrap_used)] // a test may fail

use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use conform::{MemoryModel, Options};
use explore::Deadlock;
use murphi::source::Source;
use recheck::{Certificate, Ended, Limits, OneAddress, Verdict, check};
use tribunal_parametric::{Question, carry_out, certificate, plan};

fn protocol(name: &str) -> Source {
    let path = format!("{}/../../protocols/{name}.m", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the protocol is there");
    Source { name: format!("{name}.m"), text }
}

/// The certificate of a protocol that is verified.
fn certified(source: &Source, memory_model: Option<MemoryModel>) -> Certificate {
    certified_by(source, memory_model, Options::default()).expect("it is verified")
}

/// The same, if it is verified.
fn certified_by(
    source: &Source,
    memory_model: Option<MemoryModel>,
    options: Options,
) -> Option<Certificate> {
    let mut options = Options { memory_model: memory_model.unwrap_or(MemoryModel::Sc), ..options };
    options.search.deadlock = Deadlock::Off;
    let question = Question {
        source,
        options: &options,
        memory_model,
        processors: None,
        concrete: None,
        named: true,
        lemmas: None,
    };
    let plan = plan(&question).expect("it can be abstracted");
    let never = AtomicBool::new(false);
    let outcome = carry_out(&question, &plan, &mut |_, _| (), &never).expect("it can be searched");
    certificate(&question, &plan, &outcome).expect("it can be derived again")
}

/// German's protocol and its certificate, which most tests begin with.
fn german() -> (Source, Certificate) {
    static GERMAN: LazyLock<(Source, Certificate)> = LazyLock::new(|| {
        let source = protocol("german");
        let certificate = certified(&source, None);
        (source, certificate)
    });
    GERMAN.clone()
}

fn checked(source: &Source, certificate: &Certificate) -> Verdict {
    // As it is read from its file.
    let again = Certificate::read(&certificate.write().unwrap()).expect("it can be read again");
    assert_eq!(again, *certificate);
    let interrupt = AtomicBool::new(false);
    check(&source.text, &again, &mut limits(None, &interrupt, &mut |_, _, _| ()))
}

/// A search on one thread.
fn limits<'a>(
    memory: Option<u64>,
    interrupt: &'a AtomicBool,
    listener: &'a mut dyn FnMut(&str, u64, u64),
) -> Limits<'a> {
    Limits { threads: 1, memory, interrupt, listener }
}

/// Why a check gave up, with so much memory and perhaps interrupted.
fn ended(source: &Source, certificate: &Certificate, memory: Option<u64>, stop: bool) -> Ended {
    let interrupt = AtomicBool::new(stop);
    match check(&source.text, certificate, &mut limits(memory, &interrupt, &mut |_, _, _| ())) {
        Verdict::Undecided(partial) => partial.ended,
        other => panic!("it is checked to the end: {other:?}"),
    }
}

fn holds(source: &Source, certificate: &Certificate) -> bool {
    matches!(checked(source, certificate), Verdict::Holds(_))
}

fn rejection(source: &Source, certificate: &Certificate) -> String {
    match checked(source, certificate) {
        Verdict::Broken(why) => why,
        other => panic!("it is not rejected: {other:?}"),
    }
}

/// A certificate in which one thing is changed.
fn tampered(certificate: &Certificate, change: impl FnOnce(&mut Certificate)) -> Certificate {
    let mut certificate = certificate.clone();
    change(&mut certificate);
    certificate
}

/// The same by someone who derives all the rest from views and lemmas.
fn derived_again(certificate: &Certificate) -> Result<Certificate, String> {
    recheck::certificate(certificate.question.clone(), &certificate.proofs)
}

/// What a certificate says of the address that stands for all.
fn one_address(certificate: &mut Certificate) -> &mut OneAddress {
    certificate.proofs[0].one_address.as_mut().expect("one address stands for all")
}

/// Rejects it after each change that is the same for all certificates.
fn rejects_every_tampering(source: &Source, original: &Certificate) {
    assert!(holds(source, original));
    let rejects = |what: &str, change: &dyn Fn(&mut Certificate)| {
        let forged = tampered(original, change);
        assert_ne!(forged, *original, "{what}");
        println!("{what}: {}", rejection(source, &forged));
    };
    rejects("a lemma weakened", &|it| {
        let lemma = &mut it.proofs[0].processors.lemmas[0];
        *lemma = lemma.replacen("-> (", "-> (true | ", 1);
    });
    rejects("a lemma dropped", &|it| drop(it.proofs[0].processors.lemmas.pop()));
    rejects("a rule of the abstract program dropped", &|it| {
        let text = &mut it.proofs[0].processors.abstraction;
        let from = text.find("rule \"").unwrap();
        let to = from + 1 + text[from + 1..].find("rule \"").unwrap();
        text.replace_range(from..to, "");
    });
    rejects("a guard of the abstract program strengthened", &|it| {
        let text = &mut it.proofs[0].processors.abstraction;
        *text = text.replacen("==>", "& false ==>", 1);
    });
    rejects("an invariant dropped", &|it| drop(it.proofs[0].processors.invariants.pop()));
    rejects("a check added", &|it| it.proofs[0].processors.checks.push("another".to_owned()));
    rejects("a claim dropped", &|it| drop(it.proofs.pop()));
    rejects("a claim renamed", &|it| it.proofs[0].claim += " at last");
    rejects("the view narrowed", &|it| it.proofs[0].processors.concrete -= 1);
    rejects("the view widened", &|it| it.proofs[0].processors.concrete += 1);
    rejects("the name added or left out", &|it| it.proofs[0].processors.named ^= true);
    rejects("the digest changed", &|it| it.question.digest = "0".repeat(16));
    let changed = Source { text: source.text.clone() + "\n-- changed\n", ..source.clone() };
    println!("{}", rejection(&changed, original));
}

#[test]
fn german_is_accepted_and_rejected_after_each_tampering() {
    let (source, original) = german();
    rejects_every_tampering(&source, &original);
    // The protocol is changed, and so is the text of it in the certificate.
    let changed = Source {
        text: source.text.replacen("serving := None", "serving := serving", 1),
        ..source.clone()
    };
    assert_ne!(changed.text, source.text);
    let forged = tampered(&original, |it| {
        it.question.protocol = changed.text.clone();
        it.question.digest = recheck::Question::digest_of(&changed.text);
    });
    assert!(rejection(&changed, &forged).contains("not derived from the protocol"));
}

#[test]
fn without_any_one_of_its_lemmas_german_is_rejected_by_the_search() {
    let (source, original) = german();
    for left_out in 0..original.proofs[0].processors.lemmas.len() {
        let fewer = tampered(&original, |it| {
            it.proofs[0].processors.lemmas.remove(left_out);
        });
        let fewer = derived_again(&fewer).expect("a lemma is not needed to abstract");
        let why = rejection(&source, &fewer);
        assert!(why.contains("does not hold") || why.contains("fails"), "{why}");
    }
}

#[test]
fn a_lemma_that_excludes_everything_is_rejected_by_the_search() {
    let (source, original) = german();
    let forged = tampered(&original, |it| {
        for lemma in &mut it.proofs[0].processors.lemmas {
            *lemma = lemma.replacen("-> (", "-> (false & ", 1);
        }
    });
    let forged = derived_again(&forged).expect("it can be abstracted");
    let why = rejection(&source, &forged);
    assert!(why.contains("lemma"), "{why}");
}

#[test]
fn a_broken_protocol_has_no_certificate_whatever_the_lemmas() {
    let (_, original) = german();
    let source = protocol("broken/german-grants-before-acks");
    let forged = tampered(&original, |it| {
        it.question.protocol = source.text.clone();
        it.question.digest = recheck::Question::digest_of(&source.text);
    });
    if let Ok(forged) = derived_again(&forged) {
        assert!(rejection(&source, &forged).contains("does not hold"));
    }
}

#[test]
fn mi_is_sequentially_consistent_by_a_certificate_and_not_by_a_forged_one() {
    let source = protocol("mi");
    let original = certified(&source, Some(MemoryModel::Sc));
    assert!(original.proofs[0].one_address.is_some(), "one address stands for all");
    rejects_every_tampering(&source, &original);
    let forged = tampered(&original, |it| {
        let program = &mut one_address(it).program;
        *program = program.replacen("==>", "& false ==>", 1);
    });
    assert!(rejection(&source, &forged).contains("the program with one address"));
    let forged = tampered(&original, |it| it.proofs[0].one_address = None);
    assert!(rejection(&source, &forged).contains("does not ask for"));
}

#[test]
fn what_a_certificate_assumes_is_said_and_must_be_asked_for() {
    // A value is compared, so that data is not independent.
    let compares = LATE.replace(
        "begin memory[a] := v; Store(p, a, v); end;",
        "begin if v != memory[a] then memory[a] := v; end; Store(p, a, v); end;",
    );
    assert_ne!(compares, LATE);
    let source = Source { name: "compares.m".to_owned(), text: compares };
    let assumes = Options { assume_independence: true, ..Options::default() };
    let Some(assumed) = certified_by(&source, Some(MemoryModel::Sc), assumes) else {
        panic!("it is verified if data independence is assumed");
    };
    match checked(&source, &assumed) {
        Verdict::Holds(holds) => assert_eq!(holds.assuming, [recheck::INDEPENDENCE]),
        other => panic!("{other:?}"),
    }
    let denied = tampered(&assumed, |it| it.question.assume.clear());
    let why = rejection(&source, &denied);
    assert!(why.contains("not established") || why.contains("does not ask for"), "{why}");
    assert!(certified_by(&source, Some(MemoryModel::Sc), Options::default()).is_none());
}

/// What is fetched is taken later, and the processor does nothing else meanwhile.
const LATE: &str = "
    type P: scalarset(2); A: scalarset(2); V: scalarset(2);
    var memory: array [A] of V; fetched: array [P] of array [A] of V;
    procedure Load(p: P; a: A; v: V); begin end;
    procedure Store(p: P; a: A; v: V); begin end;
    ruleset v: V do startstate begin
      for a: A do memory[a] := v; for p: P do undefine fetched[p][a]; end; end;
    end; end;
    ruleset p: P; a: A do
      rule \"fetch\" forall b: A do isundefined(fetched[p][b]) end
      ==> begin fetched[p][a] := memory[a]; end;
      rule \"load\" !isundefined(fetched[p][a])
      ==> begin Load(p, a, fetched[p][a]); undefine fetched[p][a]; end;
      ruleset v: V do
        rule \"store\" forall b: A do isundefined(fetched[p][b]) end
        ==> begin memory[a] := v; Store(p, a, v); end;
      end;
    end;";

#[test]
fn what_processors_do_at_one_address_at_a_time_is_part_of_the_certificate() {
    let source = Source { name: "late.m".to_owned(), text: LATE.to_owned() };
    let original = certified(&source, Some(MemoryModel::Sc));
    assert!(holds(&source, &original));
    let exclusions = |it: &Certificate| it.proofs[0].one_address.as_ref().unwrap().exclusions.len();
    assert!(exclusions(&original) > 0, "an exclusion is needed");
    for change in [
        |it: &mut OneAddress| drop(it.exclusions.pop()),
        |it: &mut OneAddress| it.exclusions[0].conditions[0] += " | true",
        |it: &mut OneAddress| drop(it.exclusions[0].conditions.pop()),
        |it: &mut OneAddress| it.exclusions[0].processors.abstraction.push('\n'),
        |it: &mut OneAddress| it.exclusions[0].processors.concrete += 1,
        |it: &mut OneAddress| drop(it.exclusions[0].processors.invariants.pop()),
    ] {
        let forged = tampered(&original, |it| change(one_address(it)));
        println!("{}", rejection(&source, &forged));
    }
    // Without the exclusion, and with all that follows from that.
    let forged = tampered(&original, |it| one_address(it).exclusions.clear());
    if let Ok(forged) = derived_again(&forged) {
        println!("{}", rejection(&source, &forged));
    }
}

/// A copy may be old, until one that is new is loaded.
const STALE: &str = "
    type P: scalarset(2); A: scalarset(2); V: scalarset(2);
    var memory: array [A] of V; copy: array [P] of array [A] of V;
    procedure Load(p: P; a: A; v: V); begin end;
    procedure Store(p: P; a: A; v: V); begin end;
    ruleset v: V do startstate begin
      for a: A do memory[a] := v; for p: P do undefine copy[p][a]; end; end;
    end; end;
    ruleset p: P; a: A do
      rule \"hit\" !isundefined(copy[p][a]) ==> begin Load(p, a, copy[p][a]); end;
      rule \"miss\" isundefined(copy[p][a]) ==> begin
        for b: A do undefine copy[p][b]; end;
        copy[p][a] := memory[a]; Load(p, a, memory[a]);
      end;
      ruleset v: V do
        rule \"store\" begin memory[a] := v; copy[p][a] := v; Store(p, a, v); end;
      end;
    end;";

#[test]
fn lemmas_about_addresses_are_part_of_the_certificate() {
    let source = Source { name: "stale.m".to_owned(), text: STALE.to_owned() };
    let original = certified(&source, Some(MemoryModel::Tso));
    assert!(holds(&source, &original));
    let lemmas = |it: &Certificate| it.proofs[0].one_address.clone().unwrap().lemmas.unwrap();
    assert_eq!(lemmas(&original).lemmas.len(), 1, "what a hit elsewhere tells");
    let changed = |change: &dyn Fn(&mut recheck::AddressLemmas)| {
        tampered(&original, |it| change(one_address(it).lemmas.as_mut().unwrap()))
    };
    let weakened = changed(&|it| it.lemmas[0] = it.lemmas[0].replacen("-> (", "-> (true | ", 1));
    let forged = changed(&|it| it.lemmas[0] = it.lemmas[0].replacen("-> (", "-> (false & ", 1));
    let dropped = changed(&|it| it.lemmas.clear());
    for altered in [&weakened, &forged, &dropped] {
        assert_ne!(*altered, original);
        assert!(rejection(&source, altered).contains("the program with one address"));
        let derived = derived_again(altered).expect("it can be abstracted");
        let why = rejection(&source, &derived);
        assert!(why.contains("does not hold") || why.contains("fails"), "{why}");
    }
}

#[test]
fn rules_of_one_name_have_lemmas_of_their_own() {
    let mut source = protocol("german");
    let unnamed = |line: &str| match line.trim_start().strip_prefix("rule \"") {
        Some(rest) => format!("rule \"step\"{}", rest.split_once('"').expect("it is a name").1),
        None => line.to_owned(),
    };
    source.text = source.text.lines().map(unnamed).collect::<Vec<_>>().join("\n");
    let original = certified(&source, None);
    let lemmas = &original.proofs[0].processors.lemmas;
    assert!(lemmas.iter().any(|lemma| lemma.contains("\"lemma for step #")), "{lemmas:?}");
    assert!(holds(&source, &original));
}

#[test]
fn processors_whose_order_shows_have_no_certificate() {
    let (_, mut forged) = german();
    let text = &mut forged.question.protocol;
    text.push_str(
        "rule \"first\" begin
           for n: Node do if cache[n].state != Invalid then auxiliary_first := n; end; end; end;",
    );
    *text = text.replacen("\nvar\n", "\nvar auxiliary_first: Node;\n", 1);
    forged.question.digest = recheck::Question::digest_of(&forged.question.protocol);
    let why = derived_again(&forged).expect_err("the last one is kept");
    assert!(why.contains("the order of the members of `Node`"), "{why}");
}

#[test]
fn an_index_that_is_the_number_of_processors_has_no_certificate() {
    let counting = "rule \"count\" begin put table[Count]; end;";
    let with = |rule: &str| {
        let text = STALE.replacen("scalarset(2)", "scalarset(Count)", 1);
        format!("const Count: 2; var table: array [0..2] of boolean; {text} {rule}")
    };
    let source = Source { name: "stale.m".to_owned(), text: with("") };
    let mut forged = certified(&source, Some(MemoryModel::Tso));
    assert!(holds(&source, &forged));
    forged.question.protocol = with(counting);
    forged.question.digest = recheck::Question::digest_of(&forged.question.protocol);
    let why = derived_again(&forged).expect_err("there is no element 3");
    assert!(why.contains("depends on the number of processors"), "{why}");
}

#[test]
fn a_search_that_is_ended_early_says_neither() {
    let (source, original) = german();
    assert_eq!(ended(&source, &original, Some(10_000), false), Ended::Memory);
    assert_eq!(ended(&source, &original, None, true), Ended::Interrupted);
}

#[test]
fn what_is_no_certificate_is_not_read() {
    let text = german().1.write().unwrap();
    for (from, to) in [
        ("\"version\":1", "\"version\":2"),
        ("\"any-processors\"", "\"any-number\""),
        ("\"digest\":", "\"sum\":"),
        ("\"concrete\":2", "\"concrete\":-2"),
        ("\"concrete\":2", "\"concrete\":2,\"abstract\":1"),
    ] {
        assert!(Certificate::read(&text.replacen(from, to, 1)).is_err(), "{from} is {to}");
    }
    assert_eq!(Certificate::read("").unwrap_err().line, 1);
    assert!(Certificate::read(&text[..text.len() / 2]).is_err());
}
