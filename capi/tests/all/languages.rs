//! The programs of docs/test-benches.md in C and SystemVerilog are compiled and run: against the
//! static and the shared library, by pkg-config where it is there, and by verilator where it is there.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// Where cargo has put the libraries for this test.
fn libraries() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap().to_owned();
    for name in ["libtribunal_c.a", "libtribunal_c.so"] {
        assert!(folder.join(name).exists(), "{} has no {name}", folder.display());
    }
    folder
}

fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (out, err) = (&output.stdout, &output.stderr);
    let text = String::from_utf8_lossy(&[&out[..], &err[..]].concat()).into_owned();
    assert!(output.status.success(), "{command:?}: {text}");
    text
}

fn has(command: &str) -> bool {
    Command::new(command).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Compiles the C program with these flags for the linker, and compares what it prints.
fn try_c(name: &str, link: &[String]) {
    let folder = directory(name);
    let program = folder.join("bench");
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compiler.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]);
    compiler.arg("-I").arg(root().join("include")).arg(root().join("examples/bench.c"));
    succeed(compiler.args(link).arg("-o").arg(&program));
    let ran = Command::new(&program).env("LD_LIBRARY_PATH", libraries()).output().unwrap();
    assert_eq!(ran.status.code(), Some(1));
    let printed = String::from_utf8(ran.stdout).unwrap();
    let page = std::fs::read_to_string(root().join("../docs/test-benches.md")).unwrap();
    assert!(
        page.contains(&printed),
        "docs/test-benches.md does not show what is printed:\n{printed}"
    );
}

#[test]
fn the_program_in_c_runs_with_the_static_library() {
    let library = libraries().join("libtribunal_c.a").display().to_string();
    let system = ["-lpthread", "-ldl", "-lm", "-lgcc_s"].map(str::to_owned);
    try_c("c-static", &[&[library][..], &system].concat());
}

#[test]
fn the_program_in_c_runs_with_the_shared_library() {
    let folder = libraries();
    try_c(
        "c-shared",
        &["-L".to_owned() + &folder.display().to_string(), "-ltribunal_c".to_owned()],
    );
}

#[test]
fn installed_libraries_are_found_by_pkg_config() {
    if !has("pkg-config") {
        eprintln!("skipped: no pkg-config");
        return;
    }
    let folder = directory("installed");
    succeed(Command::new(root().join("install")).arg(&folder).arg(libraries()));
    let asked = |what: &str| {
        let mut command = Command::new("pkg-config");
        command.env("PKG_CONFIG_PATH", folder.join("lib/pkgconfig"));
        succeed(command.args([what, "tribunal"])).trim().to_owned()
    };
    assert_eq!(asked("--modversion"), env!("CARGO_PKG_VERSION"));
    assert!(asked("--libs").contains("-ltribunal_c"));
    assert!(folder.join("include/tribunal.h").exists());
    assert!(folder.join("share/tribunal/tribunal_pkg.sv").exists());
    let link = asked("--libs").split(' ').map(str::to_owned).collect::<Vec<_>>();
    try_c("c-pkg-config", &link);
}

#[test]
fn the_test_bench_in_system_verilog_runs_under_verilator() {
    if !has("verilator") {
        eprintln!("skipped: no verilator");
        return;
    }
    let folder = directory("verilator");
    let library = libraries().join("libtribunal_c.so");
    let mut command = Command::new("verilator");
    command.args(["--binary", "--timing", "-O0", "-CFLAGS", "-O0", "--top-module", "bench"]);
    command.arg("--Mdir").arg(&folder).arg(root().join("dpi/tribunal_pkg.sv"));
    command.arg(root().join("examples/bench.sv")).arg(&library);
    succeed(&mut command);
    let mut bench = Command::new(folder.join("Vbench"));
    let printed = succeed(bench.env("LD_LIBRARY_PATH", libraries()));
    assert!(printed.starts_with("violation after "), "{printed}");
    assert!(printed.contains("sc: violation of sequential consistency after "), "{printed}");
    assert!(printed.contains("  time 5"), "{printed}");
}

#[test]
fn the_page_shows_the_programs() {
    let page = std::fs::read_to_string(root().join("../docs/test-benches.md")).unwrap();
    for name in ["bench.c", "bench.sv"] {
        let program = std::fs::read_to_string(root().join("examples").join(name)).unwrap();
        assert!(page.contains(&program), "docs/test-benches.md does not show {name}");
        assert!(program.lines().count() <= 33, "{name} has {} lines", program.lines().count());
    }
}
