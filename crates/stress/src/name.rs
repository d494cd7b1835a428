//! What targets are called on the command line.

use std::fmt;
use std::str::FromStr;

use crate::machine::{MemoryModel, NoMachine};

/// The name of a target.
///
/// ```
/// use tribunal_stress::{MemoryModel, TargetName};
///
/// assert_eq!("machine:tso".parse(), Ok(TargetName::Machine(MemoryModel::Tso)));
/// assert_eq!("protocols/msi.m".parse(), Ok(TargetName::Protocol("protocols/msi.m".into())));
/// assert_eq!("exec:./sim -q".parse(), Ok(TargetName::Exec("./sim -q".into())));
/// assert!("machine:arm".parse::<TargetName>().is_err());
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TargetName {
    /// `host`: the cores of this machine.
    Host,
    /// `machine:tso`: a reference machine.
    Machine(MemoryModel),
    /// `exec:COMMAND`: any program that reads a test program and prints traces.
    Exec(String),
    /// A path that ends in `.m`, or `-`: a Murphi protocol.
    Protocol(String),
}

impl fmt::Display for TargetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TargetName::Host => write!(f, "host"),
            TargetName::Machine(model) => write!(f, "machine:{model}"),
            TargetName::Exec(command) => write!(f, "exec:{command}"),
            TargetName::Protocol(path) => f.write_str(path),
        }
    }
}

/// Why a text is no target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UnknownTarget {
    /// It is none of the kinds.
    Kind(String),
    /// There is no such machine.
    Machine(NoMachine),
    /// There is no command.
    Command,
}

impl fmt::Display for UnknownTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnknownTarget::Kind(name) => {
                write!(f, "unknown target `{name}`; the targets are `host`")?;
                for model in MemoryModel::ALL {
                    write!(f, ", `machine:{model}`")?;
                }
                write!(f, ", `exec:COMMAND`, and Murphi protocols `PROTOCOL.m`")
            }
            UnknownTarget::Machine(error) => write!(f, "{error}"),
            UnknownTarget::Command => write!(f, "`exec:` needs a command: exec:./simulator"),
        }
    }
}

impl std::error::Error for UnknownTarget {}

impl FromStr for TargetName {
    type Err = UnknownTarget;

    fn from_str(name: &str) -> Result<Self, UnknownTarget> {
        if let Some(model) = name.strip_prefix("machine:") {
            return model.parse().map(TargetName::Machine).map_err(UnknownTarget::Machine);
        }
        if let Some(command) = name.strip_prefix("exec:") {
            return match command.trim() {
                "" => Err(UnknownTarget::Command),
                command => Ok(TargetName::Exec(command.to_owned())),
            };
        }
        match name {
            "host" => Ok(TargetName::Host),
            path if path == "-" || path.ends_with(".m") => {
                Ok(TargetName::Protocol(path.to_owned()))
            }
            _ => Err(UnknownTarget::Kind(name.to_owned())),
        }
    }
}
