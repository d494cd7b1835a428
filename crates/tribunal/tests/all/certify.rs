//! `tribunal certify`: what `check` writes is accepted, what was tampered with is not.

use crate::common::*;

/// A trace file and its certificate under these models.
fn certified(test: &str, traces: &str, models: &str) -> (String, String) {
    let directory = directory(test);
    let trace = file(&directory, "t.trace", traces);
    let certificate = directory.join("proof.jsonl").to_str().unwrap().to_owned();
    let ran = run(&["check", "-q", "--model", models, "--certificate", &certificate, &trace]);
    assert!(matches!(ran.code, Some(0 | 1)), "{}", ran.stderr);
    (trace, certificate)
}

#[test]
fn every_certificate_that_check_writes_holds() {
    let traces = [CONSISTENT, STORE_BUFFERING, STALE_READ].concat();
    let models = "sc,tso,pso,wmo,rmo,coherence,cc,ccv,cm,ccm,wccm";
    let (trace, certificate) = certified("certify-all", &traces, models);
    let ran = run(&["certify", &trace, &certificate]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.lines().len(), 33);
    assert_eq!(ran.lines()[0], format!("{trace} #1: sc: consistent: certificate holds"));
    assert_eq!(ran.lines()[11], format!("{trace} #2: sc: violation: certificate holds"));
    assert_eq!(ran.stderr, "");
}

#[test]
fn every_verdict_on_the_corpora_is_certified() {
    for (folder, count) in corpora() {
        let trace = format!("{folder}/tests.axe");
        let directory = directory(&format!("certify-{count}"));
        let certificate = directory.join("proof.jsonl").to_str().unwrap().to_owned();
        let models = "sc,tso,pso,wmo,rmo,coherence,cc,ccv,cm,ccm,wccm";
        run(&["check", "-q", "--model", models, "--certificate", &certificate, &trace]);
        let ran = run(&["certify", &trace, &certificate]);
        let rejected: Vec<_> = ran.lines().into_iter().filter(|l| !l.ends_with("holds")).collect();
        assert_eq!((ran.code, &rejected[..]), (Some(0), &[][..]));
        assert_eq!(ran.stderr, "", "every trace has a certificate");
    }
}

#[test]
fn gradual_certifies_every_model_it_judged() {
    let (trace, certificate) = certified("certify-gradual", STORE_BUFFERING, "gradual");
    let ran = run(&["certify", "--json", &trace, &certificate]);
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
    let models: Vec<_> = ran.json().iter().map(|line| line["model"].clone()).collect();
    assert_eq!(models, ["sc", "tso", "ccm", "cm"]);
}

#[test]
fn a_witness_for_another_trace_is_rejected() {
    let (trace, certificate) = certified("certify-swapped", CONSISTENT, "sc");
    std::fs::write(&trace, STORE_BUFFERING).unwrap();
    let ran = run(&["certify", &trace, &certificate]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stdout.starts_with(&format!("{trace} #1: sc: consistent: certificate rejected: ")),
        "{}",
        ran.stdout
    );
    let ran = run(&["certify", "--json", &trace, &certificate]);
    assert_eq!(ran.json()[0]["holds"], false);
    assert!(ran.json()[0]["reason"].is_string());
}

#[test]
fn a_proof_for_a_stronger_model_does_not_do_for_a_weaker_one() {
    let (trace, certificate) = certified("certify-model", STORE_BUFFERING, "sc");
    let forged = std::fs::read_to_string(&certificate).unwrap().replace("\"sc\"", "\"tso\"");
    std::fs::write(&certificate, forged).unwrap();
    assert_eq!(run(&["certify", &trace, &certificate]).code, Some(1));
}

#[test]
fn a_certificate_for_a_trace_that_is_not_there_is_rejected() {
    let both = [CONSISTENT, CONSISTENT].concat();
    let (trace, certificate) = certified("certify-missing", &both, "sc");
    std::fs::write(&trace, CONSISTENT).unwrap();
    let ran = run(&["certify", &trace, &certificate]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.lines()[1].contains("rejected: the file has no trace 2"), "{}", ran.stdout);
}

#[test]
fn traces_without_a_certificate_are_counted_and_leave_it_undecided() {
    let both = [CONSISTENT, CONSISTENT].concat();
    let (trace, certificate) = certified("certify-uncovered", &both, "sc");
    let lines = std::fs::read_to_string(&certificate).unwrap();
    std::fs::write(&certificate, lines.lines().nth(1).unwrap()).unwrap();
    let ran = run(&["certify", &trace, &certificate]);
    assert_eq!(ran.code, Some(3));
    assert!(
        ran.stderr.contains("1 of 2 traces have no certificate and were not checked"),
        "{}",
        ran.stderr
    );
    assert_eq!(run(&["certify", "--quiet", &trace, &certificate]).code, Some(3));
}

