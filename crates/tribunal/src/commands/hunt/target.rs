//! What a hunt runs its tests on: an arm for each kind of target.

use std::sync::Mutex;

use host::Host;
use hunt::{Abilities, BoxedTarget, Supply};
use stress::{Exec, Machine, TargetName};

use super::unavailable;
use crate::arguments::HuntArguments;
use crate::ending::Failure;

/// What is hunted.
pub(super) struct Quarry {
    pub(super) name: String,
    pub(super) abilities: Abilities,
    pub(super) supply: Supply,
}

pub(super) fn find(arguments: &HuntArguments) -> Result<Quarry, Failure> {
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
            let exec = Exec::new(command).with_timeout(arguments.timeout);
            (Abilities::exec(), each(move || exec.clone()))
        }
        TargetName::Protocol(path) => {
            return Err(Failure::Usage(format!(
                "{path}: protocols cannot be hunted yet; walk it with `tribunal run --on {path}`"
            )));
        }
    };
    Ok(Quarry { name, abilities, supply })
}

/// A target of its own for each worker.
fn each<T: stress::Target + Send + 'static>(make: impl Fn() -> T + Sync + 'static) -> Supply {
    Supply::Each(Box::new(move || Ok(Box::new(make()) as BoxedTarget)))
}
