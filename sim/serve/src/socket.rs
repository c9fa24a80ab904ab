//! A socket in a directory, and the peers that connect to it one after the other.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::event::{poll, PollFd, PollFlags};
use rustix::io::Errno;
use vfio_user::{IrqInfo, ServerBackend, ServerRegion};

use crate::error::ServeError;
use crate::pages::Pages;

/// Longest path of a UNIX socket on Linux (`sun_path` without its terminating zero).
const LONGEST_PATH: usize = 107;

/// A listening socket. Dropping it removes its file.
pub struct Socket {
    path: PathBuf,
    listener: UnixListener,
}

impl Socket {
    /// Makes the socket.
    ///
    /// # Errors
    /// [`ServeError`].
    pub fn bind(path: &Path) -> Result<Self, ServeError> {
        check_path(path)?;
        let listener = UnixListener::bind(path).map_err(|error| unmade(path, error))?;
        let socket = Self {
            path: path.to_owned(),
            listener,
        };
        // The library accepts. It must not block on a peer that has disconnected meanwhile.
        let nonblocking = socket.listener.set_nonblocking(true);
        nonblocking.map_err(|error| unmade(path, error))?;
        Ok(socket)
    }

    /// Path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Another descriptor of the listening socket.
    pub fn listener(&self) -> Result<UnixListener, ServeError> {
        let listener = self.listener.try_clone();
        listener.map_err(|error| unmade(&self.path, error))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!("{}: not removed: {error}", self.path.display());
        }
    }
}

/// Checks that a socket can be made at a path, as far as possible without making it.
///
/// # Errors
/// [`ServeError`].
pub fn check_path(path: &Path) -> Result<(), ServeError> {
    let length = path.as_os_str().len();
    let at = path.to_owned();
    if length > LONGEST_PATH {
        return Err(ServeError::PathTooLong { path: at, length });
    }
    match (path.symlink_metadata(), UnixStream::connect(path)) {
        (Err(_), _) => Ok(()),
        (Ok(_), Ok(_)) => Err(ServeError::InUse(at)),
        (Ok(_), Err(_)) => Err(ServeError::Exists(at)),
    }
}

/// Why a socket could not be made.
fn unmade(path: &Path, error: io::Error) -> ServeError {
    let path = path.to_owned();
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => ServeError::Permission(path),
        _ => ServeError::Socket { path, error },
    }
}

/// Waits until a peer connects; `false` if the server must end.
fn wait_for_peer(listener: &UnixListener, stop: &OwnedFd) -> bool {
    loop {
        let mut events = [
            PollFd::new(stop, PollFlags::IN),
            PollFd::new(listener, PollFlags::IN),
        ];
        match poll(&mut events, None) {
            Ok(_) if !events[0].revents().is_empty() => return false,
            Ok(_) => return true,
            Err(Errno::INTR) => {}
            Err(error) => {
                tracing::error!("waiting for peers: {error}");
                return false;
            }
        }
    }
}

/// The simulation has panicked.
pub struct Died;

/// What a peer of a function sees of it.
pub struct Seen {
    pub interrupts: Vec<IrqInfo>,
    pub regions: Vec<ServerRegion>,
    /// Doorbell pages, which have to exist as long as the peer is there.
    pub pages: Option<Arc<Pages>>,
}

/// A PCI function that is served to one peer after the other.
pub trait ServedFunction: ServerBackend {
    /// Its name in messages.
    fn name(&self) -> String;

    /// Accepts a new peer.
    fn connect(&mut self) -> Seen;

    /// Removes the peer.
    fn disconnect(&mut self);
}

/// Serves the next peer until it disconnects.
fn serve_one(
    listener: &UnixListener,
    function: &mut impl ServedFunction,
) -> Result<(), vfio_user::Error> {
    let listener = listener
        .try_clone()
        .map_err(vfio_user::Error::SocketAccept)?;
    let seen = function.connect();
    let server =
        vfio_user::Server::from_owned_fd(listener.into(), true, seen.interrupts, seen.regions);
    tracing::info!("{}: a driver has connected", function.name());
    let ended = server.run(function);
    drop(seen.pages);
    ended
}

/// Serves one peer after the other until the server must end.
///
/// # Errors
/// [`Died`].
pub fn serve(
    listener: &UnixListener,
    mut function: impl ServedFunction,
    stop: &OwnedFd,
) -> Result<(), Died> {
    let name = function.name();
    while wait_for_peer(listener, stop) {
        // Malformed messages make the library panic. That ends a connection, not the server.
        let served = panic::catch_unwind(AssertUnwindSafe(|| serve_one(listener, &mut function)));
        match served {
            Ok(Ok(())) => tracing::info!("{name}: its driver has disconnected"),
            Ok(Err(error)) => tracing::warn!("{name}: its driver is gone: {error}"),
            Err(_) => tracing::error!("{name}: the connection has failed"),
        }
        panic::catch_unwind(AssertUnwindSafe(|| function.disconnect())).map_err(|_| Died)?;
        tracing::info!("{name}: ready for the next driver");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_path_is_said() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("nic0.sock");
        let message = |path: &Path| Socket::bind(path).err().unwrap().to_string();
        let socket = Socket::bind(&path).unwrap();
        let used = message(&path);
        assert!(used.contains("another server listens there"), "{used}");
        drop(socket);
        assert!(!path.exists());
        fs::write(&path, "").unwrap();
        let left = message(&path);
        assert!(left.contains("nobody listens there"), "{left}");
        assert!(path.exists());
        let long = message(&directory.path().join("x".repeat(108)));
        assert!(long.contains("a UNIX socket takes 107"), "{long}");
        let nowhere = message(&directory.path().join("no").join("nic0.sock"));
        assert!(nowhere.contains("cannot be made"), "{nowhere}");
        let refused = unmade(&path, ErrorKind::PermissionDenied.into());
        assert!(refused.to_string().contains("no permission"), "{refused}");
    }
}
