//! The two halves side by side: what verification says about a protocol, and what its traces say.
//!
//! For each protocol (and, with `--mutants`, each of its mutants, or with `--every K` those whose
//! number is a multiple of K) the memory model is asked twice.
//! Where both are within reach, "verify says violated" and "some trace violates" must agree. What
//! came of it is in protocols/CROSSCHECK.md.
//!
//!     cargo run --release -p tribunal-stress --example crosscheck -- sc protocols/msi.m
//!     cargo run --release -p tribunal-stress --example crosscheck -- --mutants tso protocols/tso-cc.m

#![allow(clippy::unwrap_used)] // a tool for developers

#[path = "../tests/all/both_halves.rs"]
mod both_halves;

use std::collections::BTreeMap;
use std::time::Instant;

use both_halves::{Answers, Asked, Objection, Verified, ask};
use conform::EventNames;
use conform::mutate::mutants;
use models::Model;
use murphi::ast::Program;
use murphi::parse::parse;
use murphi::source::Source;
use tribunal_stress::protocol::Clients;

fn main() {
    let mut asked = Asked::default();
    let mut chosen = Chosen::default();
    let mut files = Vec::new();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number =
            || words.next().and_then(|word| word.parse::<u64>().ok()).expect("a number");
        match &*word {
            "sc" => asked.model = Model::Sc,
            "tso" => asked.model = Model::Tso,
            "--traces" => asked.traces = number(),
            "--more" => asked.more = number(),
            "--operations" => asked.operations = number() as usize,
            "--seed" => asked.seed = number(),
            "--alarms" => asked.alarms = number() as usize,
            "--memory" => asked.memory = number() << 20,
            "--weight" => {
                let word = words.next().expect("RULE=FACTOR");
                let (rule, factor) = word.rsplit_once('=').expect("RULE=FACTOR");
                asked.weights.push((rule.to_owned(), factor.parse().expect("a number")));
            }
            "--uniform" => asked.clients = Clients::Uniform,
            "--mutants" => chosen.every = 1,
            "--every" => chosen.every = number() as usize,
            "--mutant" => chosen.named.push(number() as usize),
            word if word.contains('=') => {
                let (name, value) = word.split_once('=').unwrap();
                asked.constants.push((name.to_owned(), value.to_owned()));
            }
            _ => files.push(word),
        }
    }
    println!("| protocol | model | verify | traces | agree |");
    println!("|---|---|---|---|---|");
    for file in files {
        let source = Source { name: file.clone(), text: std::fs::read_to_string(&file).unwrap() };
        let name = file.rsplit('/').next().unwrap_or(&file).trim_end_matches(".m").to_owned();
        let program = parse(&source).0.expect("it is a model");
        if chosen.named.is_empty() {
            row(&name, &program, &asked, true);
        }
        if chosen.every > 0 || !chosen.named.is_empty() {
            of_mutants(&name, &source, &program, &asked, &chosen);
        }
    }
}

/// Which mutants are asked.
#[derive(Default)]
struct Chosen {
    /// These only, if there are any.
    named: Vec<usize>,
    /// Else those whose number is a multiple of this; none if it is 0.
    every: usize,
}

impl Chosen {
    fn has(&self, number: usize) -> bool {
        match self.named.is_empty() {
            true => number.is_multiple_of(self.every),
            false => self.named.contains(&number),
        }
    }
}

/// Asks each mutant; prints where the two do not agree, and how many do.
fn of_mutants(name: &str, source: &Source, program: &Program, asked: &Asked, chosen: &Chosen) {
    let mut counts: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for mutant in mutants(program, &EventNames::default()) {
        if !chosen.has(mutant.number) {
            continue;
        }
        let name = format!("{name} {}: {}", mutant.number, mutant.describe(source));
        let began = Instant::now();
        let (verified, agree) = row(&name, &mutant.program, asked, !chosen.named.is_empty());
        eprintln!("{:6.1} s {name}: {verified}, {agree}", began.elapsed().as_secs_f64());
        *counts.entry((verified, agree)).or_default() += 1;
    }
    for ((verified, agree), count) in counts {
        println!("{name}: {count} mutants: verify says {verified}, {agree}");
    }
}

/// One protocol, asked both ways; printed if it is to be, or if the two do not agree.
fn row(name: &str, program: &Program, asked: &Asked, show: bool) -> (&'static str, &'static str) {
    let Some(answers) = ask(name, program, asked) else {
        return ("nothing: it is no protocol", "not asked");
    };
    let verified = match answers.verified {
        Verified::Holds => "verified",
        Verified::Violated => "violation",
        Verified::FalseAlarm => "false alarm",
        Verified::Broken => "nothing: it cannot be asked",
        Verified::Undecided => "undecided",
    };
    let agree = match answers.agree() {
        Some(true) if answers.traces.retraced => "both agree, along its run only",
        Some(true) => "both agree",
        Some(false) if answers.traces.violates => "NOT VERIFIED",
        Some(false) => "NOT CAUGHT",
        None if answers.traces.violates => "a trace violates the model",
        None => "no trace violates the model",
    };
    if show || answers.agree() == Some(false) || answers.traces.retraced {
        println!("| {name} | {} | {verified} | {} | {agree} |", asked.model, traces(&answers));
    }
    if let Some(Objection { steps, trace }) = answers.objection.filter(|_| show) {
        eprintln!("verification objects to {name} because of");
        for step in steps {
            let parameters =
                step.parameters.iter().map(|(name, value)| format!("{name} = {value}"));
            eprintln!("  rule {}  {}", step.rule, parameters.collect::<Vec<_>>().join(", "));
        }
        eprintln!("{trace}");
    }
    (verified, agree)
}

fn traces(answers: &Answers) -> String {
    let both_halves::Traces { count, violates, short, .. } = &answers.traces;
    let short = if *short > 0 { format!(" ({short} ended early)") } else { String::new() };
    match violates {
        true => format!("number {count} violates{short}"),
        false => format!("none of {count}{short}"),
    }
}
