//! `--processes` and `--cluster` of `tribunal explore` and `tribunal verify`: several processes find what
//! one finds, end together, and let nobody in who does not belong to them.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::*;

/// What must be the same however many processes search.
fn essence(value: &Value) -> Vec<&Value> {
    let fields = ["verdict", "states", "rules_fired", "depth", "counterexample", "rule_coverage"];
    fields.iter().map(|field| &value[field]).collect()
}

#[test]
fn processes_on_this_machine_find_what_one_finds() {
    for model in [
        "protocols/german.m",
        "protocols/broken/german-grants-before-acks.m",
        "protocols/broken/mcs-lock-tail-cleared-without-comparing.m",
    ] {
        let alone = run(&["explore", "--json", "--quiet", "--jobs", "1", model]);
        for processes in ["1", "2", "4"] {
            let flags = ["explore", "--json", "--quiet", "--processes", processes, "--jobs", "1"];
            let ran = run(&[&flags[..], &[model]].concat());
            assert_eq!((ran.code, &ran.stderr[..]), (alone.code, ""), "{ran:?}");
            let (alone, found) = (&alone.json()[0], &ran.json()[0]);
            assert_eq!(essence(found), essence(alone));
            assert_eq!(found["processes"].to_string(), processes);
        }
    }
}

/// A cluster of processes of this test.
struct Cluster {
    hosts: String,
    secret: String,
    ports: Vec<u16>,
}

impl Cluster {
    /// Ports that were free a moment ago.
    fn new(test: &str, processes: usize) -> Cluster {
        let directory = directory(test);
        let listen = |_| TcpListener::bind("127.0.0.1:0").unwrap();
        let listeners: Vec<TcpListener> = (0..processes).map(listen).collect();
        let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
        let ports: Vec<u16> = listeners.iter().map(port).collect();
        let hosts: String = ports.iter().map(|port| format!("127.0.0.1:{port}\n")).collect();
        let secret = file(&directory, "secret", "a secret of the tests\n");
        Cluster { hosts: file(&directory, "hosts", hosts), secret, ports }
    }

    /// Waits until all processes have found each other: each has two connections from every process
    /// with a higher number. Only Linux says so, so the tests that need it are for Linux.
    #[cfg(target_os = "linux")]
    fn wait_until_connected(&self) {
        let connections = |port: u16| {
            let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
            let at_port = format!(":{port:04X}");
            let is_one = |line: &&str| {
                let mut fields = line.split_whitespace().skip(1);
                let (local, state) = (fields.next(), fields.nth(1));
                local.is_some_and(|local| local.ends_with(&at_port)) && state == Some("01")
            };
            table.lines().filter(is_one).count()
        };
        let deadline = Instant::now() + Duration::from_secs(120);
        let last = self.ports.len() - 1;
        let mut ports = self.ports.iter().enumerate();
        while !ports.all(|(process, &port)| connections(port) >= 2 * (last - process)) {
            assert!(Instant::now() < deadline, "the processes did not find each other");
            std::thread::sleep(Duration::from_millis(5));
            ports = self.ports.iter().enumerate();
        }
    }

    fn start(&self, process: usize, secret: &str, arguments: &[&str]) -> Child {
        self.start_command("explore", process, secret, arguments)
    }

    fn start_command(
        &self,
        command: &str,
        process: usize,
        secret: &str,
        arguments: &[&str],
    ) -> Child {
        let process = process.to_string();
        let flags = [command, "--json", "--quiet", "--jobs", "1", "--cluster", &self.hosts];
        let own = ["--process", &process, "--secret", secret];
        spawn(&[&flags[..], &own, arguments].concat())
    }
}

/// A report without what depends on the clock, on memory and on how it was searched.
fn timeless(mut value: Value) -> Value {
    fn clear(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                let volatile = ["seconds", "bytes", "bytes_per_state", "jobs", "processes"];
                volatile.iter().for_each(|field| {
                    fields.remove(*field);
                });
                fields.values_mut().for_each(clear);
            }
            Value::Array(values) => values.iter_mut().for_each(clear),
            _ => {}
        }
    }
    clear(&mut value);
    value
}

