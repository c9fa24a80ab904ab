//! Connecting to a server, and the errors of that.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use thiserror::Error;
use vfio_user::Client;

/// Longest path of a UNIX socket on Linux (`sun_path` without its terminating zero).
const LONGEST_PATH: usize = 107;

/// Why there is no card behind a socket.
#[derive(Debug, Error)]
pub enum VfioUserError {
    /// The socket does not exist.
    #[error("{0}: there is no such socket; `stellar serve` makes some and says where")]
    Missing(PathBuf),
    /// Too long for a socket.
    #[error("{path}: the path has {length} bytes, a UNIX socket takes {LONGEST_PATH}; use a shorter one")]
    PathTooLong {
        /// The path.
        path: PathBuf,
        /// Its bytes.
        length: usize,
    },
    /// The user has no permission to connect.
    #[error("{0}: no permission to connect; it takes the right to write to the socket")]
    Permission(PathBuf),
    /// No server listens at the socket.
    #[error(
        "{0}: nobody listens there; its server is gone: remove it and start `stellar serve` again"
    )]
    Refused(PathBuf),
    /// Connected, but the server did not answer.
    #[error("{path}: no answer in {waited:?}; a socket serves one driver at a time, and another one seems to have it: wait for its end or use another socket")]
    Busy {
        /// The socket.
        path: PathBuf,
        /// How long the driver waited.
        waited: Duration,
    },
    /// The server behind the socket is not a card of this kind.
    #[error("{path}: {reason}; use a socket of `stellar serve` of this version")]
    Other {
        /// The socket.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
}

impl VfioUserError {
    fn of(path: &Path, error: vfio_user::Error) -> Self {
        let path = path.to_owned();
        match error {
            vfio_user::Error::Connect(error) => match error.kind() {
                ErrorKind::NotFound => Self::Missing(path),
                ErrorKind::PermissionDenied => Self::Permission(path),
                ErrorKind::ConnectionRefused => Self::Refused(path),
                _ => Self::Other {
                    path,
                    reason: error.to_string(),
                },
            },
            error => Self::Other {
                path,
                reason: error.to_string(),
            },
        }
    }
}

/// Connects and shakes hands, for at most `patience`.
pub fn connect(path: &Path, patience: Duration) -> Result<Client, VfioUserError> {
    let length = path.as_os_str().len();
    if length > LONGEST_PATH {
        let path = path.to_owned();
        return Err(VfioUserError::PathTooLong { path, length });
    }
    // The library waits without a limit. A busy server answers when it is free; then the thread of an attempt that was given up ends.
    let (tell, told) = mpsc::channel();
    let at = path.to_owned();
    std::thread::spawn(move || tell.send(Client::new(&at)));
    match told.recv_timeout(patience) {
        Ok(client) => client.map_err(|error| VfioUserError::of(path, error)),
        Err(mpsc::RecvTimeoutError::Timeout) => Err(VfioUserError::Busy {
            path: path.to_owned(),
            waited: patience,
        }),
        Err(mpsc::RecvTimeoutError::Disconnected) => Err(VfioUserError::Other {
            path: path.to_owned(),
            reason: "what answers does not speak vfio-user".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixListener;

    const SHORT: Duration = Duration::from_millis(200);

    fn message(path: &Path) -> String {
        connect(path, SHORT).err().unwrap().to_string()
    }

    #[test]
    fn what_is_wrong_with_a_socket_is_said() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let missing = message(&at("none"));
        assert!(missing.contains("there is no such socket"), "{missing}");
        let long = message(&at(&"x".repeat(120)));
        assert!(long.contains("a UNIX socket takes 107"), "{long}");
        drop(UnixListener::bind(at("stale")).unwrap());
        let stale = message(&at("stale"));
        assert!(stale.contains("nobody listens there"), "{stale}");
        let silent = UnixListener::bind(at("silent")).unwrap();
        let busy = message(&at("silent"));
        assert!(busy.contains("one driver at a time"), "{busy}");
        drop(silent);
        let other = UnixListener::bind(at("other")).unwrap();
        let speaker = std::thread::spawn(move || {
            let (mut stream, _) = other.accept().unwrap();
            // A version reply of 22 bytes, two of which are no capabilities.
            let mut reply = [0; 22];
            reply[4] = 22;
            stream.write_all(&reply).unwrap();
        });
        let other = message(&at("other"));
        assert!(other.contains("stellar serve"), "{other}");
        speaker.join().unwrap();
    }
}
