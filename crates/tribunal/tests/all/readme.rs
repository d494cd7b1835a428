//! What README.md and the guides in docs/ show is what the command prints.
//!
//! Every fenced block marked `console` is run: a line that starts with `$ ` goes to the shell, in
//! the root of the project with the built command on the path, and what follows up to the next is
//! compared with what it prints on both streams (`assert_printed` says how).

use std::process::Command;

use crate::common::root;
use crate::printed::assert_printed;

struct Session {
    command: String,
    expected: String,
}

/// The commands of all console blocks with what they are said to print.
fn sessions(text: &str) -> Vec<Session> {
    let mut sessions: Vec<Session> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line.strip_prefix("$ ") {
            _ if line.starts_with("```") => inside = !inside && line == "```console",
            Some(command) if inside => {
                sessions.push(Session { command: command.to_owned(), expected: String::new() });
            }
            _ if inside => {
                if let Some(session) = sessions.last_mut() {
                    session.expected.push_str(line);
                    session.expected.push('\n');
                }
            }
            _ => {}
        }
    }
    sessions
}

fn printed(command: &str) -> String {
    let built = std::path::Path::new(env!("CARGO_BIN_EXE_tribunal")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {command}\n}} 2>&1")])
        .current_dir(root())
        .env("PATH", format!("{}:{path}", built.display()))
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Runs all sessions of a file and compares.
#[cfg(unix)]
fn check(file: &str) {
    let Ok(text) = std::fs::read_to_string(root().join(file)) else {
        eprintln!("skipped: no {file}");
        return;
    };
    for Session { command, expected } in sessions(&text) {
        assert_printed(&printed(&command), &expected);
    }
}

#[cfg(unix)]
#[test]
fn the_readme_shows_what_is_printed() {
    check("README.md");
}

#[cfg(unix)]
#[test]
fn the_guide_to_commit_logs_shows_what_is_printed() {
    check("docs/commit-logs.md");
}

#[cfg(unix)]
#[test]
fn the_guide_to_continuous_integration_shows_what_is_printed() {
    check("docs/ci.md");
}

#[cfg(unix)]
#[test]
fn the_guide_to_traces_that_grow_shows_what_is_printed() {
    check("docs/live.md");
}

#[cfg(unix)]
#[test]
fn the_specification_of_models_shows_what_is_printed() {
    check("docs/models.md");
}

#[cfg(unix)]
#[test]
fn the_guide_to_exploring_shows_what_is_printed() {
    check("docs/explore.md");
}

#[cfg(unix)]
#[test]
fn the_guide_to_verifying_shows_what_is_printed() {
    check("docs/verify.md");
}

#[cfg(unix)]
#[test]
fn the_guide_to_programs_shows_what_is_printed() {
    check("docs/programs.md");
}

#[cfg(unix)]
#[test]
fn the_guide_to_targets_shows_what_is_printed() {
    let python = Command::new("python3").arg("--version").output();
    if !python.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no python3");
        return;
    }
    check("docs/targets.md");
}

#[cfg(unix)]
#[test]
fn the_guide_to_any_number_of_processors_shows_what_is_printed() {
    check("docs/any-processors.md");
}

#[cfg(unix)]
#[test]
fn the_guide_to_running_shows_what_is_printed() {
    check("docs/run.md");
}

#[cfg(unix)]
#[test]
fn the_guide_to_litmus_tests_shows_what_is_printed() {
    check("docs/litmus.md");
}

#[cfg(unix)]
#[test]
fn the_guide_to_hunting_shows_what_is_printed() {
    check("docs/hunt.md");
}

#[cfg(unix)]
#[test]
fn the_guides_by_role_show_what_is_printed() {
    check("docs/for-validation.md");
    check("docs/for-protocols.md");
    check("docs/for-models.md");
}

/// The targets of the links of a page, without addresses on the web and parts of pages.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let files = targets.filter_map(|target| target.split('#').next());
    files.filter(|file| !file.is_empty() && !file.contains("://") && !file.contains(' '))
}

#[test]
fn the_index_links_every_page_and_every_link_leads_somewhere() {
    let docs = root().join("docs");
    let index = std::fs::read_to_string(docs.join("README.md")).unwrap();
    for entry in std::fs::read_dir(&docs).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".md") {
            continue;
        }
        assert!(name == "README.md" || links(&index).any(|link| link == name), "{name}");
        let text = std::fs::read_to_string(&path).unwrap();
        for link in links(&text) {
            assert!(docs.join(link).exists(), "docs/{name} links to {link}");
        }
    }
    for link in links(&std::fs::read_to_string(root().join("README.md")).unwrap()) {
        assert!(root().join(link).exists(), "README.md links to {link}");
    }
}

#[test]
fn sessions_are_found_in_console_blocks_only() {
    let text = "```text\n$ no\n```\n```console\n$ echo one\none\n$ echo two\ntwo\n```\n$ no\n";
    let found: Vec<_> = sessions(text).into_iter().map(|s| (s.command, s.expected)).collect();
    assert_eq!(
        found,
        [("echo one".to_owned(), "one\n".to_owned()), ("echo two".to_owned(), "two\n".to_owned())]
    );
}
