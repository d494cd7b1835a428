//! `tribunal explore --disk`, `--checkpoint` and `--resume`: searches that are ended in every way go
//! on where they were.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::*;

/// Some 18,000 states in some 60 levels.
const MODEL: &[&str] = &["--const", "N=4", "--symmetry", "off", "protocols/peterson.m"];

fn explore(flags: &[&str]) -> Ran {
    run(&[&["explore", "--json", "--quiet"], flags, MODEL].concat())
}

fn json(ran: &Ran) -> Value {
    assert_eq!(ran.lines().len(), 1, "{ran:?}");
    ran.json().remove(0)
}

/// What must be the same however the search came to its end.
fn essence(value: &Value) -> Vec<&Value> {
    let fields = ["verdict", "states", "rules_fired", "depth", "counterexample", "rule_coverage"];
    fields.iter().map(|field| &value[field]).collect()
}

fn name(directory: &Path) -> String {
    directory.to_str().unwrap().to_owned()
}

#[test]
fn states_on_disk_are_counted_as_in_memory_and_leave_no_files() {
    let directory = directory("explore-disk");
    let expected = json(&run(&larger(&[])));
    let ran = run(&larger(&["--disk", &name(&directory), "--memory", "2MiB", "--jobs", "1"]));
    let found = json(&ran);
    assert_eq!((essence(&found), ran.code), (essence(&expected), Some(0)));
    assert!(found["disk_bytes_per_state"].as_f64().unwrap() > 1.0, "{found}");
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
}

/// A search of 409,308 states.
fn larger<'a>(flags: &[&'a str]) -> Vec<&'a str> {
    let model = &["--const", "N=5", "--symmetry", "off", "protocols/peterson.m"];
    [&["explore", "--json", "--quiet"], flags, model].concat()
}

