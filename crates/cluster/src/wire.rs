//! The connection to another process: it carries one search after another, and between searches what
//! processes tell each other.
//!
//! Everything is in frames: how many bytes follow, then these. A frame without bytes ends a search, so
//! that timely, which expects a connection of its own for each search, finds its end. Whoever waits
//! between searches looks again and again whether all processes are still there.

use std::io::{self, IoSlice, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use crate::presence::{Lost, Presence};

/// How long to wait before looking whether all processes are there.
const LOOK: Duration = Duration::from_millis(100);
/// Bytes of a frame at most.
const LONGEST: usize = 1 << 30;

/// The connection to a process.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: TcpStream,
    peer: usize,
    presence: Arc<Presence>,
    /// Bytes that are still to come of the frame that is being read.
    rest: AtomicUsize,
}

impl Wire {
    pub(crate) fn new(stream: TcpStream, peer: usize, presence: Arc<Presence>) -> Self {
        Wire { stream, peer, presence, rest: AtomicUsize::new(0) }
    }

    pub(crate) fn presence(&self) -> &Presence {
        &self.presence
    }

    /// Notes that the other process is lost.
    pub(crate) fn miss(&self) {
        self.presence.miss(self.peer);
    }

    /// Reads some bytes of a search, or none at its end. Only one thread reads at a time.
    pub(crate) fn read_some(&self, room: &mut [u8]) -> io::Result<usize> {
        let rest = match self.rest.load(SeqCst) {
            0 => {
                let mut head = [0; 4];
                (&self.stream).read_exact(&mut head)?;
                u32::from_le_bytes(head) as usize
            }
            rest => rest,
        };
        if rest == 0 {
            return Ok(0);
        }
        let most = rest.min(room.len());
        loop {
            match (&self.stream).read(&mut room[..most]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => {
                    self.rest.store(rest - read, SeqCst);
                    return Ok(read);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes a frame of a search; one without bytes is its end.
    pub(crate) fn write_frame(&self, bytes: &[u8]) -> io::Result<()> {
        for part in bytes.chunks(LONGEST) {
            self.write_part(part)?;
        }
        if bytes.is_empty() {
            self.write_part(bytes)?;
        }
        Ok(())
    }

    fn write_part(&self, bytes: &[u8]) -> io::Result<()> {
        let head = (bytes.len() as u32).to_le_bytes();
        let mut parts = [IoSlice::new(&head), IoSlice::new(bytes)];
        let mut parts = &mut parts[..];
        while parts.iter().any(|part| !part.is_empty()) {
            match (&self.stream).write_vectored(parts) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => IoSlice::advance_slices(&mut parts, written),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Between searches: sends a message, and waits for a process that is slow to take it.
    pub(crate) fn tell(&self, message: &[u8]) -> Result<(), Lost> {
        let head = (message.len() as u32).to_le_bytes();
        let told = self.stream.set_write_timeout(Some(LOOK)).and_then(|()| {
            self.patiently(&head, |bytes| (&self.stream).write(bytes))?;
            self.patiently(message, |bytes| (&self.stream).write(bytes))?;
            self.stream.set_write_timeout(None)
        });
        told.map_err(|_| self.lost())
    }

    /// Between searches: waits for a message.
    pub(crate) fn hear(&self) -> Result<Vec<u8>, Lost> {
        let heard = self.stream.set_read_timeout(Some(LOOK)).and_then(|()| {
            let mut head = [0; 4];
            self.fill(&mut head)?;
            let mut message = vec![0; u32::from_le_bytes(head) as usize];
            self.fill(&mut message)?;
            self.stream.set_read_timeout(None)?;
            Ok(message)
        });
        heard.map_err(|_| self.lost())
    }

    fn lost(&self) -> Lost {
        self.miss();
        Lost
    }

    fn fill(&self, bytes: &mut [u8]) -> io::Result<()> {
        let mut filled = 0;
        while filled < bytes.len() {
            filled += self.step(|| (&self.stream).read(&mut bytes[filled..]))?;
        }
        Ok(())
    }

    fn patiently(
        &self,
        bytes: &[u8],
        write: impl Fn(&[u8]) -> io::Result<usize>,
    ) -> io::Result<()> {
        let mut written = 0;
        while written < bytes.len() {
            written += self.step(|| write(&bytes[written..]))?;
        }
        Ok(())
    }

    /// Reads or writes some bytes, or none if it is time to look again.
    fn step(&self, mut act: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
        match act() {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(some) => Ok(some),
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted => Ok(0),
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                    self.presence.all_there().map_err(|Lost| io::Error::other("lost"))?;
                    Ok(0)
                }
                _ => Err(error),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use timely::communication::allocator::zero_copy::stream::Stream;

    use super::*;
    use crate::line::Line;

    /// Both ends of a connection between two processes.
    fn ends() -> [Arc<Wire>; 2] {
        let door = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = door.local_addr().unwrap();
        let pair = || (TcpStream::connect(address).unwrap(), door.accept().unwrap().0);
        let (data, watches) = (pair(), pair());
        let addresses = || vec!["a:1".to_owned(), "b:2".to_owned()];
        let end = |process: usize, data, watch| {
            let mut all = vec![None, None];
            all[1 - process] = Some(watch);
            let presence = Presence::watching(process, addresses(), all).unwrap();
            Arc::new(Wire::new(data, 1 - process, presence))
        };
        [end(0, data.0, watches.0), end(1, data.1, watches.1)]
    }

    /// What timely reads until the end of a search.
    fn whole(line: &mut Line, room: usize) -> Vec<u8> {
        let (mut all, mut bytes) = (Vec::new(), vec![0; room]);
        loop {
            match line.read(&mut bytes).unwrap() {
                0 => return all,
                read => all.extend_from_slice(&bytes[..read]),
            }
        }
    }

    #[test]
    fn searches_and_messages_follow_each_other_on_one_connection() {
        let [one, other] = ends();
        let data: Vec<u8> = (0..300_000_u32).map(|number| (number % 251) as u8).collect();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for search in 0..3 {
                    one.tell(format!("search {search}").as_bytes()).unwrap();
                    let mut line = Line(Arc::clone(&one));
                    for part in data.chunks(10_000 * search + 1) {
                        line.write_all(part).unwrap();
                    }
                    line.shutdown(std::net::Shutdown::Write).unwrap();
                    assert_eq!(whole(&mut line, 7), b"back");
                }
                one.tell(b"").unwrap();
            });
            for search in 0..3 {
                assert_eq!(other.hear().unwrap(), format!("search {search}").as_bytes());
                let mut line = Line(Arc::clone(&other));
                line.write_all(b"back").unwrap();
                line.shutdown(std::net::Shutdown::Write).unwrap();
                assert!(whole(&mut line, 65_536) == data);
            }
            assert_eq!(other.hear().unwrap(), b"");
        });
    }

    #[test]
    fn whoever_waits_for_a_process_that_is_gone_is_told() {
        let [one, other] = ends();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(move || (other.hear(), other));
            std::thread::sleep(Duration::from_millis(300));
            one.stream.shutdown(std::net::Shutdown::Both).unwrap();
            let (heard, other) = waiting.join().unwrap();
            assert_eq!(heard, Err(Lost));
            assert_eq!(other.presence.loss().map(|loss| loss.process), Some(0));
        });
    }
}
