//! How two processes come to trust each other: each proves that it knows the secret, then they
//! compare what they were asked.
//!
//! The one that connects says who it is, with a random number. The other answers with a random number
//! of its own and a code (HMAC) of both in the role of the one that accepts; the first answers with
//! the code in its own role. A code is good for one connection, and neither side learns the secret
//! from it. Nothing is read before that but a few bytes of a fixed size, so whoever does not know the
//! secret can cost no more than a connection for a few seconds. What follows is neither encrypted
//! nor signed: the network between the processes has to be one of your own.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::secret::{Secret, random, same};

/// What is asked of each process, as names and values; it has to be the same for all.
pub type Identity = Vec<(String, String)>;

/// How long the other side may think before it is given up.
const PATIENCE: Duration = Duration::from_secs(10);
/// How every connection begins.
const GREETING: &[u8; 19] = b"tribunal cluster 1\n";
/// Bytes of an identity or a refusal, at most.
const LONGEST: usize = 1 << 20;

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// States and counts.
    Data,
    /// Noticing that a process is lost.
    Watch,
}

/// Who connects to whom, and for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) purpose: Purpose,
}

/// Why a connection is not one between processes of this cluster.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The connection failed.
    Broken(io::Error),
    /// It is something else that speaks there.
    Stranger,
    /// It does not know the secret.
    Secret,
    /// It closed the connection when it was to prove that it knows the secret.
    Unproved,
    /// It was asked something else.
    Other(String),
    /// The other side refused, for this reason.
    ByPeer(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Broken(error) => write!(f, "the connection failed: {error}"),
            Refused::Stranger => f.write_str("the other side is not a process of a cluster"),
            Refused::Secret => f.write_str("the other process has another secret (--secret)"),
            Refused::Unproved => {
                f.write_str("the other process did not prove that it knows the secret")
            }
            Refused::Other(why) | Refused::ByPeer(why) => f.write_str(why),
        }
    }
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Refused::Broken(error)
    }
}

/// Calls a process that listens.
pub(crate) fn call(
    stream: &mut TcpStream,
    call: Call,
    secret: &Secret,
    identity: &Identity,
) -> Result<(), Refused> {
    begin(stream)?;
    let own = random().map_err(|why| Refused::Broken(io::Error::other(why)))?;
    let hello = [&GREETING[..], &header(call), &own].concat();
    stream.write_all(&hello)?;
    if &read_array::<19>(stream)? != GREETING {
        return Err(Refused::Stranger);
    }
    let nonce: [u8; 32] = read_array(stream)?;
    let code = read_array(stream)?;
    if !same(&code, &secret.vouch("accept", &[&hello, &nonce])) {
        return Err(Refused::Secret);
    }
    stream.write_all(&secret.vouch("connect", &[&hello, &nonce]))?;
    let session = Session { secret, context: [&hello[..], &nonce].concat() };
    let theirs = session.read(stream, "identity of who accepts")?;
    session.write(stream, "identity of who connects", &shown(identity))?;
    session.conclude(stream, &theirs, identity, ("answer of who connects", "answer of who accepts"))
}

/// Answers a call, and says whose it is. `is_expected` says whether somebody may call, or why not.
pub(crate) fn answer(
    stream: &mut TcpStream,
    secret: &Secret,
    identity: &Identity,
    is_expected: impl Fn(Call) -> Result<(), String>,
) -> Result<Call, Refused> {
    begin(stream)?;
    let greeting: [u8; 19] = read_array(stream).map_err(|_| Refused::Stranger)?;
    if &greeting != GREETING {
        return Err(Refused::Stranger);
    }
    let header: [u8; 9] = read_array(stream).map_err(|_| Refused::Stranger)?;
    let theirs: [u8; 32] = read_array(stream).map_err(|_| Refused::Stranger)?;
    let call = read_header(header).ok_or(Refused::Stranger)?;
    let hello = [&greeting[..], &header, &theirs].concat();
    let nonce = random().map_err(|why| Refused::Broken(io::Error::other(why)))?;
    let code = secret.vouch("accept", &[&hello, &nonce]);
    stream.write_all(&[&GREETING[..], &nonce, &code].concat())?;
    let code = read_array(stream).map_err(|_| Refused::Unproved)?;
    if !same(&code, &secret.vouch("connect", &[&hello, &nonce])) {
        return Err(Refused::Secret);
    }
    let session = Session { secret, context: [&hello[..], &nonce].concat() };
    session.write(stream, "identity of who accepts", &shown(identity))?;
    let theirs = session.read(stream, "identity of who connects")?;
    let roles = ("answer of who accepts", "answer of who connects");
    if let Err(why) = is_expected(call) {
        session.write(stream, roles.0, &why)?;
        return Err(Refused::Other(why));
    }
    session.conclude(stream, &theirs, identity, roles)?;
    Ok(call)
}