#[test]
fn a_search_that_is_killed_goes_on_where_it_was() {
    let directory = directory("explore-killed");
    let place = name(&directory);
    let expected = json(&run(&larger(&[])));
    let limits = ["--every", "1ms", "--memory", "2MiB", "--jobs", "2"];
    let mut flag = "--checkpoint";
    let mut killed = 0;
    let found = loop {
        let flags = [&[flag, place.as_str()], &limits[..]].concat();
        let mut child = spawn(&larger(&flags));
        // At first well before the end; later long enough for some levels.
        let deadline = Instant::now() + Duration::from_millis(100 + 400 * killed);
        while Instant::now() < deadline && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        if child.try_wait().unwrap().is_some() {
            break json(&finish(child));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        killed += 1;
        if directory.join("checkpoint.json").exists() {
            flag = "--resume";
        }
    };
    assert!(killed > 0);
    assert_eq!(essence(&found), essence(&expected));
}

#[test]
fn a_bound_or_a_budget_ends_with_a_checkpoint_and_says_how_to_go_on() {
    let directory = directory("explore-bound");
    let place = name(&directory);
    let flags = ["explore", "--jobs", "1", "--checkpoint", &place, "--bound", "20"];
    let ran = run(&[&flags[..], MODEL].concat());
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let line = format!("  checkpoint at depth 20: --resume {place}\n");
    assert!(ran.stdout.contains(&line), "{}", ran.stdout);
    let again = run(&[&flags[..], MODEL].concat());
    assert_eq!(again.code, Some(2), "{again:?}");
    assert!(again.stderr.contains("holds the checkpoint of a search; continue it with --resume"));
    let other = run(&["explore", "--resume", &place, "--const", "N=3", "protocols/peterson.m"]);
    assert_eq!(other.code, Some(2), "{other:?}");
    assert!(other.stderr.contains("constants was N=4 and is N=3"), "{}", other.stderr);
    assert!(other.stderr.contains("symmetry was off and is full"), "{}", other.stderr);
    let budget = explore(&["--resume", &place, "--budget", "1ms"]);
    assert_eq!((budget.code, &json(&budget)["verdict"]), (Some(3), &Value::from("undecided")));
    let found = json(&explore(&["--resume", &place, "--jobs", "3", "--memory", "1MiB"]));
    assert_eq!(essence(&found), essence(&json(&explore(&[]))));
}

#[cfg(unix)]
#[test]
fn a_disk_that_is_full_ends_undecided_with_a_checkpoint() {
    let directory = directory("explore-full");
    let place = name(&directory);
    let begin = |flag: &str| {
        let words = larger(&["--memory", "2MiB", "--jobs", "1", "--every", "1ms", flag, &place]);
        words.iter().map(|word| word.to_string()).collect::<Vec<_>>()
    };
    // No file may have more than 512 kilobytes, and nobody is killed for trying.
    let script = "trap '' XFSZ; ulimit -f 1024; exec \"$@\"";
    let output = std::process::Command::new("sh")
        .args(["-c", script, "sh", env!("CARGO_BIN_EXE_tribunal")])
        .args(begin("--checkpoint"))
        .current_dir(root())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let found: Value = serde_json::from_str(text.trim()).expect(&text);
    assert_eq!(output.status.code(), Some(3), "{found}");
    let reason = found["reason"].as_str().unwrap();
    assert!(
        reason.contains("a file of states cannot be used") && reason.contains(&place),
        "{reason}"
    );
    assert!(found["checkpoint"]["level"].as_u64().unwrap() > 0, "{found}");
    let words = begin("--resume");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let found = json(&run(&words));
    assert_eq!(essence(&found), essence(&json(&run(&larger(&[])))));
}

/// The verdict of a verification, and what was counted for each lemma.
fn counts(value: &Value) -> (Value, Vec<[Value; 3]>) {
    let lemmas = value["lemmas"].as_array().unwrap();
    let count = |lemma: &Value| ["states", "rules_fired", "depth"].map(|key| lemma[key].clone());
    (value["verdict"].clone(), lemmas.iter().map(count).collect())
}

#[test]
fn a_verification_goes_on_from_its_checkpoint() {
    let directory = directory("verify-checkpoint");
    let place = name(&directory.join("states"));
    let model = ["verify", "--json", "--quiet", "--model", "sc", "--jobs", "1"];
    let arguments = |flags: &[&'static str], place: &[&str]| -> Vec<String> {
        let words = [&model[..], flags, place, &["protocols/mi.m"]].concat();
        words.into_iter().map(str::to_owned).collect()
    };
    let verify = |words: &[String]| run(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let expected = json(&verify(&arguments(&[], &[])));
    // Ended by ever larger budgets, at other places each time.
    let begin = ["--checkpoint", &place[..], "--every", "1ms"];
    let ran = verify(&arguments(&["--budget", "5ms"], &begin));
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains(&format!("continue with --resume {place}")), "{ran:?}");
    let again = verify(&arguments(&[], &begin));
    assert_eq!(again.code, Some(2), "{again:?}");
    assert!(again.stderr.contains("holds the checkpoint of a verification"), "{again:?}");
    let resume = ["--resume", &place[..], "--every", "1ms"];
    let other = verify(&arguments(&["--deadlock", "off"], &resume));
    assert_eq!(other.code, Some(2), "{other:?}");
    assert!(other.stderr.contains("deadlock was stuttering and is off"), "{other:?}");
    for budget in ["20ms", "60ms", "150ms", "400ms"] {
        let ran = verify(&arguments(&["--budget", budget], &resume));
        if ran.code != Some(3) {
            break;
        }
    }
    let found = match directory.join("states/question.json").exists() {
        true => json(&verify(&arguments(&[], &resume))),
        // It came to its end before.
        false => json(&verify(&arguments(&[], &begin))),
    };
    assert_eq!(counts(&found), counts(&expected));
    assert!(!directory.join("states/search-1").exists());
}

/// A proof without what depends on the clock and on memory.
fn proof(value: &Value) -> String {
    let mut value = value.clone();
    fn clear(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.remove("seconds");
                fields.values_mut().for_each(clear);
            }
            Value::Array(values) => values.iter_mut().for_each(clear),
            _ => {}
        }
    }
    clear(&mut value);
    value.to_string()
}

