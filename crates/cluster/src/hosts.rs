//! The processes of a cluster as a file: `host:port`, one a line, in the order of their numbers.

use std::fmt;

/// The most processes of a cluster.
const MOST: usize = 1024;

/// What is wrong with a list of processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongHosts {
    /// The line, from 1 on; 0 is the file as a whole.
    pub line: usize,
    /// What is wrong with it, and what to do.
    pub why: String,
}

impl fmt::Display for WrongHosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for WrongHosts {}

/// Reads a list of processes. Empty lines and what follows `#` do not count.
pub fn read_hosts(text: &str) -> Result<Vec<String>, WrongHosts> {
    let mut hosts: Vec<String> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let host = line.split('#').next().unwrap_or_default().trim();
        if host.is_empty() {
            continue;
        }
        let wrong = |why| Err(WrongHosts { line: number + 1, why });
        let parts = host.rsplit_once(':');
        let is_port = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
        if !parts.is_some_and(|(name, port)| !name.is_empty() && is_port(port)) {
            return wrong(format!("`{host}` is not host:port, such as node1:7000"));
        }
        if hosts.iter().any(|other| other == host) {
            return wrong(format!(
                "`{host}` is listed twice; each process needs a port of its own"
            ));
        }
        hosts.push(host.to_owned());
    }
    match hosts.len() {
        0 => Err(WrongHosts {
            line: 0,
            why: "the file lists no process; write one line host:port for each".into(),
        }),
        1..=MOST => Ok(hosts),
        _ => Err(WrongHosts { line: 0, why: format!("the file lists more than {MOST} processes") }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_processes_has_a_port_for_each() {
        let hosts = read_hosts("# two\nnode1:7000\n\n [::1]:7001 # here\n");
        assert_eq!(hosts, Ok(vec!["node1:7000".to_owned(), "[::1]:7001".to_owned()]));
        let line = |text| read_hosts(text).unwrap_err().line;
        assert_eq!([line("a:1\nb"), line("a:0"), line("\n:5"), line("a:1\na:1")], [2, 1, 2, 2]);
        assert_eq!(line("# nobody\n"), 0);
    }
}
