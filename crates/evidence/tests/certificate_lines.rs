//! Certificates survive the way to their file and back, and what is no certificate takes that into account in a
//! sentence.

use evidence::{
    Because, Certificate, Cycle, Derived, Edge, Evidence, Graph, Literal, Node, Proof, Reader,
    Rule, Step, Subject, Why, Witness,
};
use history::{AddressId, EventId, History, Source, parse_text};
use models::Model;
use proptest::collection::vec;
use proptest::prelude::*;
use tribunal_evidence as evidence;

/// Thread labels that are not thread ids, addresses of both kinds, a fence and an atomic.
fn sample() -> History {
    parse_text(
        "7: M[x] := 1
         7: sync
         7: M[0x10] == 0
         3: M[16] := 1
         3: <M[x] == 0; M[x] := 2>
         final M[x] == 2",
    )
    .expect("the sample is well-formed")
}

fn event() -> impl Strategy<Value = EventId> {
    (0..5usize).prop_map(EventId::new)
}

fn address() -> impl Strategy<Value = AddressId> {
    (0..2usize).prop_map(AddressId::new)
}

fn source() -> impl Strategy<Value = Source> {
    prop_oneof![Just(Source::Initial), event().prop_map(Source::Write)]
}

fn reader() -> impl Strategy<Value = Reader> {
    prop_oneof![event().prop_map(Reader::Event), address().prop_map(Reader::Final)]
}

fn node() -> impl Strategy<Value = Node> {
    prop_oneof![
        event().prop_map(Node::Event),
        address().prop_map(Node::Initial),
        event().prop_map(Node::ReadOf)
    ]
}

fn edges() -> impl Strategy<Value = Vec<Edge>> {
    let because = prop_oneof![
        Just(Because::ProgramOrder),
        Just(Because::Fence),
        Just(Because::Dependency),
        Just(Because::Time),
        Just(Because::ReadsFrom),
        Just(Because::WriteOrder),
        Just(Because::FromRead),
        any::<u32>().prop_map(Because::Derived),
    ];
    let edge = (node(), node(), because);
    vec(edge.prop_map(|(from, to, because)| Edge { from, to, because }), 0..4)
}

fn graph() -> impl Strategy<Value = Graph> {
    prop_oneof![Just(Graph::Location), Just(Graph::Global), Just(Graph::ThinAir)]
}

fn cycle() -> impl Strategy<Value = Cycle> {
    (graph(), edges()).prop_map(|(graph, edges)| Cycle { graph, edges })
}