#[test]
fn a_proof_for_any_number_of_processors_goes_on_where_it_was_killed() {
    let directory = directory("any-checkpoint");
    let place = name(&directory.join("run"));
    let start = |flags: &[&str]| {
        let words = ["verify", "--any-processors", "--json", "--quiet", "--jobs", "1"];
        spawn(&[&words[..], flags, &["--model", "sc", "protocols/mi.m"]].concat())
    };
    let whole = finish(start(&[]));
    let expected = proof(&json(&whole));
    let mut flag = "--checkpoint";
    let (mut killed, mut entries) = (0_u32, 0);
    let found = loop {
        let mut child = start(&[flag, &place]);
        let deadline = Instant::now() + Duration::from_millis(300 << killed);
        while Instant::now() < deadline && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        if child.try_wait().unwrap().is_some() {
            break json(&finish(child));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        killed += 1;
        let journal = std::fs::read_to_string(directory.join("run/journal")).unwrap_or_default();
        let now = journal.lines().count();
        assert!(now >= entries, "{now} entries, and {entries} before");
        entries = now;
        if directory.join("run/question.json").exists() {
            flag = "--resume";
        }
        let other = finish(start(&["--resume", &place, "--concrete", "3"]));
        assert_eq!(other.code, Some(2), "{other:?}");
        assert!(other.stderr.contains("--concrete was none and is 3"), "{other:?}");
    };
    assert!(killed > 0 && entries > 0, "killed {killed} times, {entries} entries");
    assert_eq!(proof(&found), expected);
    // Nothing is left.
    assert!(!directory.join("run/question.json").exists());
    assert!(!directory.join("run/journal").exists());
}

#[test]
fn a_damaged_checkpoint_of_a_proof_changes_no_answer() {
    let directory = directory("any-damaged");
    let place = name(&directory.join("run"));
    let model = "protocols/broken/german-grants-before-acks.m";
    let verify = |flags: &[&str]| {
        run(&[&["verify", "--any-processors", "--json", "--quiet"], flags, &[model]].concat())
    };
    let expected = verify(&[]);
    assert_eq!(expected.code, Some(1));
    let ran = verify(&["--checkpoint", &place, "--budget", "1ms"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains(&format!("continue with --resume {place}")), "{ran:?}");
    // Somebody says that each program of the correct protocol holds.
    let journal = directory.join("run/journal");
    let lines = [
        "0000000000000000 0 {\"end\":\"Holds\"}\n",
        "not a line of a journal\n",
        "\u{0}\u{0}\u{0}",
    ];
    for line in lines {
        let before = std::fs::read(&journal).unwrap_or_default();
        std::fs::write(&journal, [line.as_bytes(), &before].concat()).unwrap();
        let ran = verify(&["--resume", &place, "--budget", "1ms"]);
        assert_eq!(ran.code, Some(3), "{ran:?}");
    }
    let ran = verify(&["--resume", &place]);
    assert_eq!((ran.code, proof(&json(&ran))), (Some(1), proof(&json(&expected))));
}

#[test]
fn verify_finds_the_same_with_states_on_disk() {
    let directory = directory("verify-disk");
    let verify = |flags: &[&str]| {
        let model = ["verify", "--json", "--quiet", "--model", "sc", "--jobs", "1"];
        json(&run(&[&model[..], flags, &["protocols/mi.m"]].concat()))
    };
    let found = verify(&["--disk", &name(&directory), "--memory", "1MiB"]);
    assert_eq!(counts(&found), counts(&verify(&[])));
    assert_eq!(found["verdict"], "verified");
}

#[test]
fn what_cannot_be_combined_is_refused() {
    let refused = |flags: &[&str], words: &str| {
        let ran = explore(flags);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    };
    refused(&["--every", "1s"], "--every has no effect here: it needs --checkpoint");
    refused(&["--checkpoint", "x", "--search", "dfs"], "need a breadth-first search");
    refused(&["--search", "best"], "--search best needs --towards EXPR");
    refused(&["--towards", "true"], "has no effect here: it needs --search best");
    refused(&["--checkpoint", "x", "--resume", "y"], "cannot be used with");
    refused(&["--checkpoint", "x", "--simulate", "5"], "cannot be used with");
    refused(&["--resume", "/nonexistent/x"], "holds no checkpoint");
}
