//! docs/interface.md says what the program does: its flags are those of every `--help`, its exit
//! codes are those of the help and of real runs, and the fields of its tables are those of real
//! JSON output, with their types.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::common::{STORE_BUFFERING, directory, file, root, run};

fn page() -> String {
    std::fs::read_to_string(root().join("docs/interface.md")).unwrap()
}

/// The sections of the page: each heading with the lines below it, up to the next heading.
fn sections(page: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut sections: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut heading = "";
    for line in page.lines() {
        if line.starts_with('#') {
            heading = line.trim_start_matches('#').trim();
            assert!(sections.insert(heading, Vec::new()).is_none(), "two sections {heading}");
        } else if let Some(lines) = sections.get_mut(heading) {
            lines.push(line);
        }
    }
    sections
}

/// The cells of the rows of a section's table, without its head.
fn rows<'a>(lines: &[&'a str]) -> Vec<Vec<&'a str>> {
    let rows = lines.iter().filter(|line| line.starts_with('|')).skip(2);
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// `--stats` of `--stats=full`, `--stats[=<full>]` and `--stats FULL`.
fn flag_name(text: &str) -> &str {
    text.split(['=', ' ', '[', '<']).next().unwrap_or(text)
}

fn flags_in(text: &str) -> BTreeSet<String> {
    let flags = quoted(text).filter(|quoted| quoted.starts_with('-'));
    flags.map(|flag| flag_name(flag).to_owned()).collect()
}

/// The flags that the page has for a command, and the sentences of them that are common ones.
fn documented(lines: &[&str], common: &BTreeSet<String>) -> BTreeSet<String> {
    let mut flags: BTreeSet<String> = rows(lines).iter().flat_map(|row| flags_in(row[0])).collect();
    for line in lines.iter().filter_map(|line| line.strip_prefix("Common flags: ")) {
        let list = line.split(". ").next().unwrap_or(line);
        let list: String =
            list.split('(').map(|part| part.split(')').next_back().unwrap_or("")).collect();
        for flag in flags_in(&list) {
            assert!(common.contains(&flag), "{flag} is not among the common flags");
            assert!(flags.insert(flag.clone()), "{flag} is named twice for one command");
        }
    }
    flags
}

/// The commands that a help lists, and the flags that it lists, aliases included.
fn help(command: &[&str]) -> (Vec<String>, BTreeSet<String>) {
    let printed = run(&[command, &["--help"]].concat()).stdout;
    let (mut commands, mut flags, mut inside) = (Vec::new(), BTreeSet::new(), false);
    for line in printed.lines() {
        let word = line.trim_start();
        let indent = line.len() - word.len();
        match indent {
            0 if !line.is_empty() => inside = line == "Commands:",
            2 if inside => commands.extend(word.split(' ').next().map(str::to_owned)),
            1..9 if word.starts_with('-') => {
                let names = word.split([' ', ',']).filter(|name| !name.is_empty());
                let names = names.take_while(|name| name.starts_with('-'));
                flags.extend(names.map(|name| flag_name(name).to_owned()));
            }
            _ if word.starts_with("[alias") => {
                let names = word.trim_matches(['[', ']']).split([' ', ',']);
                flags.extend(names.filter(|name| name.starts_with('-')).map(str::to_owned));
            }
            _ => {}
        }
    }
    commands.retain(|command| command != "help");
    (commands, flags)
}

/// All commands that do something, with their flags.
fn commands() -> BTreeMap<String, BTreeSet<String>> {
    let mut found = BTreeMap::new();
    for command in help(&[]).0 {
        let (below, flags) = help(&[&command]);
        if below.is_empty() {
            found.insert(command, flags);
            continue;
        }
        for name in below {
            let flags = help(&[&command, &name]).1;
            found.insert(format!("{command} {name}"), flags);
        }
    }
    found
}

/// `check` of the heading `tribunal check FILE…`.
fn command_of(heading: &str) -> Option<String> {
    let words = heading.strip_prefix("`tribunal ")?.trim_end_matches('`').split(' ');
    let words = words.take_while(|word| word.chars().all(|c| c.is_ascii_lowercase()));
    Some(words.collect::<Vec<_>>().join(" "))
}

