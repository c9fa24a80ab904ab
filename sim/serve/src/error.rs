//! What can go wrong before anything is served.

use std::io;
use std::path::PathBuf;

use sim_nic::NicError;
use thiserror::Error;

/// Why nothing is served.
#[derive(Debug, Error)]
pub enum ServeError {
    /// No cards.
    #[error(transparent)]
    Nic(#[from] NicError),
    /// Something is at the path.
    #[error("{0}: it exists, and nobody listens there; remove it if a server left it that was killed, or use another directory")]
    Exists(PathBuf),
    /// Another server is.
    #[error("{0}: another server listens there; end it, or use another directory")]
    InUse(PathBuf),
    /// Too long for a socket.
    #[error("{path}: the path has {length} bytes, a UNIX socket takes 107; use a directory with a shorter path")]
    PathTooLong {
        /// The path.
        path: PathBuf,
        /// Its bytes.
        length: usize,
    },
    /// Not allowed.
    #[error("{0}: no permission to make a socket there; use a directory you may write to")]
    Permission(PathBuf),
    /// The directory cannot be made.
    #[error("{path}: the directory cannot be made: {error}")]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The socket cannot be made.
    #[error("{path}: the socket cannot be made: {error}")]
    Socket {
        /// The path.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The simulation has died.
    #[error("the simulation has ended; what it said before tells why")]
    Ended,
    /// Memory or threads.
    #[error("the server cannot be started: {0}")]
    System(#[from] io::Error),
}

/// The answer to a message that asks for what cannot be.
pub(crate) fn invalid(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}
