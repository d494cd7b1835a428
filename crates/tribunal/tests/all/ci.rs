//! What CI systems get: JUnit files, annotations, and what packages are made of.

use std::collections::BTreeMap;

use crate::common::{CONSISTENT, STALE_READ, STORE_BUFFERING, directory, file, root, run};

/// A JUnit file, read by hand: the attributes of the suite, and of each case its class, its name and
/// the type of its complaint.
#[derive(Debug)]
struct Junit {
    suite: BTreeMap<String, String>,
    cases: Vec<(String, String, Option<String>)>,
    text: String,
}

/// The attributes of a tag.
fn attributes(tag: &str) -> BTreeMap<String, String> {
    let mut parts = tag.split('"');
    let mut found = BTreeMap::new();
    while let (Some(name), Some(value)) = (parts.next(), parts.next()) {
        let name = name.trim_end_matches('=').rsplit(' ').next().unwrap();
        found.insert(name.to_owned(), value.to_owned());
    }
    found
}

fn read(path: &str) -> Junit {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites "), "{text}");
    assert!(text.ends_with("  </testsuite>\n</testsuites>\n"), "{text}");
    let suite = attributes(text.lines().find(|line| line.contains("<testsuite ")).unwrap());
    let mut cases: Vec<(String, String, Option<String>)> = Vec::new();
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("<testcase ") {
            let found = attributes(line);
            cases.push((found["classname"].clone(), found["name"].clone(), None));
        } else if line.starts_with("<failure ") || line.starts_with("<error ") {
            let element = line[1..].split(' ').next().unwrap();
            let kind = format!("{element} {}", attributes(line)["type"]);
            cases.last_mut().unwrap().2 = Some(kind);
        }
    }
    let count = |start: &str| {
        let all = cases.iter().filter_map(|case| case.2.as_ref());
        all.filter(|kind| kind.starts_with(start)).count().to_string()
    };
    assert_eq!(suite["tests"], cases.len().to_string());
    assert_eq!((&suite["failures"], &suite["errors"]), (&count("failure"), &count("error")));
    Junit { suite, cases, text }
}

impl Junit {
    /// Names with what is wrong.
    fn named(&self) -> Vec<(&str, Option<&str>)> {
        self.cases.iter().map(|(_, name, kind)| (name.as_str(), kind.as_deref())).collect()
    }
}

#[test]
fn check_writes_a_case_for_each_trace_and_model() {
    let folder = directory("ci-check");
    let traces = format!("{STORE_BUFFERING}{CONSISTENT}{STALE_READ}0: M[x] := nonsense\n");
    let trace = file(&folder, "t.trace", traces);
    let xml = folder.join("check.xml").display().to_string();
    let ran = run(&["check", "--model", "sc,tso", "--junit", &xml, &trace]);
    assert_eq!(ran.code, Some(1));
    let junit = read(&xml);
    assert_eq!(junit.suite["name"], "tribunal check");
    assert_eq!(
        junit.named(),
        [
            ("trace 1: sc", Some("failure violation")),
            ("trace 1: tso", None),
            ("trace 2: sc", None),
            ("trace 2: tso", None),
            ("trace 3: sc", Some("failure violation")),
            ("trace 3: tso", Some("failure violation")),
            ("trace 4", Some("error malformed")),
        ]
    );
    assert!(junit.cases.iter().all(|(subject, ..)| *subject == trace));
    assert!(junit.text.contains("There is a cycle:\n- Thread 0 did M[x] := 1 (line 1)"));
    let plain = run(&["check", "--model", "sc,tso", &trace]);
    let timeless = |text: &str| text.lines().filter(|line| line.starts_with(' ')).count();
    assert_eq!(timeless(&ran.stdout), timeless(&plain.stdout));
    assert_eq!((ran.stderr, ran.code), (plain.stderr, plain.code));
}

#[test]
fn undecided_traces_and_wrong_numbers_of_traces_are_errors() {
    let folder = directory("ci-undecided");
    let trace = file(&folder, "t.trace", STORE_BUFFERING);
    let xml = folder.join("check.xml").display().to_string();
    let hard = folder.join("hard.trace").display().to_string();
    run(&["generate", "hard", "--variables", "20", "--ratio", "6", "-o", &hard]);
    let ran = run(&["check", "--engine", "saturation", "--junit", &xml, &hard]);
    assert_eq!(ran.code, Some(3));
    assert_eq!(read(&xml).named(), [("trace 1: sc", Some("error undecided"))]);
    let ran = run(&["check", "--expect-traces", "2", "-m", "tso", "--junit", &xml, &trace]);
    assert_eq!(ran.code, Some(2));
    let wanted = [("trace 1: tso", None), ("number of traces", Some("error malformed"))];
    assert_eq!(read(&xml).named(), wanted);
    let ran = run(&["check", "--live", "--model", "sc,tso", "--junit", &xml, &trace]);
    assert_eq!(ran.code, Some(1));
    assert!(read(&xml).named().contains(&("trace 1: sc", Some("failure violation"))));
    let ran = run(&["explore", "--bound", "1", "--junit", &xml, "protocols/mi.m"]);
    assert_eq!(ran.code, Some(3));
    assert_eq!(read(&xml).named(), [("explore", Some("error undecided"))]);
}

