//! Flags that would change nothing are refused, with what to do about it.
//!
//! One table a command: each row names flags, whether they have an effect with the other flags, and
//! what they need or exclude. Only flags on the command line count, not their defaults. What clap can
//! refuse by itself (`requires`, `conflicts_with`) is declared with the flag; here is what depends on
//! values, such as a model, a target or the format of a file. Flags about colours, progress and
//! threads change no answer, and are accepted everywhere.

use std::fmt;

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory};
use history::Format;
use stress::TargetName;

use super::{
    Arguments, CheckArguments, Command, ConvertTo, ExploreArguments, GenerateCommand,
    GenerateProgramArguments, HuntArguments, InputFlags, LitmusArguments, MemoryModelChoice,
    ModelArgument, RunArguments, SearchChoice, SingleModel, Stats, VerifyArguments,
};

/// A set of flags, by their names in the declaration, that have no effect, and the remedy.
struct Row {
    flags: &'static [&'static str],
    has_effect: bool,
    remedy: Remedy,
}

/// The remedy for a flag without effect.
#[derive(Clone, Copy)]
enum Remedy {
    /// Add this flag.
    Needs(&'static str),
    /// Leave out this flag or the other one.
    Excludes(&'static str),
}

/// The error about a flag without effect.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WithoutEffect(String);

impl fmt::Display for WithoutEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Refuses the first flag of the command line without effect.
pub(crate) fn refuse_without_effect(
    arguments: &Arguments,
    matches: &ArgMatches,
) -> Result<(), WithoutEffect> {
    let (rows, path): (Vec<Row>, &[&str]) = match &arguments.command {
        Command::Check(check) => (check_rows(check), &["check"]),
        Command::Shrink(shrink) => {
            (vec![commit_logs(&shrink.subject.input, &[&shrink.subject.file])], &["shrink"])
        }
        Command::Explain(explain) => {
            (vec![commit_logs(&explain.subject.input, &[&explain.subject.file])], &["explain"])
        }
        Command::Convert(convert) => {
            let traces = matches!(convert.to, ConvertTo::Traces(_));
            let what = "traces: --to text or jsonl";
            let rows = vec![
                needs(COMMIT_LOG_FLAGS, traces, what),
                needs(&["format", "thin_air", "misaligned", "memory"], traces, what),
                commit_logs(&convert.input, &[&convert.file]),
            ];
            (rows, &["convert"])
        }
        Command::Explore(explore) => (explore_rows(explore), &["explore"]),
        Command::Verify(verify) => (verify_rows(verify), &["verify"]),
        Command::Run(run) => (run_rows(run), &["run"]),
        Command::Litmus(litmus) => (litmus_rows(litmus), &["litmus"]),
        Command::Hunt(hunt) => (hunt_rows(hunt), &["hunt"]),
        Command::Generate(GenerateCommand::Program(program)) => {
            (program_rows(program), &["generate", "program"])
        }
        // The kind of the certificates is only known when they are read.
        Command::Certify(_)
        | Command::Models(_)
        | Command::Generate(_)
        | Command::Axe(_)
        | Command::Completions(_)
        | Command::Man(_) => return Ok(()),
    };
    let given = Given::of(matches);
    let idle = rows.into_iter().filter(|row| !row.has_effect).find_map(|row| {
        let flag = row.flags.iter().find(|flag| given.has(flag))?;
        Some((*flag, row.remedy))
    });
    idle.map_or(Ok(()), |(flag, remedy)| Err(WithoutEffect(sentence(path, flag, remedy))))
}

fn sentence(path: &[&str], flag: &str, remedy: Remedy) -> String {
    let flag = spelled(path, flag);
    match remedy {
        Remedy::Needs(what) => format!("{flag} has no effect here: it needs {what}"),
        Remedy::Excludes(what) => {
            format!("{flag} has no effect with {what}: leave one of them out")
        }
    }
}

/// A flag as it is written on the command line.
fn spelled(path: &[&str], flag: &str) -> String {
    let mut command = Arguments::command();
    for name in path {
        command = match command.find_subcommand(name) {
            Some(found) => found.clone(),
            None => return format!("--{flag}"),
        };
    }
    let argument = command.get_arguments().find(|argument| argument.get_id() == flag);
    format!("--{}", argument.and_then(clap::Arg::get_long).unwrap_or(flag))
}

/// The flags that are on the command line.
pub(crate) struct Given<'m>(&'m ArgMatches);

impl<'m> Given<'m> {
    /// Those of the innermost command.
    pub(crate) fn of(mut matches: &'m ArgMatches) -> Self {
        while let Some((_, inner)) = matches.subcommand() {
            matches = inner;
        }
        Given(matches)
    }

