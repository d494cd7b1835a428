//! A connection that carries states and counts. Timely's threads panic when one fails; so it never
//! fails for them: that a process is lost is noted, and then nothing is read or written any more.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::thread;

use timely::communication::allocator::zero_copy::stream::Stream;

use crate::presence::Presence;

/// The connection to a process.
pub(crate) struct Line {
    pub(crate) stream: TcpStream,
    pub(crate) peer: usize,
    pub(crate) presence: Arc<Presence>,
}

impl Read for Line {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.stream.read(room) {
                Ok(read) if read > 0 => return Ok(read),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The end of the connection: all that was to come has come.
                Ok(_) | Err(_) => {
                    self.presence.miss(self.peer);
                    loop {
                        thread::park();
                    }
                }
            }
        }
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.stream.write(bytes) {
                Ok(written) if written > 0 => return Ok(written),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => {
                    self.presence.miss(self.peer);
                    return Ok(bytes.len());
                }
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for Line {
    fn try_clone(&self) -> io::Result<Self> {
        let (peer, presence) = (self.peer, Arc::clone(&self.presence));
        Ok(Line { stream: self.stream.try_clone()?, peer, presence })
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.stream.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.presence.flushed();
        // If it is closed already, so much the better.
        let _ = self.stream.shutdown(how);
        Ok(())
    }
}