fn derived() -> impl Strategy<Value = Derived> {
    let rule = prop_oneof![
        Just(Rule::Observed),
        Just(Rule::Conflict),
        Just(Rule::StoreOrder),
        Just(Rule::Overwritten),
        Just(Rule::Atomic),
    ];
    let optional = || proptest::option::of(node());
    (node(), node(), rule, graph(), optional(), optional(), edges()).prop_map(
        |(from, to, rule, graph, scope, via, path)| Derived {
            from,
            to,
            rule,
            graph,
            scope,
            via,
            path,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let literal = prop_oneof![
        (event(), event()).prop_map(|(a, b)| Literal::before(a, b)),
        (reader(), source()).prop_map(|(r, s)| Literal::reads(r, s)),
        (reader(), source()).prop_map(|(r, s)| Literal::reads(r, s).negated()),
    ];
    let why = prop_oneof![
        Just(Why::Propagation),
        cycle().prop_map(Why::Cycle),
        (vec(derived(), 0..3), cycle())
            .prop_map(|(derived, cycle)| Why::Derivation { derived, cycle }),
    ];
    (vec(literal, 0..4), why).prop_map(|(clause, why)| Step { clause, why })
}

fn certificate() -> impl Strategy<Value = Certificate> {
    let order = || vec(event(), 0..6);
    let reads = || vec((reader(), source()), 0..4);
    let evidence = prop_oneof![
        order().prop_map(|order| Evidence::Consistent(Witness::Order(order))),
        (order(), reads()).prop_map(|(order, reads)| {
            Evidence::Consistent(Witness::Arbitration { order, reads })
        }),
        (vec(order(), 0..3), reads())
            .prop_map(|(views, reads)| Evidence::Consistent(Witness::Views { views, reads })),
        reads().prop_map(|reads| Evidence::Consistent(Witness::Choices(reads))),
        vec(step(), 0..4).prop_map(|steps| Evidence::Violation(Proof { steps })),
    ];
    (any::<u64>(), 0..Model::ALL.len(), evidence).prop_map(|(trace, model, evidence)| Certificate {
        trace,
        model: Model::ALL[model],
        evidence,
    })
}

/// Threads with these labels, each with a write, a read and an atomic.
fn threads(labels: &[u64]) -> History {
    let mut trace = String::new();
    for label in labels {
        trace +=
            &format!("{label}: M[x] := 1\n{label}: M[y] == 0\n{label}: <M[x] == 1; M[x] := 2>\n");
    }
    parse_text(&trace).expect("every value was written")
}

/// What is said of a line, without the column where it ends.
fn read(line: &str, history: &History) -> Result<Certificate, String> {
    let sentence =
        |message: String| message.split(" column ").next().unwrap_or_default().to_owned();
    Certificate::from_json(line, history).map_err(|error| sentence(error.message))
}

/// What is said of it by the reader for all lines: a space at its end is enough to keep the quick
/// one away.
fn read_slowly(line: &str, history: &History) -> Result<Certificate, String> {
    read(&format!("{line} "), history)
}

/// Orders, of a trace whose threads have these labels.
fn order_of_threads() -> impl Strategy<Value = (History, Certificate)> {
    let labels = prop_oneof![
        (1..12u64).prop_map(|threads| (0..threads).collect::<Vec<_>>()),
        prop::collection::btree_set(any::<u64>(), 1..12).prop_map(|l| l.into_iter().collect()),
        prop::collection::btree_set(0..20u64, 1..12).prop_map(|l| l.into_iter().rev().collect()),
    ];
    labels.prop_flat_map(|labels| {
        let order = vec((0..3 * labels.len()).prop_map(EventId::new), 0..40);
        order.prop_map(move |order| {
            let evidence = Evidence::Consistent(Witness::Order(order));
            (threads(&labels), Certificate { trace: 1, model: Model::Sc, evidence })
        })
    })
}

proptest! {
    #[test]
    fn an_order_is_read_quickly_as_it_is_read_slowly((history, certificate) in order_of_threads()) {
        let line = certificate.to_json(&history);
        prop_assert_eq!(read_slowly(&line, &history), Ok(certificate.clone()));
        prop_assert_eq!(Certificate::from_json(&line, &history), Ok(certificate));
    }

    #[test]
    fn a_damaged_order_is_read_quickly_as_it_is_read_slowly(
        (history, certificate) in order_of_threads(),
        at in any::<prop::sample::Index>(),
        with in prop::sample::select(&b"0123456789[]{},:\" -+.eE_tx"[..]),
        insert in any::<bool>(),
    ) {
        let mut line = certificate.to_json(&history).into_bytes();
        let at = at.index(line.len());
        match insert {
            true => line.insert(at, with),
            false => line[at] = with,
        }
        let line = String::from_utf8(line).expect("ASCII");
        prop_assert_eq!(read(&line, &history), read_slowly(&line, &history));
        if let Ok(header) = Certificate::header(&line) {
            prop_assert_eq!(Certificate::quick_header(&line), Ok(header));
        }
    }

    #[test]
    fn every_certificate_survives_its_line(certificate in certificate()) {
        let history = sample();
        let line = certificate.to_json(&history);
        prop_assert!(!line.contains('\n'));
        let header = Ok((certificate.trace, Subject::Model(certificate.model)));
        prop_assert_eq!(&Certificate::header(&line), &header);
        prop_assert_eq!(&Certificate::quick_header(&line), &header);
        prop_assert_eq!(Certificate::from_json(&line, &history), Ok(certificate));
    }

    #[test]
    fn a_damaged_line_is_refused_or_read_but_never_a_panic(
        certificate in certificate(),
        at in any::<prop::sample::Index>(),
        with in any::<char>(),
    ) {
        let history = sample();
        let mut line: Vec<char> = certificate.to_json(&history).chars().collect();
        let at = at.index(line.len());
        line[at] = with;
        let line: String = line.into_iter().collect();
        let _ = Certificate::from_json(&line, &history);
        let _ = Certificate::header(&line);
    }
}

#[test]
fn a_proof_reads_as_one_would_write_it() {
    let history = sample();
    let [write, atomic] = [0, 4].map(EventId::new);
    let x = AddressId::new(0);
    let step = Step {
        clause: vec![
            Literal::before(write, atomic),
            Literal::reads(Reader::Final(x), Source::Initial).negated(),
        ],
        why: Why::Derivation {
            derived: vec![Derived {
                from: Node::Event(write),
                to: Node::Initial(x),
                rule: Rule::StoreOrder,
                graph: Graph::Global,
                scope: None,
                via: Some(Node::ReadOf(atomic)),
                path: vec![],
            }],
            cycle: Cycle {
                graph: Graph::ThinAir,
                edges: vec![Edge {
                    from: Node::Event(write),
                    to: Node::Initial(x),
                    because: Because::Derived(0),
                }],
            },
        },
    };
    let certificate = Certificate {
        trace: 2,
        model: Model::Ccm,
        evidence: Evidence::Violation(Proof { steps: vec![step] }),
    };
    let expected = concat!(
        r#"{"tribunal":1,"trace":2,"model":"ccm","verdict":"violation","events":5,"#,
        r#""proof":[{"clause":[{"before":[[7,0],[3,1]]},{"not_reads":[{"final":"x"},"initial"]}],"#,
        r#""derived":[{"from":[7,0],"to":{"initial":"x"},"rule":"store-order","graph":"global","#,
        r#""via":{"read_of":[3,1]},"path":[]}],"#,
        r#""cycle":{"graph":"thin-air","edges":[[[7,0],{"initial":"x"},{"derived":0}]]}}]}"#,
    );
    assert_eq!(certificate.to_json(&history), expected);
}

fn complaint(line: &str) -> String {
    Certificate::from_json(line, &sample()).expect_err("this is no certificate").to_string()
}

fn complaint_about(evidence: &str) -> String {
    complaint(&format!(
        r#"{{"tribunal":1,"trace":1,"model":"tso","verdict":"consistent","events":5,{evidence}}}"#
    ))
}

#[test]
fn each_way_to_be_no_certificate_has_its_sentence() {
    for (line, sentence) in [
        ("", "not a certificate"),
        ("[]", "not a certificate"),
        (r#"{"trace":1,"model":"tso"}"#, "missing field `tribunal`"),
        (r#"{"tribunal":2,"trace":1,"model":"tso"}"#, "only version 1 is known"),
        (r#"{"tribunal":1,"trace":1,"model":"x86"}"#, "unknown model `x86`"),
        (r#"{"tribunal":1,"trace":1,"model":"tso"}"#, "missing field `verdict`"),
    ] {
        assert!(complaint(line).contains(sentence), "{line}: {}", complaint(line));
    }
    for (evidence, sentence) in [
        (r#""witness":[[1,0]]"#, "the trace has no event [1,0]"),
        (r#""witness":[[7,3]]"#, "the trace has no event [7,3]"),
        (r#""witness":[[7,18446744073709551615]]"#, "the trace has no event"),
        (r#""witness":[[7,18446744073709551616]]"#, "not a certificate"),
        (r#""witness":[[7,-1]]"#, "not a certificate"),
        (r#""witness":[[7]]"#, "not a certificate"),
        (r#""witness":[],"proof":[]"#, "a consistent verdict has no `proof`"),
        (r#""reads":[]"#, "the fields of the evidence do not fit its kind"),
        (r#""kind":"views","witness":[],"reads":[]"#, "do not fit its kind"),
        (r#""kind":"choices","reads":[[{"final":"z"},"initial"]]"#, "no address M[z]"),
        (r#""kind":"choices","reads":[[[7,2],"first"]]"#, "a source is \"initial\""),
        (r#""surprise":1"#, "unknown field `surprise`"),
    ] {
        let complaint = complaint_about(evidence);
        assert!(complaint.contains(sentence), "{evidence}: {complaint}");
    }
}

#[test]
fn the_quick_header_does_not_look_at_the_rest_of_the_line() {
    let broken = r#"{"tribunal":1,"trace":3,"model":"tso","verdict":"consistent","wit"#;
    assert_eq!(Certificate::quick_header(broken), Ok((3, Subject::Model(Model::Tso))));
    assert!(Certificate::header(broken).is_err());
    for unusual in [r#"{"tribunal":2,"trace":3,"model":"tso"}"#, r#"{"trace":3}"#, "", "{"] {
        assert_eq!(Certificate::quick_header(unusual), Certificate::header(unusual));
    }
    let other_order = r#"{"model":"tso", "trace":3, "tribunal":1}"#;
    assert_eq!(Certificate::quick_header(other_order), Ok((3, Subject::Model(Model::Tso))));
}

#[test]
fn writing_to_a_full_disk_fails() {
    let history = sample();
    let order = history.event_ids().collect();
    let evidence = Evidence::Consistent(Witness::Order(order));
    let certificate = Certificate { trace: 1, model: Model::Sc, evidence };
    let mut room = [0; 100];
    let error = certificate.write(&history, &mut room[..]).expect_err("the line is longer");
    assert_eq!(error.kind(), std::io::ErrorKind::WriteZero);
    assert!(room.starts_with(br#"{"tribunal":1,"trace":1,"model":"sc","verdict":"consistent""#));
}

#[test]
fn a_certificate_of_another_trace_is_refused_by_its_length() {
    let line =
        r#"{"tribunal":1,"trace":1,"model":"sc","verdict":"consistent","events":6,"witness":[]}"#;
    assert!(complaint(line).contains("a trace of 6 events, but this one has 5"));
}

#[test]
fn deep_nesting_is_refused_and_does_not_overflow_the_stack() {
    let deep = format!(r#""witness":{}"#, "[".repeat(100_000));
    assert!(complaint_about(&deep).contains("not a certificate"));
    let deep = format!(r#""surprise":{}"#, r#"{"a":"#.repeat(100_000));
    assert!(complaint_about(&deep).contains("not a certificate"));
}

#[test]
fn a_step_without_a_reason_is_refused() {
    let line = r#"{"tribunal":1,"trace":1,"model":"sc","verdict":"violation","events":5,"proof":[{"clause":[]}]}"#;
    assert!(complaint(line).contains("each step of a proof has either a `cycle`"));
}