    /// Whether a flag, by its name in the declaration, is on the command line.
    pub(crate) fn has(&self, flag: &str) -> bool {
        let is_known = self.0.ids().any(|id| id == flag);
        is_known && self.0.value_source(flag) == Some(ValueSource::CommandLine)
    }
}

fn needs(flags: &'static [&'static str], has_effect: bool, what: &'static str) -> Row {
    Row { flags, has_effect, remedy: Remedy::Needs(what) }
}

fn excludes(flags: &'static [&'static str], excluded: bool, what: &'static str) -> Row {
    Row { flags, has_effect: !excluded, remedy: Remedy::Excludes(what) }
}

/// The flags about commit logs, for commands that read traces.
const COMMIT_LOG_FLAGS: &[&str] =
    &["shared_only", "keep_prefix", "discarded_amo", "skip_unknown", "xlen"];

fn commit_logs(input: &InputFlags, files: &[&String]) -> Row {
    let format = |file: &&String| input.format.unwrap_or_else(|| Format::guess(file));
    let any = files.iter().any(|file| format(file).is_commit_log());
    needs(COMMIT_LOG_FLAGS, any, "a commit log: --format spike, rvfi, whisper or m3")
}

fn check_rows(check: &CheckArguments) -> Vec<Row> {
    let has_engine = |model: &ModelArgument| match model {
        ModelArgument::Gradual => true,
        ModelArgument::One(SingleModel::Model(model)) => model.store_rules().is_some(),
        ModelArgument::One(_) => false,
    };
    let files: Vec<&String> = check.files.iter().collect();
    vec![
        commit_logs(&check.input, &files),
        needs(
            &["engine"],
            check.model.iter().any(has_engine),
            "a model with several engines: --model sc, tso, pso, wmo, rmo or coherence",
        ),
        excludes(&["misaligned"], check.live, "--live"),
        needs(&["stats"], check.stats != Some(Stats::Full) || check.json.json, "--json for `full`"),
    ]
}

fn explore_rows(explore: &ExploreArguments) -> Vec<Row> {
    let search = &explore.search;
    let replay = explore.evidence.replay.is_some();
    let best = search.search == SearchChoice::Best;
    let saved = search.checkpoint.is_some() || search.resume.is_some();
    vec![
        excludes(SEARCH_FLAGS, explore.list_constants, "--list-constants"),
        excludes(MODEL_FLAGS, explore.list_constants, "--list-constants"),
        excludes(&["json", "junit", "annotate"], explore.list_constants, "--list-constants"),
        excludes(SEARCH_FLAGS, explore.check_only, "--check-only"),
        excludes(REPLAYED_FLAGS, replay, "--replay"),
        excludes(&["symmetry"], search.simulate.is_some(), "--simulate"),
        needs(&["towards"], best, "--search best"),
        needs(&["every"], saved, "--checkpoint DIR or --resume DIR"),
    ]
}

/// The flags of `explore` about how the model is read.
const MODEL_FLAGS: &[&str] =
    &["constants", "dialect", "loop_limit", "call_limit", "symmetric", "liveness", "check_only"];

/// The flags of `explore` about the search and its report.
const SEARCH_FLAGS: &[&str] = &[
    "symmetry",
    "deadlock",
    "search",
    "simulate",
    "seed",
    "bound",
    "compact",
    "disk",
    "checkpoint",
    "every",
    "resume",
    "processes",
    "cluster",
    "budget",
    "memory",
    "trace_all",
    "hide",
    "save",
    "replay",
    "report",
    "coverage",
];

/// The flags of `explore` that a replay ignores.
const REPLAYED_FLAGS: &[&str] = &["symmetry", "search", "towards", "trace_all", "show", "hide"];

fn verify_rows(verify: &VerifyArguments) -> Vec<Row> {
    let any = verify.any.any_processors;
    let (sc, tso) =
        (verify.model == Some(MemoryModelChoice::Sc), verify.model == Some(MemoryModelChoice::Tso));
    let replay = verify.replay.is_some();
    let sc_only = "--model sc, without --any-processors";
    vec![
        needs(&["witness"], replay || sc && !any, sc_only),
        needs(
            &["every"],
            verify.checkpoint.is_some() || verify.resume.is_some(),
            "--checkpoint DIR or --resume DIR",
        ),
        needs(&["lemma"], replay || sc, "--model sc"),
        needs(&["exact"], replay || tso && !any, "--model tso, without --any-processors"),
        needs(
            &["load", "store", "commit", "assume"],
            replay || verify.model.is_some(),
            "--model: the invariants of a protocol do not depend on its memory events",
        ),
        excludes(REPLAYED_VERIFY_FLAGS, replay, "--replay"),
        excludes(&["report", "lanes", "messages"], verify.mutants, "--mutants"),
        excludes(PLANNED_FLAGS, any && verify.any.plan, "--plan"),
    ]
}

