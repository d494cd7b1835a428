//! What a hunt runs its tests on: an arm for each kind of target.

use std::sync::Mutex;

use host::Host;
use hunt::{Abilities, BoxedTarget, Supply};
use stress::protocol::Programs;
use stress::{Exec, Machine, TargetName};

use super::super::explore::model;
use super::super::record::{Wanted, prepare};
use super::unavailable;
use crate::arguments::HuntArguments;
use crate::ending::{Ending, Failure};
use crate::output;

/// What is hunted.
pub(super) struct Quarry {
    pub(super) name: String,
    pub(super) abilities: Abilities,
    pub(super) supply: Supply,
}

/// Stores of a test, if nothing else is said: four threads of 32 instructions.
const STORES: u64 = 128;

/// What is to be hunted, or how the run ends without it.
pub(super) fn find(arguments: &HuntArguments) -> Result<Result<Quarry, Ending>, Failure> {
    let name = arguments.on.to_string();
    if arguments.bug.bug.is_some() && !matches!(arguments.on, TargetName::Machine(_)) {
        let sentence =
            "--bug puts a fault into a reference machine: use it with --on machine:MODEL";
        return Err(Failure::Usage(sentence.to_owned()));
    }
    let (abilities, supply) = match &arguments.on {
        TargetName::Host => {
            let host = Host::new().map_err(unavailable)?;
            let abilities = Abilities::host(host.cores().len());
            (abilities, Supply::Shared(Mutex::new(Box::new(host))))
        }
        &TargetName::Machine(model) => {
            let machine = match arguments.bug.bug {
                Some(bug) => Machine::new(model).with_bug(bug, arguments.bug.rate),
                None => Ok(Machine::new(model)),
            };
            let machine = machine.map_err(unavailable)?;
            (Abilities::machine(4), each(move || machine))
        }
        TargetName::Exec(command) => {
            let exec = Exec::new(command).with_timeout(arguments.timeout.timeout);
            (Abilities::exec(), each(move || exec.clone()))
        }
        TargetName::Protocol(path) => {
            let source = model::read_source(path)?;
            let wishes = arguments.wishes();
            let instructions = wishes.threads.zip(wishes.instructions);
            let stores = instructions.map_or(STORES, |(threads, each)| (threads * each) as u64);
            let wanted = Wanted {
                flags: &arguments.protocol,
                stores: stores.max(STORES),
                colour: output::colours(arguments.colour, &std::io::stderr()),
                quiet: arguments.quiet.quiet,
            };
            let protocol = match prepare(&source, &wanted)? {
                Ok(protocol) => protocol,
                Err(ending) => return Ok(Err(ending)),
            };
            let programs = Programs::new(protocol).map_err(|why| {
                Failure::Usage(format!("{path}: {why}; --values N insists on it"))
            })?;
            let (processors, addresses) = programs.size();
            (Abilities::protocol(processors, addresses), each(move || programs.clone()))
        }
    };
    Ok(Ok(Quarry { name, abilities, supply }))
}

/// A target of its own for each worker.
fn each<T: stress::Target + Send + 'static>(make: impl Fn() -> T + Sync + 'static) -> Supply {
    Supply::Each(Box::new(move || Ok(Box::new(make()) as BoxedTarget)))
}
