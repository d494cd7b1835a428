//! Connects the processes of a search: those of a file, or those that the first one starts.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use cluster::{Children, Cluster, Failed, Identity, Invitation, Loss, Plan, Secret};

use super::remark;
use crate::arguments::ClusterFlags;
use crate::ending::{Ending, Failure};
use crate::interrupt::Interrupt;

/// How long to wait for the processes of a file, and for those on this machine.
const PATIENCE: Duration = Duration::from_secs(300);
const PATIENCE_HERE: Duration = Duration::from_secs(30);

/// The connected processes, as seen from this one. Processes that it started end with it.
pub(super) struct ConnectedProcesses {
    pub(super) cluster: Cluster,
    _children: Option<Children>,
}

impl ConnectedProcesses {
    /// In the first process of those that it leads through several searches: ends the others as this one
    /// ends.
    pub(super) fn dismiss(self, ended: &Result<Ending, Failure>) {
        let ending = ended.as_ref().map_or_else(Failure::ending, |ending| *ending);
        explore::dismiss(&self.cluster, ending.code());
    }
}

/// How many searches processes make together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Searches {
    /// One.
    One,
    /// As many as the first process likes.
    Several,
}

/// Says which process is lost, if one is.
pub(super) fn name_loss(cluster: &Cluster) {
    if let Some(Loss { process, address, level }) = cluster.loss() {
        remark(&format!("process {process} ({address}) was lost at depth {level}"));
    }
}

/// Refuses a model that all processes would have to read from standard input.
pub(super) fn require_file(flags: &ClusterFlags, model: &str) -> Result<(), Failure> {
    match flags.is_asked_for() && model == "-" {
        true => Err(Failure::Usage(
            "several processes cannot all read the model from standard input; name a file"
                .to_owned(),
        )),
        false => Ok(()),
    }
}

/// Connects to the other processes, if the flags name any. `identity` gives, for a number of
/// processes, the question that all of them must have.
pub(super) fn join(
    flags: &ClusterFlags,
    (threads, searches): (usize, Searches),
    identity: impl Fn(usize) -> Identity,
    interrupt: &Interrupt,
) -> Result<Option<ConnectedProcesses>, Failure> {
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
    let is_led = searches == Searches::Several;
    let plan = Plan { process, addresses, threads, is_led, secret, identity, listener, patience };
    let cluster = cluster::connect(plan, &remark, &interrupt.flag()).map_err(|why| match why {
        Failed::Refused(why) => Failure::Usage(why),
        Failed::Absent(why) => Failure::Budget(why),
        Failed::Interrupted => Failure::Budget("interrupted".to_owned()),
    })?;
    Ok(Some(ConnectedProcesses { cluster, _children: children }))
}

/// The addresses of the processes.
enum Host {
    /// Processes on this machine.
    Here(Invitation),
    /// Processes at these addresses, with this secret.
    There(Vec<String>, Secret),
}

/// The command that starts another process: this program, with the number of the process.
fn child(process: usize, processes: usize) -> std::io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    let mut arguments = crate::arguments::command_line().into_iter().skip(1);
    // First the command, then the new flags, then the given ones.
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

/// Reads the file of processes.
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