#[test]
fn a_question_that_cannot_be_asked_is_an_error_with_its_place() {
    let folder = directory("ci-refused");
    let xml = folder.join("x.xml").display().to_string();
    let model = file(&folder, "m.m", "var x: bool;\nvar y: strange;\n");
    let ran = run(&["explore", "--junit", &xml, "--annotate", "github", &model]);
    assert_eq!(ran.code, Some(2));
    assert_eq!(read(&xml).named(), [("explore", Some("error malformed"))]);
    let line =
        |line: u32| format!("::error file={model},line={line},col=8,title={model} explore::");
    assert!(ran.stderr.contains(&line(1)) && ran.stderr.contains(&line(2)), "{}", ran.stderr);
    let ran = run(&["check", "--junit", &xml, "no such file"]);
    assert_eq!(ran.code, Some(2));
    assert_eq!(read(&xml).named(), [("read", Some("error malformed"))]);
    let litmus = file(&folder, "bad.litmus", "X86 nothing\n");
    assert_eq!(run(&["litmus", "--junit", &xml, &litmus]).code, Some(2));
    assert_eq!(read(&xml).named(), [("read", Some("error malformed"))]);
    let ran =
        run(&["check", "--junit", "/no/such/directory/x.xml", "examples/store-buffering.trace"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("cannot write /no/such/directory/x.xml"), "{}", ran.stderr);
    let left: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn explore_verify_litmus_and_hunt_write_cases() {
    let folder = directory("ci-others");
    let xml = folder.join("x.xml").display().to_string();
    let broken = "protocols/broken/german-grants-before-acks.m";
    let ran = run(&["explore", "--quiet", "--junit", &xml, "--annotate", "github", broken]);
    assert_eq!(ran.code, Some(1));
    let junit = read(&xml);
    assert_eq!(junit.named(), [("explore", Some("failure violation"))]);
    assert!(junit.text.contains("invariant &quot;single writer&quot; does not hold"));
    assert!(ran.stderr.starts_with(&format!("::error file={broken},line=")), "{}", ran.stderr);
    let ran = run(&["verify", "--quiet", "--model", "sc", "--junit", &xml, "protocols/mi.m"]);
    assert_eq!((ran.code, read(&xml).named()), (Some(0), vec![("verify sc", None)]));
    assert!(read(&xml).suite["time"].parse::<f64>().unwrap() > 0.0, "it took some time");
    let any =
        ["verify", "--quiet", "--any-processors", "--plan", "--junit", &xml, "protocols/mi.m"];
    assert_eq!((run(&any).code, read(&xml).named()), (Some(0), vec![("verify", None)]));

    let test = "X86 SB\n{ x=0; y=0; }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n \
                MOV EAX,[y] | MOV EAX,[x] ;\n~exists (0:EAX=0 /\\ 1:EAX=0)\n";
    let test = file(&folder, "SB.litmus", test);
    let ran = run(&["litmus", "--model", "sc,tso", "--junit", &xml, &test]);
    assert_eq!(ran.code, Some(1));
    let junit = read(&xml);
    let wanted = [("SB under sc", None), ("SB under tso", Some("failure violation"))];
    assert_eq!(junit.named(), wanted);
    assert!(junit.text.contains("tso allows outcomes that violate ~exists"), "{}", junit.text);

    let out = folder.join("hunt").display().to_string();
    let hunt = ["hunt", "--on", "machine:tso", "--model", "sc", "--tests", "20", "--seed", "1"];
    let ran = run(&[&hunt[..], &["--quiet", "--out", &out, "--junit", &xml]].concat());
    assert_eq!(ran.code, Some(1));
    let junit = read(&xml);
    assert!(junit.named().iter().any(|(name, _)| name.starts_with("sc: finding 1 ")));
    assert!(junit.named().iter().all(|(_, kind)| *kind == Some("failure violation")));
    assert!(junit.text.contains("There is a cycle"), "{}", junit.text);
    let out = folder.join("nothing").display().to_string();
    let hunt = ["hunt", "--on", "machine:tso", "--model", "tso", "--tests", "5", "--quiet"];
    let ran = run(&[&hunt[..], &["--out", &out, "--junit", &xml]].concat());
    assert_eq!((ran.code, read(&xml).named()), (Some(0), vec![("hunt under tso", None)]));
}

#[test]
fn gitlab_gets_a_code_quality_report() {
    let folder = directory("ci-gitlab");
    let trace = file(&folder, "t.trace", STORE_BUFFERING);
    let report = folder.join("quality.json").display().to_string();
    let ran = run(&["check", "--annotate", &format!("gitlab:{report}"), &trace]);
    assert_eq!(ran.code, Some(1));
    let text = std::fs::read_to_string(&report).unwrap();
    let read: serde_json::Value = serde_json::from_str(&text).unwrap();
    let entry = &read[0];
    assert_eq!(entry["location"]["path"], trace.as_str());
    assert_eq!(entry["location"]["lines"]["begin"], 1);
    assert_eq!(entry["severity"], "critical");
    assert_eq!(entry["fingerprint"].as_str().unwrap().len(), 16);
    let ran = run(&["check", "--annotate", "nobody", &trace]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("use `github`, `gitlab` or `gitlab:FILE`"), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn after_ctrl_c_the_file_has_what_was_answered() {
    use std::io::{BufRead, BufReader, Write};
    let folder = directory("ci-interrupted");
    let xml = folder.join("x.xml").display().to_string();
    let mut child =
        crate::common::spawn(&["check", "--jobs", "1", "--model", "sc", "--junit", &xml, "-"]);
    let mut input = child.stdin.take().unwrap();
    input.write_all(STORE_BUFFERING.as_bytes()).unwrap();
    input.flush().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    answers.read_line(&mut String::new()).unwrap();
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let ended = child.wait().unwrap();
    drop(input);
    assert_eq!(ended.code(), Some(130));
    let named = [
        ("trace 1: sc", Some("failure violation")),
        ("check interrupted", Some("error undecided")),
    ];
    assert_eq!(read(&xml).named(), named);
}

#[test]
fn the_jobs_of_the_guide_use_flags_that_exist() {
    let page = std::fs::read_to_string(root().join("docs/ci.md")).unwrap();
    let mut tried = 0;
    for line in page.lines().filter(|line| line.starts_with("  ") && !line.contains("<testsuite")) {
        let Some(at) = line.find("tribunal ").filter(|_| !line.contains("cargo install")) else {
            continue;
        };
        let command = line[at..].split(" |").next().unwrap().trim_end_matches('\'');
        let command = command.replace("\"exec:sim/run -q\"", "exec:sim/run");
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        let ran = run(&[&words[..], &["--help"]].concat());
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.stderr);
        tried += 1;
    }
    assert!(tried >= 6, "{tried} commands were found");
}

#[test]
fn check_only_says_what_is_wrong_and_does_not_search() {
    let folder = directory("check-only");
    let good = run(&["explore", "--check-only", "protocols/german.m"]);
    assert_eq!(good.code, Some(0), "{}", good.stderr);
    assert!(good.stdout.starts_with("protocols/german.m: no errors, "), "{}", good.stdout);
    let bad = file(&folder, "bad.m", "var ä: bool;\nvar x: boolean; x: boolean;\n");
    let ran = run(&["explore", "--check-only", "--json", &bad]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(2), ""));
    let objects = ran.json();
    assert!(!objects.is_empty());
    assert!(objects.iter().all(|object| object["severity"] == "error"));
    let ran = run(&["explore", "--check-only", &bad]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stdout.is_empty() && ran.stderr.contains("bad.m:1:"), "{}", ran.stderr);
}

#[test]
fn there_are_completions_for_every_shell_and_a_page_for_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = run(&["completions", shell]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(ran.stdout.contains("any-processors"), "{shell}");
    }
    let folder = directory("man-pages");
    let ran = run(&["man", folder.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for name in ["tribunal", "tribunal-check", "tribunal-generate-trace", "tribunal-axe-test"] {
        let page = std::fs::read_to_string(folder.join(format!("{name}.1"))).unwrap();
        assert!(page.contains(&format!(".TH {name} 1")), "{page}");
    }
    let check = std::fs::read_to_string(folder.join("tribunal-check.1")).unwrap();
    assert!(check.contains("\\-\\-junit"), "{check}");
}

#[test]
fn the_version_names_the_build_and_the_oldest_compiler_is_that_of_the_readme() {
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(run(&["-V"]).stdout, format!("tribunal {version}\n"));
    let long = run(&["--version"]).stdout;
    let lines: Vec<&str> = long.lines().collect();
    assert_eq!(lines[0], format!("tribunal {version}"));
    for (line, name) in lines[1..].iter().zip(["commit", "target", "profile", "compiler"]) {
        let (found, value) = line.split_once(": ").unwrap();
        assert!(found == name && !value.is_empty(), "{long}");
    }
    assert_eq!(lines.len(), 5, "{long}");
    let oldest = env!("CARGO_PKG_RUST_VERSION");
    for page in ["README.md", "docs/ci.md"] {
        let text = std::fs::read_to_string(root().join(page)).unwrap();
        assert!(text.contains(&format!("Rust {oldest}")), "{page} names another oldest compiler");
    }
}