#[test]
fn several_processes_verify_what_one_verifies() {
    let sc: &[&str] = &["--model", "sc"];
    let cases: [(&[&str], &str); 7] = [
        (sc, "protocols/mi.m"),
        (&["--model", "tso"], "protocols/mi.m"),
        // False alarms are passed over, and a violation is found.
        (sc, "protocols/msi-store-buffer.m"),
        (sc, "protocols/broken/piranha-owner-not-cleared.m"),
        (&["--any-processors"], "protocols/german.m"),
        (&["--any-processors", "--model", "sc"], "protocols/mi.m"),
        (&["--any-processors"], "protocols/broken/german-grants-before-acks.m"),
    ];
    for (flags, model) in cases {
        let verify = ["verify", "--json", "--quiet", "--jobs", "1"];
        let alone = run(&[&verify[..], flags, &[model]].concat());
        for processes in ["2", "3"] {
            let together = ["--processes", processes];
            let ran = run(&[&verify[..], &together, flags, &[model]].concat());
            assert_eq!((ran.code, &ran.stderr), (alone.code, &alone.stderr), "{model} {ran:?}");
            let (expected, found) = (alone.json().remove(0), ran.json().remove(0));
            assert_eq!(timeless(found), timeless(expected), "{model} {flags:?}");
        }
    }
}

/// A verification with several searches in three processes, one of which is killed at some moment
/// (`TRIBUNAL_TRIALS` times): the others end soon, and name it unless they were through.
#[test]
#[cfg(target_os = "linux")]
fn a_killed_process_ends_the_verification() {
    let mut killed = 0;
    for trial in 0..number("TRIBUNAL_TRIALS", 4) {
        let cluster = Cluster::new("cluster-verify", 3);
        let flags = match trial % 2 {
            0 => &["--model", "sc", "protocols/msi.m"][..],
            _ => &["--any-processors", "protocols/msi.m"],
        };
        let start = |process| cluster.start_command("verify", process, &cluster.secret, flags);
        let mut children: Vec<Child> = (0..3).map(start).collect();
        cluster.wait_until_connected();
        let moment = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        std::thread::sleep(Duration::from_millis(u64::from(moment.subsec_nanos()) % 1500));
        let victim = trial as usize % 3;
        let mut lost = children.remove(victim);
        lost.kill().unwrap();
        let is_killed = lost.wait().unwrap().code().is_none();
        let since = Instant::now();
        let others: Vec<Ran> = children.into_iter().map(finish).collect();
        assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
        let name = format!("process {victim} (127.0.0.1:{}) was lost", cluster.ports[victim]);
        let is_over = !is_killed || others.iter().any(|ran| ran.code == Some(0));
        for ran in &others {
            let said = [&ran.stdout[..], &ran.stderr].concat();
            let is_named = ran.code == Some(3) && said.contains(&name);
            assert!(is_named || is_over, "process {victim} was killed: {ran:?}");
        }
        killed += u64::from(!is_over);
    }
    println!("{killed} processes were killed before the end");
    assert!(killed > 0);
}

#[test]
fn processes_that_are_to_verify_something_else_are_refused() {
    let cluster = Cluster::new("cluster-verify-strangers", 2);
    let verify =
        |process, flags: &[&str]| cluster.start_command("verify", process, &cluster.secret, flags);
    let first = verify(0, &["--model", "sc", "protocols/mi.m"]);
    for (flags, what) in [
        (&["--model", "tso", "protocols/mi.m"][..], "memory model (tso and sc)"),
        (&["--model", "sc", "protocols/msi.m"], "protocol"),
        (&["--model", "sc", "--const", "ProcessorCount=2", "protocols/mi.m"], "constants"),
        (&["--model", "sc", "--any-processors", "protocols/mi.m"], "--any-processors"),
    ] {
        let ran = finish(verify(1, flags));
        assert_eq!(ran.code, Some(2), "{ran:?}");
        let said = ran.stderr.contains("the processes differ in: ") && ran.stderr.contains(what);
        assert!(said, "{ran:?}");
    }
    let second = finish(verify(1, &["--model", "sc", "protocols/mi.m"]));
    let first = finish(first);
    assert_eq!((first.code, second.code), (Some(0), Some(0)), "{first:?} {second:?}");
    assert_eq!(first.json()[0]["verdict"], "verified");
}