fn begin(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))
}

fn header(call: Call) -> [u8; 9] {
    let mut bytes = [0; 9];
    bytes[0] = match call.purpose {
        Purpose::Data => 1,
        Purpose::Watch => 2,
    };
    bytes[1..5].copy_from_slice(&(call.from as u32).to_le_bytes());
    bytes[5..].copy_from_slice(&(call.to as u32).to_le_bytes());
    bytes
}

fn read_header(bytes: [u8; 9]) -> Option<Call> {
    let [purpose, a, b, c, d, e, f, g, h] = bytes;
    let purpose = match purpose {
        1 => Purpose::Data,
        2 => Purpose::Watch,
        _ => return None,
    };
    let number = |bytes| u32::from_le_bytes(bytes) as usize;
    Some(Call { from: number([a, b, c, d]), to: number([e, f, g, h]), purpose })
}

fn read_array<const N: usize>(stream: &mut TcpStream) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// A connection on which both sides have proved that they know the secret.
struct Session<'a> {
    secret: &'a Secret,
    context: Vec<u8>,
}

impl Session<'_> {
    fn write(&self, stream: &mut TcpStream, role: &str, text: &str) -> Result<(), Refused> {
        let code = self.secret.vouch(role, &[&self.context, text.as_bytes()]);
        let length = (text.len() as u32).to_le_bytes();
        Ok(stream.write_all(&[&length[..], text.as_bytes(), &code].concat())?)
    }

    fn read(&self, stream: &mut TcpStream, role: &str) -> Result<String, Refused> {
        let length = u32::from_le_bytes(read_array(stream)?) as usize;
        if length > LONGEST {
            return Err(Refused::Stranger);
        }
        let mut text = vec![0; length];
        stream.read_exact(&mut text)?;
        let code = read_array(stream)?;
        if !same(&code, &self.secret.vouch(role, &[&self.context, &text])) {
            return Err(Refused::Secret);
        }
        String::from_utf8(text).map_err(|_| Refused::Stranger)
    }

    /// Compares identities, and hears whether the other side found them the same.
    fn conclude(
        &self,
        stream: &mut TcpStream,
        theirs: &str,
        identity: &Identity,
        (own, other): (&str, &str),
    ) -> Result<(), Refused> {
        let differences = differences(theirs, identity);
        self.write(stream, own, &differences)?;
        let answer = self.read(stream, other)?;
        if !differences.is_empty() {
            return Err(Refused::Other(differences));
        }
        if !answer.is_empty() {
            return Err(Refused::ByPeer(answer));
        }
        stream.set_read_timeout(None)?;
        stream.set_write_timeout(None)?;
        Ok(())
    }
}

/// An identity as text: names and values in turn, one a line.
fn shown(identity: &Identity) -> String {
    let line = |text: &str| text.replace('\n', " ");
    identity.iter().map(|(name, value)| format!("{}\n{}\n", line(name), line(value))).collect()
}

