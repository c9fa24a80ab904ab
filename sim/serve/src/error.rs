//! Errors before anything is served.

use std::io;
use std::path::PathBuf;

use sim_nic::NicError;
use thiserror::Error;

/// Why the server does not start.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The cards cannot be built.
    #[error(transparent)]
    Nic(#[from] NicError),
    /// The path exists already.
    #[error("{0}: it exists, and nobody listens there; remove it if a server left it that was killed, or use another directory")]
    Exists(PathBuf),
    /// Another server uses the path.
    #[error("{0}: another server listens there; end it, or use another directory")]
    InUse(PathBuf),
    /// The path is too long for a socket.
    #[error("{path}: the path has {length} bytes, a UNIX socket takes 107; use a directory with a shorter path")]
    PathTooLong {
        /// The path.
        path: PathBuf,
        /// Its length in bytes.
        length: usize,
    },
    /// The permissions do not allow it.
    #[error("{0}: no permission to make a socket there; use a directory you may write to")]
    Permission(PathBuf),
    /// The directory cannot be made.
    #[error("{path}: the directory cannot be made: {error}")]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The socket cannot be made.
    #[error("{path}: the socket cannot be made: {error}")]
    Socket {
        /// The path.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The simulation's thread has panicked.
    #[error("the simulation has ended; what it said before tells why")]
    Ended,
    /// There is not enough memory, or a thread cannot be started.
    #[error("the server cannot be started: {0}")]
    System(#[from] io::Error),
}

/// Makes the reply to a message with an invalid request.
pub(crate) fn invalid(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}
