//! Litmus tests on the host: their instructions as they are, on registers of their own.
//!
//! Each location is a word, alone in its cache line. Accesses go to locations that are known when
//! the code is assembled: those that an instruction names, or that a register holds from beginning
//! to end. Addresses as values are the numbers that the models use for them, so that what a run
//! leaves in registers and memory can be compared with what a model allows as it is.

use std::ops::ControlFlow;

use chance::Rng;
use litmus::{
    Constant, Instruction, Litmus, LocationId, Memory, Operation, Place, Register, Thread, Type,
    location_kinds, observed_kinds,
};
use stress::{Runs, TargetError};

use crate::arch;
use crate::host::{DISTANCES, Host, MOST};
use crate::job::{self, Job, Word};
use crate::workers::LINE;

/// The results of runs of a litmus test.
#[derive(Debug)]
pub enum Observation<'a> {
    /// So many runs ended in this state: a value for each of [`Litmus::observed`].
    State(&'a [u64], u64),
    /// This number of runs was abandoned, because a loop did not end in time.
    GivenUp(u64),
}

/// The information that an assembler needs about a thread.
pub(crate) struct ThreadCode<'a> {
    pub(crate) thread: &'a Thread,
    /// Registers whose values at the end are results.
    pub(crate) observed: Vec<Register>,
    /// Where in the instance an access goes.
    pub(crate) offset: &'a dyn Fn(Memory) -> Result<usize, String>,
    /// Bytes of the instance that it may access.
    pub(crate) reach: usize,
}

impl Host {
    /// Runs a litmus test and hands over results as they arrive, until the number of runs is
    /// reached, the receiver breaks, or `stop` is set. If there are more threads than cores,
    /// threads share cores.
    pub fn litmus(
        &mut self,
        test: &Litmus,
        runs: Runs<'_>,
        receive: &mut dyn FnMut(Observation<'_>) -> ControlFlow<()>,
    ) -> Result<(), TargetError> {
        check(test).map_err(TargetError::Unsuitable)?;
        let observed = test.observed();
        let kinds = observed_kinds(test);
        let indices = indices(test, &observed);
        let mut state = vec![0; observed.len()];
        self.rounds(runs, &|random| prepare(test, &observed, random), &mut |tally| {
            if tally.given_up > 0 {
                receive(Observation::GivenUp(tally.given_up))?;
            }
            tally.sorted().into_iter().try_for_each(|(values, times)| {
                for ((shown, &index), kind) in state.iter_mut().zip(&indices).zip(&kinds) {
                    *shown = kind.size.cut(values[index]);
                }
                receive(Observation::State(&state, times))
            })
        })
    }
}

/// Checks that the test has the same meaning on this machine as in the models.
fn check(test: &Litmus) -> Result<(), String> {
    if test.threads.is_empty() {
        return Err("the test has no threads".to_owned());
    }
    if let Some(array) = test.locations.iter().find_map(|location| location.array.as_ref()) {
        return Err(format!("`{}` is an array; tests with arrays are not run", array.name));
    }
    let kinds = location_kinds(test);
    for (number, thread) in test.threads.iter().enumerate() {
        let in_thread = |why: String| format!("thread {number}: {why}");
        for instruction in thread.x86() {
            for memory in instruction.memory() {
                let id = resolve(thread, memory).map_err(in_thread)?;
                same_width(test, &kinds, id, instruction).map_err(in_thread)?;
            }
        }
        let shifts = thread.x86().iter().any(is_shift);
        let jumps = thread
            .x86()
            .iter()
            .any(|one| matches!(one.operation, Operation::Jump { when: Some(_), .. }));
        if shifts && jumps {
            return Err(in_thread(
                "the test jumps after a shift, and the flags of a shift are not modelled".into(),
            ));
        }
    }
    Ok(())
}

fn is_shift(instruction: &Instruction) -> bool {
    use litmus::Binary::{ShiftLeft, ShiftRight, ShiftRightSigned};
    matches!(
        instruction.operation,
        Operation::Binary { operator: ShiftLeft | ShiftRight | ShiftRightSigned, .. }
    )
}

/// Models take every access for one of the whole location; the processor does not.
fn same_width(
    test: &Litmus,
    kinds: &[Type],
    id: LocationId,
    instruction: &Instruction,
) -> Result<(), String> {
    let (size, kind) = (instruction.size, kinds[id.0 as usize]);
    if size == kind.size {
        return Ok(());
    }
    Err(format!(
        "the test accesses {} bits of `{}`, which has {}; models treat that as an access of the \
         whole location, this machine does not",
        size.bits(),
        test.location(id),
        kind.size.bits()
    ))
}

/// The location that an access goes to, if that is known beforehand.
fn resolve(thread: &Thread, memory: Memory) -> Result<LocationId, String> {
    let unknown = || {
        "the test computes an address; this machine runs only accesses to named locations, or \
         through registers that hold one address throughout"
            .to_owned()
    };
    match memory {
        Memory { location: Some(id), base: None, index: None, displacement: 0 } => Ok(id),
        Memory { location: None, base: Some(base), index: None, displacement: 0 } => {
            let initial = thread.registers.iter().rev().find(|one| one.register == base);
            let changed = thread.x86().iter().any(|one| one.written().contains(&Some(base)));
            match initial.map(|initial| initial.value) {
                Some(Constant::Address(id)) if !changed => Ok(id),
                _ => Err(unknown()),
            }
        }
        _ => Err(unknown()),
    }
}

/// Which value of a run each observed place is.
fn indices(test: &Litmus, observed: &[Place]) -> Vec<usize> {
    let registers = |number: usize| observed_registers(observed, number).count();
    let width = |number: usize| registers(number) + usize::from(has_loops(&test.threads[number]));
    let before = |number: usize| (0..number).map(width).sum::<usize>();
    let index = |place: &Place| match *place {
        Place::Register(number, register) => {
            let number = number as usize;
            let at = observed_registers(observed, number).position(|one| one == register);
            before(number) + at.expect("it is an observed register")
        }
        Place::Memory(id) => before(test.threads.len()) + id.0 as usize,
    };
    observed.iter().map(index).collect()
}

fn observed_registers(observed: &[Place], of: usize) -> impl Iterator<Item = Register> + '_ {
    observed.iter().filter_map(move |place| match *place {
        Place::Register(thread, register) if thread as usize == of => Some(register),
        _ => None,
    })
}

