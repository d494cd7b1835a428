//! A connection as timely sees it in one search. Timely's threads panic when one fails; so it never
//! fails for them: that a process is lost is noted, and then nothing is read or written any more.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::sync::Arc;
use std::thread;

use timely::communication::allocator::zero_copy::stream::Stream;

use crate::wire::Wire;

/// The connection to a process during a search.
pub(crate) struct Line(pub(crate) Arc<Wire>);

impl Read for Line {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self.0.read_some(room) {
            Ok(0) => {
                self.0.presence().drained();
                Ok(0)
            }
            Ok(read) => Ok(read),
            // The end of the connection: all that was to come has come.
            Err(_) => {
                self.0.miss();
                self.0.presence().drained();
                loop {
                    thread::park();
                }
            }
        }
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !bytes.is_empty() && self.0.write_frame(bytes).is_err() {
            self.0.miss();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for Line {
    fn try_clone(&self) -> io::Result<Self> {
        Ok(Line(Arc::clone(&self.0)))
    }

    fn set_nonblocking(&self, _nonblocking: bool) -> io::Result<()> {
        Ok(())
    }

    fn shutdown(&self, _how: Shutdown) -> io::Result<()> {
        if self.0.write_frame(&[]).is_err() {
            self.0.miss();
        }
        self.0.presence().flushed();
        Ok(())
    }
}
