//! Does a shared memory keep its consistency model?
//!
//! An execution is a set of events, a memory model says which orders between them must hold, and
//! the question is whether those orders can all hold at once. A trace gives one execution, a
//! protocol gives all of them. This page has a job a section; everything that the command does is
//! a call of one of these crates, which are re-exported here.
//!
//! # Judge a trace, certify, shrink, explain
//!
//! ```
//! use tribunal::{Budget, Certificate, Engine, Evidence, Model, Outcome, parse_text};
//!
//! // Two threads each write one variable and read the other. That both read 0 is impossible in
//! // any interleaving, but every machine with store buffers does it.
//! let history = parse_text(
//!     "0: M[x] := 1
//!      0: M[y] == 0
//!      1: M[y] := 1
//!      1: M[x] == 0
//!      1: M[z] := 5",
//! )?;
//! let budget = Budget::unlimited();
//! let tso = tribunal::judge(&history, Model::Tso, Engine::Auto, &budget);
//! assert!(matches!(tso.outcome, Outcome::Holds(_)));
//!
//! let sc = tribunal::judge(&history, Model::Sc, Engine::Auto, &budget);
//! let Outcome::Broken(proof) = sc.outcome else { panic!("a cycle exists") };
//!
//! // Nobody has to trust the engines: a small kernel checks the proof.
//! let evidence = Evidence::Violation(proof.clone());
//! let certificate = Certificate { trace: 1, model: Model::Sc, evidence };
//! tribunal::certify(&history, &certificate)?;
//!
//! // The few events that matter, and why they cannot be.
//! let options = tribunal::ShrinkOptions::default();
//! let part = tribunal::shrink(&history, Model::Sc, &proof, options, &budget);
//! assert_eq!(part.history.len(), 4);
//! let text = tribunal::report::explain::text(&part.history, Model::Sc, &part.proof, false);
//! assert!(text.contains("There is a cycle"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`TraceReader`] reads files of many traces, in every format of the command.
//!
//! # Judge a trace while it grows
//!
//! ```
//! use tribunal::{Limits, Model, Session, Status};
//!
//! let mut session = Session::new(Model::Tso, Limits::default());
//! session.store(0, 0x10, 1);
//! session.store(0, 0x18, 1);
//! session.load(1, 0x18, 1);
//! assert_eq!(session.status(), Status::Explained);
//! session.load(1, 0x10, 0);
//! assert_eq!(session.ask(), Status::Violation);
//! let violation = session.violation().expect("the first store came first");
//! assert_eq!(violation.events, 4);
//! ```
//!
//! # Explore a protocol, replay a counterexample
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use tribunal::evidence::Verdict;
//! use tribunal::explore::{Deadlock, Loaded, Question, read_recorded};
//! use tribunal::Source;
//!
//! // A lock that two processes take by looking first and locking later.
//! let text = "
//!     type Process: scalarset(2);
//!     var locked: boolean; looked, inside: array [Process] of boolean;
//!     startstate begin
//!       locked := false;
//!       for p: Process do looked[p] := false; inside[p] := false; end;
//!     end;
//!     ruleset p: Process do
//!       rule \"look\" !locked ==> begin looked[p] := true; end;
//!       rule \"lock\" looked[p] ==> begin
//!         looked[p] := false; locked := true; inside[p] := true;
//!       end;
//!       rule \"unlock\" inside[p] ==> begin locked := false; inside[p] := false; end;
//!     end;
//!     invariant \"mutual exclusion\"
//!       forall p: Process do forall q: Process do p = q | !inside[p] | !inside[q] end end;";
//! let source = Source { name: "lock.m".to_owned(), text: text.to_owned() };
//! let model = Loaded::new(&source, &Default::default()).expect("the model is well-formed");
//! let report = model.explore(&Question::default(), &mut |_| (), &AtomicBool::new(false))?;
//! let Verdict::Broken(finding) = &report.verdict else { panic!("both get in") };
//! assert_eq!(finding.broken.property, "mutual exclusion");
//!
//! // The report as JSON can be kept; the reference interpreter runs its counterexample again.
//! let kept = serde_json::to_string(&report)?;
//! let recorded = read_recorded(&kept)?;
//! assert_eq!(recorded.steps.len(), 4);
//! model.replay(&recorded, Deadlock::Stuttering).expect("each step does what is recorded");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Verify a protocol against a memory model, for any number of processors, and with mutants
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use tribunal::Source;
//! use tribunal::conform::{self, MemoryModel};
//! use tribunal::evidence::Verdict;
//! use tribunal::parametric::{self, End};
//!
//! // A protocol calls Load and Store where its processors do. This one is a plain memory.
//! let text = "
//!     const Processors: 2;
//!     type Processor: scalarset(Processors); Address: scalarset(1); Value: scalarset(2);
//!     var memory: array [Address] of Value;
//!     procedure Load(p: Processor; a: Address; v: Value); begin end;
//!     procedure Store(p: Processor; a: Address; v: Value); begin end;
//!     ruleset v: Value do
//!       startstate begin for a: Address do memory[a] := v; end; end;
//!     end;
//!     ruleset p: Processor; a: Address do
//!       rule \"load\" begin Load(p, a, memory[a]); end;
//!       ruleset v: Value do
//!         rule \"store\" begin memory[a] := v; Store(p, a, v); end;
//!       end;
//!     end;";
//! let source = Source { name: "memory.m".to_owned(), text: text.to_owned() };
//! let never = AtomicBool::new(false);
//! let options = conform::Options::default();
//! let found = conform::verify(&source, &options, &mut |_, _| (), &never);
//! let found = found.expect("it marks its loads and stores");
//! assert!(matches!(found.verdict, Verdict::Holds(())));
//!
//! // For any number of processors: a plan that can be printed, then its steps.
//! let question = parametric::Question {
//!     source: &source,
//!     options: &options,
//!     memory_model: Some(MemoryModel::Sc),
//!     processors: None,
//!     concrete: None,
//!     named: true,
//!     lemmas: None,
//! };
//! let plan = parametric::plan(&question).expect("it can be abstracted");
//! let shown = parametric::carry_out(&question, &plan, &mut |_, _| (), &never);
//! let shown = shown.expect("it can be searched");
//! assert!(matches!(shown.end, End::Claims));
//! assert!(shown.shown.iter().all(|s| matches!(s.found.verdict, Verdict::Holds(()))));
//!
//! // Would a mistake be noticed? Small changes of the protocol, and what became of each.
//! let trial = conform::mutate::run(&source, &Default::default(), &mut |_| (), &never);
//! let totals = trial.expect("it can be changed").totals();
//! assert!(totals.mutants > 0 && totals.killed > 0);
//! ```
//!
//! [`recheck`] checks a proof for any number of processors again.
//!
//! # Enumerate a litmus test
//!
//! ```
//! use tribunal::litmus::{Limits, outcomes, parse};
//! use tribunal::Model;
//!
//! let test = parse(
//!     r"X86_64 SB
//!     { }
//!      P0            | P1            ;
//!      movl $1,(x)   | movl $1,(y)   ;
//!      movl (y),%eax | movl (x),%eax ;
//!     exists (0:rax=0 /\ 1:rax=0)",
//! )
//! .expect("the test is well-formed");
//! let states = |model| outcomes(&test, model, &Limits::NONE).map(|found| found.count());
//! assert!(matches!((states(Model::Sc), states(Model::Tso)), (Ok(3), Ok(4))));
//! ```
//!
//! # Run test programs, hunt
//!
//! ```
//! use std::ops::ControlFlow;
//! use std::sync::atomic::AtomicBool;
//! use tribunal::hunt::{
//!     Abilities, Campaign, CampaignEvent, KnownShapes, Plan, TargetSupply, TestOptions,
//! };
//! use tribunal::stress::{Machine, MemoryModel, RunResult, Runs, Target, parse_programs};
//! use tribunal::Model;
//!
//! // A test program on a reference machine; `tribunal::host::Host` is another target.
//! let text = "program SB
//!      0: M[x] := 1
//!      0: M[y] ?
//!      1: M[y] := 1
//!      1: M[x] ?
//!      end";
//! let tests = parse_programs("SB", text)?;
//! let stop = AtomicBool::new(false);
//! let mut outcomes = 0;
//! let runs = Runs { count: 1000, seed: 1, stop: &stop };
//! Machine::new(MemoryModel::Tso).run(&tests[0].program, runs, &mut |ran| {
//!     outcomes += usize::from(matches!(ran, RunResult::Outcome(..)));
//!     ControlFlow::Continue(())
//! })?;
//! assert!(outcomes > 1);
//!
//! // Tests that are generated, run, judged and shrunk, until somebody says stop.
//! let campaign = Campaign {
//!     model: Model::Sc.into(),
//!     target: "machine:tso".into(),
//!     plan: Plan::new(TestOptions::default(), Abilities::machine(2))?,
//!     first: 0,
//!     until: Some(20),
//!     jobs: 2,
//! };
//! let supply = TargetSupply::Each(Box::new(|| Ok(Box::new(Machine::new(MemoryModel::Tso)))));
//! let mut names = Vec::new();
//! campaign.run(&supply, &KnownShapes::default(), &mut |event| {
//!     if let CampaignEvent::TestOutcome(outcome) = event {
//!         names.extend(outcome.findings.into_iter().map(|finding| finding.name));
//!     }
//!     ControlFlow::Continue(())
//! })?;
//! assert!(names.iter().any(|name| name == "SB"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/` has three programs that use this library: a test bench that judges as it simulates, a nightly
//! check of a protocol, and a target of one's own for a hunt.

pub use ::{
    certify, chance, conform, diagnostics, evidence, explore, history, host, hunt, judge, litmus,
    models, murphi, parametric, recheck, refine, report, stress,
};

pub use ::certify::{Rejection, certify};
pub use ::evidence::{Certificate, Evidence, Proof, Witness};
pub use ::history::{Builder, History, ReadOptions, TraceReader, parse_text};
pub use ::judge::{
    Budget, Engine, Finished, Judgement, Limits, Outcome, Session, ShrinkOptions, Shrunk, Status,
    Violation, judge, shrink,
};
pub use ::models::Model;
pub use ::murphi::source::Source;