/// Whether a thread may jump back.
fn has_loops(thread: &Thread) -> bool {
    let back = |(at, one): (usize, &Instruction)| matches!(one.operation, Operation::Jump { target, .. } if target as usize <= at);
    thread.x86().iter().enumerate().any(back)
}

/// Assembles a test for one way of laying out its memory.
fn prepare(test: &Litmus, observed: &[Place], random: &mut Rng) -> Result<Job, TargetError> {
    let distance = DISTANCES[random.below(DISTANCES.len())];
    let instance = (test.locations.len() * distance).next_multiple_of(LINE).max(LINE);
    if instance > MOST {
        let why = format!("its locations need {instance} bytes; the limit is {MOST}");
        return Err(TargetError::Unsuitable(why));
    }
    let mut seats: Vec<usize> = (0..test.locations.len()).collect();
    random.shuffle(&mut seats);
    let offset = |id: LocationId| seats[id.0 as usize] * distance;
    let assemble = |(number, thread): (usize, &Thread)| {
        let course = ThreadCode {
            thread,
            observed: observed_registers(observed, number).collect(),
            offset: &|memory| resolve(thread, memory).map(offset),
            reach: instance,
        };
        let code = arch::assemble_litmus(&course);
        code.map_err(|why| TargetError::Unsuitable(format!("thread {number}: {why}")))
    };
    let threads = test.threads.iter().enumerate().map(assemble).collect::<Result<Vec<_>, _>>()?;
    let kinds = location_kinds(test);
    let word = |(id, location): (usize, &litmus::Location)| Word {
        offset: offset(LocationId(id as u32)),
        initial: kinds[id].size.cut(location.initial.bits()),
    };
    let words: Vec<Word> = test.locations.iter().enumerate().map(word).collect();
    Ok(Job { threads, lines: job::lines(&words), words, instance, based: false })
}