#[test]
fn what_is_no_certificate_exits_2_with_its_place() {
    let (trace, certificate) = certified("certify-garbage", CONSISTENT, "sc");
    for garbage in
        ["", "hello\n", "{\"tribunal\":99,\"trace\":1,\"model\":\"sc\"}\n", "{\"trace\":1"]
    {
        std::fs::write(&certificate, garbage).unwrap();
        let ran = run(&["certify", &trace, &certificate]);
        assert_eq!(ran.code, Some(2), "{garbage:?}: {}", ran.stdout);
        assert!(ran.stderr.starts_with(&format!("tribunal: {certificate}:1: ")), "{}", ran.stderr);
    }
    assert_eq!(run(&["certify", &trace, "no-such-file"]).code, Some(2));
}

#[test]
fn a_certificate_is_about_one_file() {
    let ran = run(&["check", "--certificate", "never-written", "a.trace", "b.trace"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("--certificate takes one trace file"), "{}", ran.stderr);
}

#[test]
fn many_certificates_are_checked_in_order_whatever_the_number_of_jobs() {
    let traces = [CONSISTENT, STORE_BUFFERING, STALE_READ].concat().repeat(300);
    let (trace, certificate) = certified("certify-many", &traces, "sc,tso");
    let lines = std::fs::read_to_string(&certificate).unwrap();
    for (n, line) in lines.lines().enumerate() {
        assert!(line.starts_with(&format!("{{\"tribunal\":1,\"trace\":{},", n / 2 + 1)), "{line}");
    }
    let one = run(&["certify", "-j", "1", &trace, &certificate]);
    assert_eq!((one.code, one.lines().len()), (Some(0), 1_800));
    for (n, line) in one.lines().iter().enumerate() {
        assert!(line.starts_with(&format!("{trace} #{}: ", n / 2 + 1)), "{line}");
    }
    assert_eq!(run(&["certify", "-j", "5", &trace, &certificate]).stdout, one.stdout);
}

#[test]
fn a_broken_line_ends_the_run_after_what_came_before_it() {
    let (trace, certificate) = certified("certify-broken", &CONSISTENT.repeat(200), "sc");
    let lines = std::fs::read_to_string(&certificate).unwrap();
    let lines: Vec<_> = lines.lines().collect();
    let broken = &lines[150][..lines[150].len() - 5];
    std::fs::write(&certificate, [&lines[..150], &[broken], &lines[151..]].concat().join("\n"))
        .unwrap();
    let ran = run(&["certify", &trace, &certificate]);
    assert_eq!((ran.code, ran.lines().len()), (Some(2), 150));
    assert!(ran.stderr.starts_with(&format!("tribunal: {certificate}:151: ")), "{}", ran.stderr);

    let of_no_trace = broken.replace("\"trace\":151", "\"trace\":999");
    std::fs::write(&certificate, of_no_trace).unwrap();
    assert_eq!(run(&["certify", &trace, &certificate]).code, Some(2));
}

/// One write for each of so many threads, in rounds: a causal table has a row for each event with
/// a column for each thread. Two readers see two writes in different orders, so that no run of tso is
/// evidence.
fn many_threads() -> String {
    let event = |n: usize| format!("{}: M[x] := {n}\n", n % 500);
    let readers = "500: M[y] := 1\n501: M[z] := 1\n502: M[y] == 1\n502: M[z] == 0\n\
                   503: M[z] == 1\n503: M[y] == 0\ncheck\n";
    (0..4_000).map(event).collect::<String>() + readers
}

#[test]
fn what_does_not_fit_the_memory_is_undecided() {
    let (trace, certificate) = certified("certify-memory", &many_threads(), "sc,cc");
    let ran = run(&["certify", "--memory", "4MiB", &trace, &certificate]);
    assert_eq!(ran.code, Some(3), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.lines()[0], format!("{trace} #1: sc: violation: certificate holds"));
    let beginning = format!("{trace} #1: cc: consistent: certificate not checked: ");
    assert!(ran.lines()[1].starts_with(&beginning), "{}", ran.stdout);
    assert!(
        ran.lines()[1].ends_with("--memory allows 4096 KiB (raise --memory)"),
        "{}",
        ran.stdout
    );
    let ran = run(&["certify", "--json", "--memory", "4MiB", &trace, &certificate]);
    assert_eq!((&ran.json()[0]["holds"], &ran.json()[1]["holds"]), (&true.into(), &().into()));

    assert_eq!(run(&["certify", &trace, &certificate]).code, Some(0), "8 GiB if not said");
}

#[test]
fn a_line_that_does_not_fit_the_memory_is_not_read() {
    let (trace, certificate) = certified("certify-long-line", CONSISTENT, "sc");
    std::fs::write(&certificate, "[".repeat(1_000_000)).unwrap();
    let ran = run(&["certify", "--memory", "1MiB", &trace, &certificate]);
    assert_eq!((ran.code, &*ran.stdout), (Some(3), ""));
    let sentence = ":1: the line is longer than the 131072 bytes that --memory allows\n";
    assert_eq!(ran.stderr, format!("tribunal: {certificate}{sentence}"));
}
