//! What programs are run on: an arm for each kind of target.

use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use host::Host;
use stress::protocol::{Programs, Protocol};
use stress::{Bug, Exec, Exhaustive, Machine, Target, TargetError, TargetName};

use crate::campaign::{BoxedTarget, TargetSupply};
use crate::plan::Abilities;

/// The options of a target.
pub struct TargetOptions {
    /// A fault of a reference machine, with its rate.
    pub bug: Option<(Bug, f64)>,
    /// The time that a command has for a program and all its runs.
    pub timeout: Duration,
    /// The protocol, where the name is that of one.
    pub protocol: Option<Protocol>,
}

/// Why there is no such target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoTarget {
    /// It cannot be used.
    Target(TargetError),
    /// The protocol of this name cannot run programs, and why.
    Protocol(String, TargetError),
    /// Only reference machines support the option.
    NoMachine(&'static str),
}

impl fmt::Display for NoTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoTarget::Target(why) => why.fmt(f),
            NoTarget::Protocol(name, why) => {
                write!(f, "{name}: {why}; to record anyway, give the number of values: --values N")
            }
            NoTarget::NoMachine(sentence) => f.write_str(sentence),
        }
    }
}

impl std::error::Error for NoTarget {}

impl From<TargetError> for NoTarget {
    fn from(error: TargetError) -> Self {
        NoTarget::Target(error)
    }
}

/// The target of this name.
///
/// ```
/// use tribunal_hunt::{TargetOptions, target};
///
/// let making = TargetOptions { bug: None, timeout: std::time::Duration::from_secs(1), protocol: None };
/// assert!(target(&"machine:tso".parse()?, making, false).is_ok());
/// # Ok::<(), stress::UnknownTarget>(())
/// ```
pub fn target(
    name: &TargetName,
    making: TargetOptions,
    exhaustive: bool,
) -> Result<Box<dyn Target>, NoTarget> {
    Ok(match name {
        TargetName::Machine(model) if exhaustive => {
            Box::new(Exhaustive::new(*model, Exhaustive::DEFAULT_STATES))
        }
        &TargetName::Machine(model) => Box::new(machine(model, making.bug)?),
        TargetName::Exec(command) => Box::new(Exec::new(command).with_timeout(making.timeout)),
        TargetName::Protocol(file) => Box::new(programs(file, making.protocol)?),
        TargetName::Host => Box::new(Host::new()?),
    })
}

/// The target with this name for a campaign, and its abilities.
pub fn supply(
    name: &TargetName,
    making: TargetOptions,
) -> Result<(Abilities, TargetSupply), NoTarget> {
    Ok(match name {
        TargetName::Host => {
            let host = Host::new()?;
            let abilities = Abilities::host(host.cores().len());
            (abilities, TargetSupply::Shared(Mutex::new(Box::new(host))))
        }
        &TargetName::Machine(model) => {
            let machine = machine(model, making.bug)?;
            (Abilities::machine(4), each(move || machine))
        }
        TargetName::Exec(command) => {
            let exec = Exec::new(command).with_timeout(making.timeout);
            (Abilities::exec(), each(move || exec.clone()))
        }
        TargetName::Protocol(file) => {
            let programs = programs(file, making.protocol)?;
            let (processors, addresses) = programs.size();
            (Abilities::protocol(processors, addresses), each(move || programs.clone()))
        }
    })
}

fn machine(model: stress::MemoryModel, bug: Option<(Bug, f64)>) -> Result<Machine, TargetError> {
    match bug {
        Some((bug, rate)) => Machine::new(model).with_bug(bug, rate),
        None => Ok(Machine::new(model)),
    }
}

fn programs(file: &str, protocol: Option<Protocol>) -> Result<Programs, NoTarget> {
    let missing = || TargetError::Unavailable("the protocol was not prepared".to_owned());
    let programs = protocol.ok_or_else(missing).and_then(Programs::new);
    programs.map_err(|why| NoTarget::Protocol(file.to_owned(), why))
}

/// A target of its own for each worker.
fn each<T: Target + Send + 'static>(make: impl Fn() -> T + Sync + 'static) -> TargetSupply {
    TargetSupply::Each(Box::new(move || Ok(Box::new(make()) as BoxedTarget)))
}