/// The flags of `verify` that a replay ignores.
const REPLAYED_VERIFY_FLAGS: &[&str] =
    &["pass_over", "assume", "symmetry", "junit", "annotate", "witness", "lemma"];

/// The flags of `verify --any-processors` that a plan does not depend on.
const PLANNED_FLAGS: &[&str] = &[
    "audit",
    "certificate",
    "emit_abstraction",
    "print_lemmas",
    "budget",
    "memory",
    "disk",
    "json",
    "report",
];

/// The flags of `run` and `hunt` about protocols.
const PROTOCOL_FLAGS: &[&str] =
    &["constants", "dialect", "loop_limit", "values", "weights", "load", "store", "commit"];

fn run_rows(run: &RunArguments) -> Vec<Row> {
    let walks = run.program.is_none();
    let walk = "a protocol without a program: --on PROTOCOL.m";
    let checks = run.check.is_some();
    let mut rows = target_rows(&run.on);
    rows.extend([
        needs(&["operations", "first", "order", "steps", "uniform", "deadlock"], walks, walk),
        needs(&["exhaustive"], matches!(run.on, TargetName::Machine(_)), "--on machine:MODEL"),
        excludes(&["traces", "seed"], run.exhaustive, "--exhaustive"),
        excludes(&["steps"], run.json.json, "--json"),
        excludes(&["format"], checks && !walks, "--check"),
        needs(
            &["format"],
            !checks || run.out.output.is_some(),
            "--output FILE if there is --check",
        ),
    ]);
    rows
}

/// The rows of commands that test a target.
fn target_rows(on: &TargetName) -> Vec<Row> {
    vec![
        needs(&["bug"], matches!(on, TargetName::Machine(_)), "--on machine:MODEL"),
        needs(&["timeout"], matches!(on, TargetName::Exec(_)), "--on exec:COMMAND"),
        needs(PROTOCOL_FLAGS, matches!(on, TargetName::Protocol(_)), "--on PROTOCOL.m"),
    ]
}

fn hunt_rows(hunt: &HuntArguments) -> Vec<Row> {
    let mut rows = target_rows(&hunt.on);
    rows.push(excludes(
        &["instructions", "places", "mix"],
        hunt.tuning.litmus == 100,
        "--litmus 100, because litmus tests are not random programs",
    ));
    rows
}

fn litmus_rows(litmus: &LitmusArguments) -> Vec<Row> {
    vec![excludes(&["budget", "memory"], litmus.to.is_some(), "--to")]
}

fn program_rows(program: &GenerateProgramArguments) -> Vec<Row> {
    const KNOBS: &[&str] = &[
        "seed",
        "threads",
        "instructions",
        "places",
        "per_line",
        "mix",
        "locality",
        "burst",
        "dependencies",
        "annotations",
    ];
    vec![
        excludes(KNOBS, program.cycle.is_some(), "--cycle, which defines the test"),
        excludes(KNOBS, program.cycles.is_some(), "--cycles, which defines the tests"),
    ]
}

#[cfg(test)]
mod tests {
    use clap::{FromArgMatches, Parser};

    use super::*;

    fn refused(line: &str) -> String {
        let words = line.split(' ').map(|word| word.replace('~', " "));
        let matches = Arguments::command().try_get_matches_from(words).unwrap();
        let arguments = Arguments::from_arg_matches(&matches).unwrap();
        refuse_without_effect(&arguments, &matches).err().map_or(String::new(), |no| no.0)
    }

    /// The rows of every command, whatever their state.
    fn tables() -> Vec<(Vec<Row>, &'static str)> {
        let parse = |line: &str| Arguments::try_parse_from(line.split(' ')).unwrap().command;
        let mut tables = Vec::new();
        for line in [
            "tribunal check t",
            "tribunal explore m",
            "tribunal verify m",
            "tribunal run --on host p",
            "tribunal hunt --on host -m tso",
            "tribunal litmus t",
            "tribunal generate program",
        ] {
            tables.push(match parse(line) {
                Command::Check(check) => (check_rows(&check), "check"),
                Command::Explore(explore) => (explore_rows(&explore), "explore"),
                Command::Verify(verify) => (verify_rows(&verify), "verify"),
                Command::Run(run) => (run_rows(&run), "run"),
                Command::Hunt(hunt) => (hunt_rows(&hunt), "hunt"),
                Command::Litmus(litmus) => (litmus_rows(&litmus), "litmus"),
                Command::Generate(GenerateCommand::Program(program)) => {
                    (program_rows(&program), "program")
                }
                other => unreachable!("{other:?}"),
            });
        }
        tables
    }

