//! Several processes that search together: those of a file, or those that the first one starts.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use cluster::{Children, Cluster, Failed, Identity, Invitation, Plan, Secret};

use super::remark;
use crate::arguments::ClusterFlags;
use crate::ending::Failure;
use crate::interrupt::Interrupt;

/// How long processes of a file may take to come, and those on this machine.
const PATIENCE: Duration = Duration::from_secs(300);
const PATIENCE_HERE: Duration = Duration::from_secs(30);

/// The processes, as this one sees them. Those it started end with it.
pub(super) struct Joined {
    pub(super) cluster: Cluster,
    _children: Option<Children>,
}

/// Waits for the other processes, if there are to be some. `identity` says, for a number of processes,
/// what all of them must have been asked.
pub(super) fn join(
    flags: &ClusterFlags,
    threads: usize,
    identity: impl Fn(usize) -> Identity,
    interrupt: &Interrupt,
) -> Result<Option<Joined>, Failure> {
    let (process, invitation, children) = match (flags.processes, flags.member, &flags.cluster) {
        (Some(processes), ..) => {
            let processes = usize::from(processes);
            let start = |process| child(process, processes);
            let (invitation, children) =
                cluster::start_children(processes, start).map_err(Failure::Usage)?;
            (0, Host::Here(invitation), Some(children))
        }
        (None, Some(member), _) => {
            let invitation = cluster::join_parent().map_err(Failure::Usage)?;
            (member, Host::Here(invitation), None)
        }
        (None, None, Some(file)) => {
            let (addresses, secret) = (hosts(file)?, secret(flags)?);
            let process = flags.process.unwrap_or_default();
            if process >= addresses.len() {
                let (file, last) = (file.display(), addresses.len() - 1);
                let sentence = format!("{file} has the processes 0 to {last}, not {process}");
                return Err(Failure::Usage(sentence));
            }
            (process, Host::There(addresses, secret), None)
        }
        (None, None, None) => return Ok(None),
    };
    let (addresses, secret, listener, patience) = match invitation {
        Host::Here(Invitation { addresses, secret, listener }) => {
            (addresses, secret, Some(listener), PATIENCE_HERE)
        }
        Host::There(addresses, secret) => (addresses, secret, None, PATIENCE),
    };
    let identity = identity(addresses.len());
    let plan = Plan { process, addresses, threads, secret, identity, listener, patience };
    let cluster = cluster::connect(plan, &remark, &interrupt.flag()).map_err(|why| match why {
        Failed::Refused(why) => Failure::Usage(why),
        Failed::Absent(why) => Failure::Budget(why),
        Failed::Interrupted => Failure::Budget("interrupted".to_owned()),
    })?;
    Ok(Some(Joined { cluster, _children: children }))
}

/// Where the processes are.
enum Host {
    /// On this machine.
    Here(Invitation),
    /// At these addresses, with this secret.
    There(Vec<String>, Secret),
}

/// The command that starts another process: this one, with the number of the process.
fn child(process: usize, processes: usize) -> std::io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    let mut arguments = crate::arguments::command_line().into_iter().skip(1);
    // The command comes first, then flags, then what was given.
    command.args(arguments.next());
    command.args([format!("--member={process}"), format!("--members={processes}")]);
    while let Some(argument) = arguments.next() {
        match &argument.to_string_lossy()[..] {
            "--processes" => {
                arguments.next();
            }
            flag if flag.starts_with("--processes=") => {}
            "--" => {
                command.arg(argument).args(arguments);
                break;
            }
            _ => {
                command.arg(argument);
            }
        }
    }
    Ok(command)
}

/// The processes of a file.
fn hosts(file: &Path) -> Result<Vec<String>, Failure> {
    let bytes = read(file)?;
    let shown = file.display();
    cluster::read_hosts(&String::from_utf8_lossy(&bytes)).map_err(|wrong| {
        Failure::Usage(match wrong.line {
            0 => format!("{shown}: {wrong}"),
            line => format!("{shown}:{line}: {wrong}"),
        })
    })
}

fn secret(flags: &ClusterFlags) -> Result<Secret, Failure> {
    let Some(file) = &flags.secret else {
        return Err(Failure::Usage("--cluster needs --secret FILE".to_owned()));
    };
    let bytes = read(file)?;
    Secret::of_file(&bytes).map_err(|why| Failure::Usage(format!("{}: {why}", file.display())))
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| Failure::File {
        name: file.display().to_string(),
        action: "read",
        error,
    })
}