#[test]
fn the_page_has_the_flags_of_every_help_and_no_others() {
    let page = page();
    let sections = sections(&page);
    let common = rows(&sections["Common flags"]);
    let common: BTreeSet<String> = common.iter().flat_map(|row| flags_in(row[0])).collect();
    let commands = commands();
    assert!(commands.len() > 10, "{:?}", commands.keys());
    let written: BTreeMap<String, BTreeSet<String>> = sections
        .iter()
        .filter_map(|(heading, lines)| Some((command_of(heading)?, documented(lines, &common))))
        .collect();
    assert_eq!(
        commands.keys().collect::<Vec<_>>(),
        written.keys().collect::<Vec<_>>(),
        "commands of the program, and those of docs/interface.md"
    );
    for (command, flags) in &commands {
        let missing: Vec<_> = flags.difference(&written[command]).collect();
        let gone: Vec<_> = written[command].difference(flags).collect();
        assert!(missing.is_empty(), "docs/interface.md lacks flags of `{command}`: {missing:?}");
        assert!(gone.is_empty(), "docs/interface.md has flags `{command}` has not: {gone:?}");
    }
}

/// Flags of every command belong to no group, though clap lets the heading of a group stand for all
/// that is declared after it.
#[test]
fn groups_in_the_help_have_their_own_flags_only() {
    const UNGROUPED: [&str; 7] =
        ["--json", "--quiet", "--jobs", "--budget", "--memory", "--output", "--color"];
    for command in commands().keys() {
        let words: Vec<&str> = command.split(' ').collect();
        let printed = run(&[&words[..], &["--help"]].concat()).stdout;
        let mut heading = "";
        for line in printed.lines().take_while(|line| !line.starts_with("Examples:")) {
            let word = line.trim_start();
            match line.len() - word.len() {
                0 if line.ends_with(':') => heading = line,
                1..9 if word.starts_with('-') => {
                    let flag = UNGROUPED.iter().find(|flag| word.contains(*flag));
                    let stray = flag.filter(|_| heading != "Options:");
                    assert_eq!(stray, None, "`{command}` has it under `{heading}`");
                }
                1..9 if word.starts_with(['<', '[']) => {
                    assert_eq!(heading, "Arguments:", "`{command}` has `{word}` there");
                }
                _ => {}
            }
        }
    }
}

#[test]
fn the_page_has_the_exit_codes_of_the_help() {
    let page = page();
    let written: Vec<String> =
        rows(&sections(&page)["Exit codes"]).iter().map(|row| row[0].to_owned()).collect();
    let printed = run(&["--help"]).stdout;
    let codes = printed.split("Exit codes:").nth(1).unwrap().lines();
    let codes = codes.filter_map(|line| line.split_whitespace().next());
    let codes: Vec<&str> = codes.filter(|word| word.parse::<u8>().is_ok()).collect();
    assert_eq!(written, codes);
}

#[test]
fn exit_codes_are_those_of_the_page() {
    let folder = directory("interface-codes");
    let trace = file(&folder, "sb.trace", STORE_BUFFERING);
    let model = "protocols/mi.m";
    for (code, arguments) in [
        (0, vec!["check", "--model", "tso", &trace]),
        (1, vec!["check", "--model", "sc", &trace]),
        (2, vec!["check", "--model", "sc", "no such file"]),
        (2, vec!["check", "--no-such-flag", &trace]),
        (3, vec!["explore", "--bound", "1", model]),
    ] {
        let ran = run(&arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}: {}", ran.stderr);
    }
}