    #[test]
    fn every_flag_of_the_tables_is_declared() {
        let all = Arguments::command();
        for (rows, name) in tables() {
            let command = all
                .find_subcommand(name)
                .or_else(|| all.find_subcommand("generate")?.find_subcommand(name))
                .unwrap();
            for flag in rows.iter().flat_map(|row| row.flags) {
                let is_declared =
                    command.get_arguments().any(|argument| argument.get_id() == *flag);
                assert!(is_declared, "{name} has no flag {flag}");
            }
        }
    }

    #[test]
    fn flags_without_effect_are_refused_and_defaults_are_not() {
        for (line, flag) in [
            ("tribunal check --shared-only t.trace", "--shared-only"),
            ("tribunal check --xlen 32 t.jsonl", "--xlen"),
            ("tribunal shrink -m sc --keep-prefix t.trace", "--keep-prefix"),
            ("tribunal explain -m sc --discarded-amo store t.trace", "--discarded-amo"),
            ("tribunal convert --to text --skip-unknown t.trace", "--skip-unknown"),
            ("tribunal convert --to program --format text t.litmus", "--format"),
            ("tribunal convert --to x86 --xlen 32 p.program", "--xlen"),
            ("tribunal check -m rvwmo --engine sat t.trace", "--engine"),
            ("tribunal check -m my.cat --engine auto t.trace", "--engine"),
            ("tribunal check -m cc,ccv --engine sat t.trace", "--engine"),
            ("tribunal check --stats=full t.trace", "--stats"),
            ("tribunal explore --list-constants --json m.m", "--json"),
            ("tribunal explore --list-constants --const N=1 m.m", "--const"),
            ("tribunal explore --check-only --symmetry off m.m", "--symmetry"),
            ("tribunal explore --replay r.json --show x m.m", "--show"),
            ("tribunal explore --simulate 10 --symmetry full m.m", "--symmetry"),
            ("tribunal explore --towards true m.m", "--towards"),
            ("tribunal explore --every 1s m.m", "--every"),
            ("tribunal verify -m tso --witness none m.m", "--witness"),
            ("tribunal verify -m sc --exact m.m", "--exact"),
            ("tribunal verify --any-processors --load L m.m", "--load"),
            ("tribunal verify --replay r.json --junit x.xml m.m", "--junit"),
            ("tribunal verify -m sc --mutants --report r.html m.m", "--report"),
            ("tribunal verify --any-processors --plan --json m.m", "--json"),
            ("tribunal run --on host --timeout 5s p", "--timeout"),
            ("tribunal run --on machine:tso --dialect rumur p", "--dialect"),
            ("tribunal run --on machine:tso --load L p", "--load"),
            ("tribunal run --on machine:tso --exhaustive --seed 3 p", "--seed"),
            ("tribunal run --on machine:tso --check sc --format jsonl p", "--format"),
            ("tribunal run --on m.m --check sc --format jsonl", "--format"),
            ("tribunal run --on m.m --steps --json", "--steps"),
            ("tribunal hunt --on host -m tso --bug lost-store", "--bug"),
            ("tribunal hunt --on host -m tso --store S", "--store"),
            ("tribunal hunt --on host -m tso --litmus 100 --mix racy", "--mix"),
            ("tribunal litmus --to riscv --budget 1s t", "--budget"),
            ("tribunal generate program --cycles 4 --threads 2", "--threads"),
            ("tribunal generate program --cycle PodWR~Fre~PodWR~Fre --seed 1", "--seed"),
        ] {
            let sentence = refused(line);
            assert!(sentence.starts_with(&format!("{flag} has no effect ")), "{line}: {sentence}");
        }
        for line in [
            "tribunal check --shared-only run.log",
            "tribunal check --shared-only --format rvfi t.trace",
            "tribunal check -m cc,tso --engine sat t.trace",
            "tribunal check -m gradual --engine sat t.trace",
            "tribunal check --stats t.trace",
            "tribunal explore --replay r.json --deadlock stuck m.m",
            "tribunal explore --check-only --liveness true --json m.m",
            "tribunal explore --simulate 10 --seed 4 m.m",
            "tribunal verify --any-processors --deadlock stuck m.m",
            "tribunal verify --any-processors --plan --junit x.xml m.m",
            "tribunal run --on exec:sim --timeout 5s p",
            "tribunal run --on m.m --check sc --format jsonl -o bad.jsonl",
            "tribunal hunt --on m.m -m sc --loop-limit 9",
            "tribunal generate program --threads 2 --seed 1",
        ] {
            assert_eq!(refused(line), "", "{line}");
        }
    }
}
