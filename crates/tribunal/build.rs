//! What `tribunal --version` says of the build: the commit, where one is known, the target, the
//! profile and the compiler. Builds without git and outside of a checkout work and say so.

use std::path::Path;
use std::process::Command;

fn main() {
    let commit = given().or_else(packaged).or_else(checked_out);
    let commit = commit.unwrap_or_else(|| "not recorded".to_owned());
    println!("cargo::rustc-env=TRIBUNAL_BUILD_COMMIT={commit}");
    let compiler = std::env::var("RUSTC").ok().and_then(|rustc| printed(&rustc, &["--version"]));
    let compiler = compiler.unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=TRIBUNAL_BUILD_COMPILER={compiler}");
    for name in ["TARGET", "PROFILE"] {
        let value = std::env::var(name).unwrap_or_default();
        println!("cargo::rustc-env=TRIBUNAL_BUILD_{name}={value}");
    }
}

/// The commit that whoever builds a package names.
fn given() -> Option<String> {
    println!("cargo::rerun-if-env-changed=TRIBUNAL_COMMIT");
    std::env::var("TRIBUNAL_COMMIT").ok().filter(|commit| !commit.is_empty())
}

/// The commit of sources that `cargo package` has packed.
fn packaged() -> Option<String> {
    let text = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let hash = text.split("\"sha1\"").nth(1)?.split('"').nth(1)?;
    println!("cargo::rerun-if-changed=.cargo_vcs_info.json");
    Some(hash.chars().take(12).collect())
}

/// The commit of the checkout around this crate.
fn checked_out() -> Option<String> {
    println!("cargo::rerun-if-changed=build.rs");
    let root = Path::new("../..");
    if !root.join(".git").exists() {
        return None;
    }
    let git = |arguments: &[&str]| printed("git", &[&["-C", "../.."], arguments].concat());
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    // Both change with every commit and checkout; a file that is not there would be new every time.
    for name in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", name])?;
        let path = root.join(path);
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    Some(commit)
}

/// The first line that a command prints.
fn printed(command: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(command).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    text.lines().next().map(str::to_owned)
}
