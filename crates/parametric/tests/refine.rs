//! The loop on the protocols we ship.

use std::sync::atomic::AtomicBool;

use murphi::parse::parse;
use murphi::source::Source;
use tribunal_parametric::refine::{Options, Verdict, verify};
use tribunal_parametric::prepare;

#[test]
fn try_one() {
    let Ok(path) = std::env::var("PROTOCOL") else { return };
    let text = std::fs::read_to_string(&path).unwrap();
    let mut source = Source { name: path.clone(), text };
    if let Ok(model) = std::env::var("MODEL") {
        let options = conform::Options {
            memory_model: if model.starts_with("sc") { conform::MemoryModel::Sc } else { conform::MemoryModel::Tso },
            ..Default::default()
        };
        let composed = conform::compositions(&source, &options).unwrap();
        let k: usize = std::env::var("K").map_or(0, |k| k.parse().unwrap());
        eprintln!("{} of {}: {}", k, composed.len(), composed[k].0);
        source.text = composed[k].1.clone();
    }
    let (program, _) = parse(&source);
    let prepared = prepare(&program.unwrap(), None).unwrap_or_else(|d| {
        panic!("{}", d.iter().map(|d| d.render(&source, false)).collect::<String>())
    });
    let mut last = String::new();
    let found = verify(
        &prepared,
        &Options { name: path, concrete: std::env::var("C").map_or(2, |c| c.parse().unwrap()), ..Options::default() },
        &mut |task, _| {
            if task != last {
                eprintln!("{task}");
                last = task.to_owned();
            }
        },
        &AtomicBool::new(false),
    );
    let found = found.unwrap_or_else(|f| match f {
        tribunal_parametric::refine::Failure::Unsuitable(d) => panic!("{}", d.iter().map(|d| d.render(&source, false)).collect::<String>()),
        tribunal_parametric::refine::Failure::Unrunnable(tribunal_parametric::refine::Unrunnable::Refused(source, d)) => panic!("{}", d.iter().map(|d| d.render(&source, false)).collect::<String>()),
        f => panic!("{f:?}") });
    for small in &found.small {
        eprintln!("{small:?}");
    }
    for kept in &found.lemmas {
        println!("{}\n   -- {:?}", kept.text, kept.called_for);
    }
    match &found.verdict {
        Verdict::Verified => println!("VERIFIED {:?}", found.exploration.as_ref().map(|e| (e.states, e.seconds))),
        Verdict::Violation { processors, .. } => println!("VIOLATION with {processors}"),
        Verdict::Missing(stuck) => {
            println!("MISSING {:?} {:?}", stuck.claim, stuck.rule);
            let i = found.interpreter.as_ref().unwrap();
            let d = |s: &[u8]| murphi::value::State::decode(i.model(), i.layout(), s).unwrap();
            for (n, step) in stuck.run.iter().enumerate() {
                let st = d(&step.state);
                if n > 0 {
                    let b = i.bindings(&d(&stuck.run[n - 1].state), step.rule as usize, step.instance);
                    println!("{} {b:?}", i.model().rules[step.rule as usize].name);
                }
                for (v, g) in st.0.iter().zip(&i.model().globals) {
                    print!("   {}={}", g.name, v.render(i.model(), g.ty));
                }
                println!();
            }
            if let Some((rule, inst)) = stuck.failed { println!("fails {} {inst}", i.model().rules[rule as usize].name); }
        }
        Verdict::Undecided(reason) => println!("UNDECIDED {reason:?}"),
    }
    if let Some(a) = &found.abstraction {
        std::fs::write("/tmp/scratch-loop/abs.m", murphi::print::print(&a.program)).unwrap();
    }
    println!("rounds {} minimal {}", found.rounds, found.minimal);
}
