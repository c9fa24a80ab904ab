//! UNIX datagram sockets: a frame per datagram.

use std::io::{self, ErrorKind};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};

use super::{Inbox, Socket, LOOK};
use crate::frame::MAX_FRAME;

pub struct DatagramSocket {
    socket: UnixDatagram,
    local: PathBuf,
    remote: PathBuf,
}

impl DatagramSocket {
    pub fn bind(local: &Path, remote: &Path) -> io::Result<Self> {
        let socket = UnixDatagram::bind(local)?;
        socket.set_read_timeout(Some(LOOK))?;
        socket.set_write_timeout(Some(LOOK))?;
        Ok(Self {
            socket,
            local: local.to_owned(),
            remote: remote.to_owned(),
        })
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

impl Socket for DatagramSocket {
    fn receive(&self, inbox: &Inbox) {
        // One byte more than the longest frame reveals a frame that is too long.
        let mut buffer = vec![0; MAX_FRAME + 1];
        while !inbox.is_ending() {
            match self.socket.recv(&mut buffer) {
                Ok(length) => {
                    if !inbox.put(buffer[..length].to_vec()) {
                        return;
                    }
                }
                Err(error) if is_timeout(&error) => {}
                Err(error) => {
                    tracing::error!("{}: receiving: {error}", self.local.display());
                    return;
                }
            }
        }
    }

    fn send(&self, frame: &[u8], is_ending: &dyn Fn() -> bool) -> bool {
        while !is_ending() {
            match self.socket.send_to(frame, &self.remote) {
                Ok(_) => return true,
                Err(error) if is_timeout(&error) => {}
                // The peer's socket does not exist yet, or no longer.
                Err(error) => {
                    tracing::debug!("{}: sending: {error}", self.remote.display());
                    return false;
                }
            }
        }
        false
    }

    fn end(&self) {}
}