/// The fields of a section's table: each path with the types it may have.
fn fields(lines: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let mut fields = BTreeMap::new();
    for row in rows(lines) {
        let path = quoted(row[0]).next().expect(row[0]).to_owned();
        let types = row[1].split(" or ").map(str::to_owned).collect();
        assert!(fields.insert(path, types).is_none(), "{} has two rows", row[0]);
    }
    fields
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

/// Compares objects of one kind with the table of their section.
struct Comparison {
    section: &'static str,
    fields: BTreeMap<String, BTreeSet<String>>,
    seen: BTreeSet<String>,
    wrong: BTreeSet<String>,
}

impl Comparison {
    fn object(&mut self, prefix: &str, object: &serde_json::Map<String, Value>) {
        for (name, value) in object {
            self.field(format!("{prefix}{name}"), value);
        }
    }

    fn field(&mut self, path: String, value: &Value) {
        let Some(types) = self.fields.get(&path) else {
            self.wrong.insert(format!("`{path}` is not in the table"));
            return;
        };
        let map = types.contains("map");
        if !(types.contains(type_of(value)) || map && value.is_object()) {
            self.wrong.insert(format!("`{path}` is {} and not {types:?}", type_of(value)));
        }
        match value {
            Value::Object(object) if !map => self.object(&format!("{path}."), object),
            Value::Array(elements)
                if self.fields.keys().any(|f| f.starts_with(&format!("{path}[]."))) =>
            {
                for element in elements.iter().filter_map(Value::as_object) {
                    self.object(&format!("{path}[]."), element);
                }
            }
            _ => {}
        }
        self.seen.insert(path);
    }

    /// Fails on what differs, and on rows that no object had.
    fn end(self, rare: &[&str]) {
        let Self { section, fields, seen, wrong } = self;
        assert!(wrong.is_empty(), "{section}: {wrong:#?}");
        let unseen = fields.keys().filter(|path| !seen.contains(*path));
        let unseen: Vec<_> = unseen.filter(|path| !rare.contains(&path.as_str())).collect();
        assert!(unseen.is_empty(), "{section}: no object of this test has {unseen:?}");
        let common: Vec<_> = rare.iter().filter(|path| seen.contains(**path)).collect();
        assert!(common.is_empty(), "{section}: {common:?} were seen: they are not rare");
    }
}

/// A comparison with the table of a section.
fn comparison(section: &'static str) -> Comparison {
    let page = page();
    let fields = fields(&sections(&page)[section]);
    Comparison { section, fields, seen: BTreeSet::new(), wrong: BTreeSet::new() }
}

/// Runs commands and compares what they print with the table of a section. `rare` are rows that
/// none of these commands shows.
fn compare(section: &'static str, commands: &[&[&str]], rare: &[&str]) {
    let mut comparison = comparison(section);
    for command in commands {
        let ran = run(&[command, &["--json"][..]].concat());
        let objects = ran.json();
        assert!(!objects.is_empty(), "{command:?} prints no object: {}", ran.stderr);
        for object in objects {
            comparison.object("", object.as_object().unwrap());
        }
    }
    comparison.end(rare);
}

/// Traces for which `check` has something unusual to say.
const UNUSUAL: &str = "\
0: <M[x] == 0; M[x] := 1>
0: M[x] == 0
check
0: M[x] := 1
1: M[x] := 1
2: M[x] == 1
check
0: M[y] := 1
0: M[x] == 7
check
";

#[test]
fn the_json_of_check_is_on_the_page() {
    let folder = directory("interface-check");
    let sb = file(&folder, "sb.trace", STORE_BUFFERING);
    let unusual = file(&folder, "unusual.trace", UNUSUAL);
    let hard = folder.join("hard.trace").to_str().unwrap().to_owned();
    run(&["generate", "hard", "--variables", "20", "--ratio", "6", "-o", &hard]);
    compare(
        "JSON of `check`",
        &[
            &["check", "--model", "sc,tso,cm,ccv,cc", "--stats=full", &sb],
            &["check", "--model", "gradual", &sb],
            &["check", "--model", "sc,cc,ccv", "--stats=full", "--thin-air", "violation", &unusual],
            &["check", "--model", "sc", "--engine", "saturation", &hard],
            &["check", "--model", "sc", "examples/coherence-bug.trace"],
            &["check", "--model", "models/sc.cat,models/tso.cat", "--stats=full", &sb],
            &["check", "--keep-going", &unusual],
            &["check", "--memory", "100B", &sb],
            &["check", "--model", "rvwmo", "examples/message-passing.log"],
        ],
        // A proof by search is larger than a test should be, and Spike's logs have no cycles.
        &[
            "cycle[].assumed",
            "cycle[].from.half",
            "cycle[].to.half",
            "cycle[].from.cycle",
            "cycle[].to.cycle",
        ],
    );
}

#[test]
fn the_json_of_explain_is_on_the_page() {
    let folder = directory("interface-explain");
    let trace = file(&folder, "sb.trace", STORE_BUFFERING);
    let stale = "0: x := 1\n0: y := 1\n1: y == 1\n1: x == 0\ncheck\n";
    let stale = file(&folder, "stale.trace", stale);
    compare(
        "JSON of `explain`",
        &[
            &["explain", "--model", "sc", &trace],
            &["explain", "--model", "sc.cat", &trace],
            &["explain", "--model", "sc", "examples/coherence-bug.trace"],
            &["explain", "--model", "ccv", &stale],
        ],
        // Long proofs are left out or distinguish cases.
        &["argument[].count", "argument[].question", "argument[].cases"],
    );
}

#[test]
fn the_json_of_certify_is_on_the_page() {
    let folder = directory("interface-certify");
    let trace = file(&folder, "sb.trace", STORE_BUFFERING);
    let name = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (proof, other, protocol) = (name("sb.proof"), name("other.proof"), name("mi.proof"));
    run(&["check", "--model", "sc,tso", "--certificate", &proof, &trace]);
    let altered = std::fs::read_to_string(&proof).unwrap().replace("[0,1],[1,1]", "[1,1],[1,1]");
    std::fs::write(&other, altered).unwrap();
    let model = "protocols/mi.m";
    run(&["verify", "--any-processors", "--certificate", &protocol, model]);
    compare(
        "JSON of `certify`",
        &[
            &["certify", &trace, &proof],
            &["certify", &trace, &other],
            &["certify", model, &protocol],
            &["certify", "--budget", "1ms", model, &protocol],
        ],
        &[],
    );
}

#[test]
fn the_json_of_models_is_on_the_page() {
    compare("JSON of `models`", &[&["models"]], &[]);
}

/// A protocol whose second step fails, and whose processors are distinguished by their order.
const FAILING: &str = "\
type P: scalarset(2);
var n: 0..1; last: P;
startstate begin n := 0; end;
ruleset p: P do rule \"count\" true ==> begin last := p; n := n + 1; end; end;
";

/// A model with a function that calls itself.
const RECURSIVE: &str = "\
var n: 0..3;
function half(k: 0..3): 0..3; begin if k < 2 then return 0; end; return half(k - 2) + 1; end;
startstate begin n := 3; end;
rule \"halve\" begin n := half(n); end;
rule \"again\" n = 0 ==> begin n := 3; end;
";

/// A model that does not come back.
const STAYS: &str = "var n: 0..3; startstate begin n := 0; end;
rule \"count\" begin n := n = 3 ? 2 : n + 1; end;
";

/// A model whose processors are numbers.
const NUMBERED: &str = "type P: 1..2; var on: array [P] of boolean;
startstate begin for p: P do on[p] := false; end; end;
ruleset p: P do rule \"turn\" begin on[p] := !on[p]; end; end;
";

/// A model that ends in a state without successors, and on the way in one that breaks an invariant.
const STUCK: &str = "var n: 0..3; startstate begin n := 0; end;
rule \"one\" n = 0 ==> begin n := 1; end; rule \"two\" n = 0 ==> begin n := 2; end;
invariant \"not two\" n != 2;
";

#[test]
fn the_json_of_explore_is_on_the_page() {
    let folder = directory("interface-explore");
    let recursive = file(&folder, "recursive.m", RECURSIVE);
    let failing = file(&folder, "failing.m", FAILING);
    let stays = file(&folder, "stays.m", STAYS);
    let numbered = file(&folder, "numbered.m", NUMBERED);
    let stuck = file(&folder, "stuck.m", STUCK);
    let broken = "protocols/broken/german-grants-before-acks.m";
    let kept = folder.join("checkpoint").to_str().unwrap().to_owned();
    compare(
        "JSON of `explore`",
        &[
            &["explore", "--const", "ProcessorCount=2", "protocols/mi.m"],
            &["explore", "--simulate", "100", "protocols/mi.m"],
            &["explore", "--compact", "--bound", "3", "protocols/mi.m"],
            &["explore", broken],
            &["explore", &failing],
            &["explore", &recursive],
            &["explore", "--const", "N=2", "--liveness", "true", "protocols/mcs-lock.m"],
            &["explore", "--liveness", "n = 1", "--show", "n", &stays],
            &["explore", "--symmetric", "P", &numbered],
            &["explore", "--bound", "3", "--checkpoint", &kept, "protocols/mi.m"],
            &["explore", "--search", "best", "--towards", "n = 1", &stays],
            &["explore", "--processes", "1", "protocols/mi.m"],
        ],
        &["asymmetric"],
    );
    let graph = folder.join("states.json").to_str().unwrap().to_owned();
    let mut graphs = comparison("JSON of `explore --graph`");
    for model in [&failing, &stuck] {
        run(&["explore", "--quiet", "--graph", &graph, model]);
        let text = std::fs::read_to_string(&graph).unwrap();
        let object: Value = serde_json::from_str(&text).unwrap();
        graphs.object("", object.as_object().unwrap());
    }
    graphs.end(&[]);
    let wrong = "var x: bool; y: boolean; y: boolean;\nstartstate begin y := tru; end;";
    let wrong = file(&folder, "wrong.m", wrong);
    compare("JSON of `explore --check-only`", &[&["explore", "--check-only", &wrong]], &[]);
    let saved = folder.join("saved.json").to_str().unwrap().to_owned();
    run(&["explore", "--quiet", "--save", &saved, broken]);
    let other = std::fs::read_to_string(&saved).unwrap().replace("Node_1", "Node_2");
    let other = file(&folder, "other.json", other);
    compare(
        "JSON of `explore --replay` and `verify --replay`",
        &[&["explore", "--replay", &saved, broken], &["explore", "--replay", &other, broken]],
        &[],
    );
}

#[test]
fn the_json_of_verify_is_on_the_page() {
    compare(
        "JSON of `verify`",
        &[
            &["verify", "--model", "sc", "protocols/mi.m"],
            &["verify", "--model", "sc", "protocols/broken/mi-stale-put-taken.m"],
            &[
                "verify",
                "--model",
                "tso",
                "--commit",
                "Commit",
                "--budget",
                "1ms",
                "protocols/lazy-caching.m",
            ],
        ],
        &[
            "asymmetric",
            "column",
            "counterexample[].error",
            "lemmas[].passed_over",
            "line",
            "not_established[].place",
            "not_established[].sentence",
            "not_established[].what",
        ],
    );
    compare(
        "JSON of `verify --mutants`",
        &[&["verify", "--model", "sc", "--mutants", "--mutant", "1,2", "protocols/mi.m"]],
        &[],
    );
}

#[test]
fn the_json_of_any_processors_is_on_the_page() {
    compare(
        "JSON of `verify --any-processors`",
        &[
            &["verify", "--any-processors", "--model", "sc", "--audit", "100", "protocols/mi.m"],
            &["verify", "--any-processors", "protocols/broken/german-grants-before-acks.m"],
        ],
        &[
            "asymmetric",
            "counterexample[].error",
            "not_established[].place",
            "not_established[].sentence",
            "not_established[].what",
        ],
    );
}

#[test]
fn the_json_of_run_is_on_the_page() {
    compare(
        "JSON of `run --check` with a program",
        &[&["run", "--on", "machine:tso", "--check", "sc", "examples/sb.program"]],
        &[],
    );
    let broken = "protocols/broken/msi-upgrade-keeps-its-copy.m";
    let stale = "protocols/broken/mi-stale-put-taken.m";
    compare(
        "JSON of `run --check` with a protocol",
        &[
            &["run", "--on", "protocols/mi.m", "--check", "sc", "--traces", "5"],
            &["run", "--on", broken, "--check", "sc", "--traces", "20"],
            &["run", "--on", stale, "--check", "sc", "--traces", "500"],
        ],
        &[],
    );
}

#[test]
fn the_json_of_litmus_is_on_the_page() {
    let (sb, spin) = ("examples/litmus/SB.litmus", "examples/litmus/spinlock.litmus");
    compare(
        "JSON of `litmus`",
        &[&["litmus", "--witness", sb, spin], &["litmus", "--budget", "0ms", sb]],
        &["loops_followed"],
    );
    if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        compare(
            "JSON of `litmus --on host`",
            &[&["litmus", "--on", "host", "--runs", "1000", sb]],
            &["memory_model", "model", "why"],
        );
    }
}

#[test]
fn the_json_of_hunt_is_on_the_page() {
    let folder = directory("interface-hunt");
    let folder = folder.to_str().unwrap();
    let command =
        ["hunt", "--on", "machine:tso", "--model", "sc", "--tests", "20", "--out", folder];
    compare("JSON of `hunt`", &[&command], &[]);
}