const SMALL: &[&str] = &["protocols/german.m"];
/// 10,187,487 states: more than a test waits for.
const LARGE: &[&str] = &["--const", "N=6", "--symmetry", "off", "protocols/peterson.m"];

#[test]
fn strangers_are_refused_and_the_run_goes_on() {
    let cluster = Cluster::new("cluster-strangers", 2);
    let mut first = cluster.start(0, &cluster.secret, SMALL);
    let mut said = BufReader::new(first.stderr.take().unwrap()).lines();
    let mut refused = |who: &str| {
        let line = said.next().unwrap().unwrap();
        assert!(line.starts_with("tribunal: refused a connection from 127.0.0.1:"), "{line}");
        assert!(line.contains(who), "{line}");
    };

    let mut scanner = connect(cluster.ports[0]);
    scanner.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    refused("the other side is not a process of a cluster");

    let other = file(Path::new(&cluster.hosts).parent().unwrap(), "other", "not the secret of it");
    let ran = finish(cluster.start(1, &other, SMALL));
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("the other process has another secret (--secret)"), "{ran:?}");
    refused("the other process did not prove that it knows the secret");

    let ran = finish(cluster.start(1, &cluster.secret, &["protocols/mi.m"]));
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("the processes differ in: model"), "{ran:?}");
    refused("the processes differ in: model");

    // Somebody who says nothing holds up nobody.
    let _silent = connect(cluster.ports[0]);
    let second = finish(cluster.start(1, &cluster.secret, SMALL));
    assert_eq!((second.code, &second.stdout[..]), (Some(0), ""));
    let first = finish(first);
    assert_eq!(first.code, Some(0));
    assert_eq!(first.json()[0]["verdict"], "verified");
}

