//! UNIX stream sockets: each frame behind its length in 4 bytes, most significant byte first.

use std::io::{self, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::{Inbox, Socket, LOOK};
use crate::frame::MAX_FRAME;

/// The end that initiates the connection.
enum Role {
    Listener(UnixListener),
    Connector,
}

pub struct StreamSocket {
    role: Role,
    path: PathBuf,
    /// The present connection.
    peer: Mutex<Option<UnixStream>>,
}

impl StreamSocket {
    pub fn listen(path: &Path) -> io::Result<Self> {
        let listener = UnixListener::bind(path)?;
        listener.set_nonblocking(true)?;
        Ok(Self::new(Role::Listener(listener), path))
    }

    pub fn connect(path: &Path) -> Self {
        Self::new(Role::Connector, path)
    }

    fn new(role: Role, path: &Path) -> Self {
        Self {
            role,
            path: path.to_owned(),
            peer: Mutex::new(None),
        }
    }

    fn meet(&self) -> io::Result<UnixStream> {
        let stream = match &self.role {
            Role::Listener(listener) => listener.accept()?.0,
            Role::Connector => UnixStream::connect(&self.path)?,
        };
        stream.set_nonblocking(false)?;
        Ok(stream)
    }

    fn set_peer(&self, stream: Option<UnixStream>) {
        *self.peer.lock().unwrap_or_else(PoisonError::into_inner) = stream;
    }

    /// Another handle of the connection, for another thread.
    fn peer(&self) -> Option<UnixStream> {
        let peer = self.peer.lock().unwrap_or_else(PoisonError::into_inner);
        peer.as_ref()?.try_clone().ok()
    }
}

/// The next frame; `None` if the peer has closed the connection between two frames.
fn read_frame(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    let first = from.read(&mut length[..1])?;
    if first == 0 {
        return Ok(None);
    }
    from.read_exact(&mut length[1..])?;
    let length = u32::from_be_bytes(length) as usize;
    if length == 0 || length > MAX_FRAME {
        let reason = format!("the peer announces a frame of {length} bytes; 1 to {MAX_FRAME} are taken, each behind its length in 4 bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    }
    let mut frame = vec![0; length];
    from.read_exact(&mut frame)?;
    Ok(Some(frame))
}

impl Socket for StreamSocket {
    fn receive(&self, inbox: &Inbox) {
        while !inbox.is_ending() {
            let Ok(stream) = self.meet() else {
                thread::sleep(LOOK);
                continue;
            };
            let Ok(reading) = stream.try_clone() else {
                continue;
            };
            self.set_peer(Some(stream));
            tracing::info!("{}: the peer is there", self.path.display());
            let mut reading = BufReader::with_capacity(MAX_FRAME, reading);
            loop {
                match read_frame(&mut reading) {
                    Ok(Some(frame)) => {
                        if !inbox.put(frame) {
                            return;
                        }
                    }
                    Ok(None) => break,
                    Err(error) => {
                        tracing::warn!("{}: the connection ends: {error}", self.path.display());
                        break;
                    }
                }
            }
            self.set_peer(None);
            // The sending thread may be blocked in the middle of a frame. The connection may also be closed already.
            let _ = reading.get_ref().shutdown(Shutdown::Both);
            tracing::info!("{}: the peer has gone", self.path.display());
        }
    }

    fn send(&self, frame: &[u8], _: &dyn Fn() -> bool) -> bool {
        let Some(mut peer) = self.peer() else {
            return false;
        };
        let mut message = Vec::with_capacity(4 + frame.len());
        message.extend_from_slice(&(frame.len() as u32).to_be_bytes());
        message.extend_from_slice(frame);
        peer.write_all(&message).is_ok()
    }

    fn end(&self) {
        if let Some(peer) = self.peer() {
            // It may be closed already.
            let _ = peer.shutdown(Shutdown::Both);
        }
    }
}
