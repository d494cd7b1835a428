//! How fast is the native code of a model? `measure MODEL.m [NAME=VALUE ...]` explores it breadth
//! first with a plain hash set of packed states, then repeats each step on the states it found.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use murphi::check::{Options, load};
use murphi::instance;
use murphi::layout::Layout;
use murphi::machine::{Machine, Outcome, Successors};
use murphi::source::Source;
use tribunal_native::Program;

/// States that are kept for the repeated measurements.
const KEPT: usize = 2_000;
/// One of so many states is kept.
const SPREAD: usize = 13;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: measure MODEL.m [NAME=VALUE ...]")?;
    let constants = arguments.filter_map(|argument| {
        argument.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()))
    });
    let options = Options { constants: constants.collect(), ..Options::default() };

    let begin = Instant::now();
    let source = Source { name: file.clone(), text: std::fs::read_to_string(&file)? };
    let model = load(source, &options).map_err(|found| format!("{found:?}"))?.model;
    let layout = Layout::of(&model).map_err(|found| format!("{found:?}"))?;
    let loaded = Instant::now();
    let program = Program::compile(&model, &layout)?;
    println!("loaded in {:?}, compiled in {:?}", loaded - begin, loaded.elapsed());

    let mut machine = program.machine();
    let mut seen: HashSet<Box<[u8]>> = HashSet::new();
    let mut kept: Vec<u8> = Vec::new();
    let mut level: Vec<u8> = Vec::new();
    let mut batch = Successors::new(program.state_size());
    let mut packed = vec![0; program.packed_size()];
    let (mut fired, mut expanded) = (0u64, 0usize);
    let mut take = |batch: &Successors, next: &mut Vec<u8>, seen: &mut HashSet<Box<[u8]>>| {
        for (number, firing) in batch.firings.iter().enumerate() {
            assert_eq!(firing.outcome, Outcome::Done, "the model has a run-time error");
            program.pack(batch.state(number), &mut packed);
            if seen.insert(packed.clone().into()) {
                next.extend_from_slice(batch.state(number));
            }
        }
    };
    machine.start(&mut batch);
    take(&batch, &mut level, &mut seen);
    while !level.is_empty() {
        let mut next = Vec::new();
        for state in level.chunks_exact(program.state_size()) {
            batch.clear();
            machine.expand(state, &mut batch);
            fired += batch.firings.len() as u64;
            take(&batch, &mut next, &mut seen);
            expanded += 1;
            if expanded % SPREAD == 0 && kept.len() < KEPT * program.state_size() {
                kept.extend_from_slice(state);
            }
        }
        level = next;
    }
    println!("{} states, {fired} rules fired", seen.len());

    let instances: u64 =
        model.rules.iter().map(|rule| instance::count(&model, &rule.parameters).unwrap_or(0)).sum();
    let states: Vec<&[u8]> = kept.chunks_exact(program.state_size()).collect();
    let count = states.len() as u32;
    let mut fired = 0;
    let expanding = fastest(|| {
        fired = 0;
        for state in &states {
            batch.clear();
            machine.expand(state, &mut batch);
            fired += batch.firings.len() as u32;
        }
    });
    let checking = fastest(|| {
        for state in &states {
            machine.check(state);
        }
    });
    let mut packed = vec![0; program.packed_size()];
    let packing = fastest(|| {
        for state in &states {
            program.pack(state, &mut packed);
        }
    });
    let mut unpacked = vec![0; program.state_size()];
    let unpacking = fastest(|| {
        for _ in &states {
            program.unpack(&packed, &mut unpacked);
        }
    });
    println!(
        "state {} bytes, packed {}; per state: {instances} instances, {:.1} fired",
        program.state_size(),
        program.packed_size(),
        f64::from(fired) / f64::from(count),
    );
    println!(
        "expand {:?}: {:.2} ns per instance, {:.1} ns per firing",
        expanding / count,
        expanding.as_nanos() as f64 / f64::from(count) / instances as f64,
        expanding.as_nanos() as f64 / f64::from(fired),
    );
    let nanoseconds = |time: Duration| time.as_nanos() as f64 / f64::from(count);
    println!(
        "check {:.1} ns, pack {:.1} ns, unpack {:.1} ns",
        nanoseconds(checking),
        nanoseconds(packing),
        nanoseconds(unpacking),
    );
    Ok(())
}

/// The shortest of some repetitions.
fn fastest(mut work: impl FnMut()) -> Duration {
    let once = |()| {
        let begin = Instant::now();
        work();
        begin.elapsed()
    };
    [(); 200].map(once).into_iter().min().unwrap_or_default()
}