/// Connects as soon as somebody listens.
fn connect(port: u16) -> TcpStream {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => return stream,
            Err(error) => assert!(Instant::now() < deadline, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A number from the environment, for longer runs of a test.
#[cfg(target_os = "linux")]
fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// 409,308 states.
#[cfg(target_os = "linux")]
const MEDIUM: &[&str] = &["--const", "N=5", "--symmetry", "off", "protocols/peterson.m"];

/// Processes that keep checkpoints, one of which is killed at some moment (`TRIBUNAL_TRIALS` times): the
/// others name it and end, and another number of processes goes on to the same result.
#[test]
#[cfg(target_os = "linux")]
fn after_a_killed_process_the_search_goes_on_from_its_checkpoint() {
    let flags = ["explore", "--json", "--quiet", "--jobs", "1"];
    let expected = run(&[&flags[..], MEDIUM].concat()).json().remove(0);
    let mut killed = 0;
    for trial in 0..number("TRIBUNAL_TRIALS", 3) {
        let cluster = Cluster::new("cluster-checkpoint", 3);
        let place = Path::new(&cluster.hosts).with_file_name("states");
        let place = place.to_str().unwrap();
        let keep = ["--checkpoint", place, "--every", "1ms", "--memory", "16MiB"];
        let start =
            |process| cluster.start(process, &cluster.secret, &[&keep[..], MEDIUM].concat());
        let mut children: Vec<Child> = (0..3).map(start).collect();
        cluster.wait_until_connected();
        let moment = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        std::thread::sleep(Duration::from_millis(u64::from(moment.subsec_nanos()) % 300));
        let victim = trial as usize % 3;
        let mut lost = children.remove(victim);
        lost.kill().unwrap();
        let is_killed = lost.wait().unwrap().code().is_none();
        let since = Instant::now();
        let others: Vec<Ran> = children.into_iter().map(finish).collect();
        assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
        let name = format!("process {victim} (127.0.0.1:{}) was lost", cluster.ports[victim]);
        let mut is_over = !is_killed;
        for (ran, process) in others.iter().zip((0..3).filter(|&process| process != victim)) {
            // Whoever had all it needed ends as if nothing had happened.
            is_over |= ran.code == Some(0);
            let said = [&ran.stdout[..], &ran.stderr].concat();
            let is_named = ran.code == Some(3) && said.contains(&name);
            assert!(is_named || is_over, "process {process}: {ran:?}");
        }
        if is_over {
            continue;
        }
        killed += 1;
        let flag = match Path::new(place).join("checkpoint.json").exists() {
            true => "--resume",
            false => "--checkpoint",
        };
        let processes = ["1", "2", "4"][trial as usize % 3];
        let again = [flag, place, "--processes", processes];
        let ran = run(&[&flags[..], &again, MEDIUM].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(essence(&ran.json()[0]), essence(&expected));
    }
    println!("{killed} processes were killed before the end");
    assert!(killed > 0);
}

/// A process that is stopped is waited for, in bounded memory; one that is killed ends the others.
#[test]
#[cfg(target_os = "linux")]
fn a_stopped_process_is_waited_for_and_a_killed_one_is_named() {
    let cluster = Cluster::new("cluster-killed", 3);
    let start = |process| cluster.start(process, &cluster.secret, LARGE);
    let mut children: Vec<Child> = (0..3).map(start).collect();
    cluster.wait_until_connected();
    std::thread::sleep(Duration::from_millis(500));

    let signal = |child: &Child, signal: &str| {
        let pid = child.id().to_string();
        let sent = std::process::Command::new("kill").args([signal, &pid]).status().unwrap();
        assert!(sent.success());
    };
    signal(&children[2], "-STOP");
    std::thread::sleep(Duration::from_millis(500));
    let before = resident(&children[0]);
    std::thread::sleep(Duration::from_millis(1000 * number("STOPPED_SECONDS", 1)));
    let after = resident(&children[0]);
    assert!(after < before + (8 << 10), "{before} kB, then {after} kB");
    assert!(children.iter_mut().all(|child| child.try_wait().unwrap().is_none()));
    signal(&children[2], "-CONT");

    let mut killed = children.remove(1);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let since = Instant::now();
    let name = format!("process 1 (127.0.0.1:{}) was lost at depth ", cluster.ports[1]);
    let others: Vec<Ran> = children.into_iter().map(finish).collect();
    assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
    assert_eq!([others[0].code, others[1].code], [Some(3), Some(3)], "{others:?}");
    let report = &others[0].json()[0];
    assert_eq!(report["verdict"], "undecided");
    assert!(report["reason"].as_str().unwrap().contains(&name), "{report}");
    assert!(others[1].stderr.contains(&name), "{others:?}");
}

/// The memory of a process, in kilobytes.
#[cfg(target_os = "linux")]
fn resident(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix("kB").unwrap().trim().parse().unwrap()
}

#[test]
fn what_several_processes_cannot_do_is_refused() {
    let refused = |arguments: &[&str], why: &str| {
        let ran = run(&[&["explore"], arguments].concat());
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(why), "{ran:?}");
    };
    let model = "protocols/german.m";
    refused(&["--processes", "2", "-"], "cannot all read the model from standard input");
    refused(&["--processes", "2", "--search", "dfs", model], "breadth-first only");
    refused(&["--processes", "2", "--compact", model], "cannot be used with");
    refused(&["--cluster", "hosts", model], "--process <I>");
    for flags in [&["--mutants", "--model", "sc"][..], &["--any-processors", "--plan"]] {
        let ran = run(&[&["verify", "--processes", "2"], flags, &["protocols/mi.m"]].concat());
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.contains("cannot be used with"), "{ran:?}");
    }
    let ran = run(&["verify", "--processes", "2", "--model", "sc", "-"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("cannot all read the model from standard input"), "{ran:?}");
    let directory = directory("cluster-wrong");
    let hosts = file(&directory, "hosts", "127.0.0.1:7000\nlocalhost\n");
    let secret = file(&directory, "secret", "short");
    let flags = ["--cluster", &hosts, "--process", "0", "--secret", &secret, model];
    refused(&flags, "hosts:2: `localhost` is not host:port");
    let hosts = file(&directory, "hosts", "127.0.0.1:7000\n");
    let flags = ["--cluster", &hosts, "--process", "0", "--secret", &secret, model];
    refused(&flags, "a secret has at least 16 characters");
}