/// In what another process was asked something else; empty if in nothing.
fn differences(theirs: &str, identity: &Identity) -> String {
    let own = shown(identity);
    if theirs == own {
        return String::new();
    }
    let (own, theirs): (Vec<_>, Vec<_>) = (own.lines().collect(), theirs.lines().collect());
    let value = |lines: &[&str], name: &str| {
        let found = lines.chunks_exact(2).find(|pair| pair[0] == name);
        found.map_or("missing", |pair| pair[1]).to_owned()
    };
    let name = |pair: &[&str]| pair[0].to_owned();
    let differing: Vec<String> = own
        .chunks_exact(2)
        .map(name)
        .filter(|name| value(&own, name) != value(&theirs, name))
        .map(|name| match (value(&own, &name), value(&theirs, &name)) {
            (own, theirs)
                if own.len() + theirs.len() < 48 && !own.is_empty() && !theirs.is_empty() =>
            {
                format!("{name} ({own} and {theirs})")
            }
            _ => name,
        })
        .collect();
    match differing.is_empty() {
        true => "the processes were started with different models or flags".to_owned(),
        false => format!("the processes differ in: {}", differing.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    const CALL: Call = Call { from: 1, to: 0, purpose: Purpose::Data };

    fn secret(text: &str) -> Secret {
        Secret::of_file(text.as_bytes()).unwrap()
    }

    fn identity(model: &str) -> Identity {
        vec![("model".into(), model.into()), ("jobs".into(), "2".into())]
    }

    /// How both sides of a connection end.
    fn meet(
        caller: (Secret, Identity),
        listener: (Secret, Identity),
    ) -> (Result<(), Refused>, Result<Call, Refused>) {
        let door = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = door.local_addr().unwrap();
        thread::scope(|scope| {
            let calling = scope.spawn(move || {
                let mut stream = TcpStream::connect(address).unwrap();
                call(&mut stream, CALL, &caller.0, &caller.1)
            });
            let (mut stream, _) = door.accept().unwrap();
            let answered = answer(&mut stream, &listener.0, &listener.1, |_| Ok(()));
            drop(stream);
            (calling.join().unwrap(), answered)
        })
    }

    #[test]
    fn processes_with_one_secret_and_one_question_meet() {
        let one = || (secret("0123456789abcdef"), identity("m"));
        let (called, answered) = meet(one(), one());
        assert!(called.is_ok());
        assert_eq!(answered.unwrap(), CALL);
    }

    #[test]
    fn another_secret_is_noticed_on_both_sides() {
        let (called, answered) = meet(
            (secret("0123456789abcdef"), identity("m")),
            (secret("0123456789abcdeF"), identity("m")),
        );
        assert!(matches!(called, Err(Refused::Secret)));
        assert!(matches!(answered, Err(Refused::Unproved)));
    }

    #[test]
    fn another_question_is_named_on_both_sides() {
        let (called, answered) = meet(
            (secret("0123456789abcdef"), identity("m")),
            (secret("0123456789abcdef"), identity("n")),
        );
        for text in [called.unwrap_err().to_string(), answered.unwrap_err().to_string()] {
            assert!(text.starts_with("the processes differ in: model ("), "{text}");
        }
    }

    /// Who records a proof and plays it back to the other side, or again, gets nowhere.
    #[test]
    fn a_proof_is_good_for_one_role_and_one_connection() {
        let secret = secret("0123456789abcdef");
        let proof = secret.vouch("accept", &[b"hello", b"nonce"]);
        assert!(!same(&proof, &secret.vouch("connect", &[b"hello", b"nonce"])));
        assert!(!same(&proof, &secret.vouch("accept", &[b"hello", b"other"])));
    }

    #[test]
    fn garbage_is_no_process() {
        let door = TcpListener::bind("127.0.0.1:0").unwrap();
        for garbage in [&b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"[..], b"", &[0; 4096]] {
            let mut stream = TcpStream::connect(door.local_addr().unwrap()).unwrap();
            stream.write_all(garbage).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            let (mut here, _) = door.accept().unwrap();
            let answered =
                answer(&mut here, &secret("0123456789abcdef"), &identity("m"), |_| Ok(()));
            assert!(matches!(answered, Err(Refused::Stranger)), "{answered:?}");
        }
    }
}
