//! Frames to and from another process. Threads wait for the socket, so the simulation never does.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use thiserror::Error;

use crate::address::LinkAddress;
use datagram::DatagramSocket;
use stream::StreamSocket;

mod datagram;
mod stream;

/// Depth of the queue to the card. While it is full, the socket is not read.
const WAITING_FOR_CARD: usize = 64;
/// Depth of the queue to the peer. While it is full, frames are lost, as in a switch.
const WAITING_FOR_PEER: usize = 4096;
/// Interval at which a waiting thread checks whether it must end.
const LOOK: Duration = Duration::from_millis(50);
/// Longest path of a UNIX socket on Linux (`sun_path` without its terminating zero).
const LONGEST_PATH: usize = 107;

/// The reason why a bridge cannot be opened.
#[derive(Debug, Error)]
pub enum LinkError {
    /// The path is too long for a UNIX socket.
    #[error("{path}: the path has {length} bytes, and a UNIX socket takes {LONGEST_PATH}; use a directory with a shorter path")]
    PathTooLong {
        /// The path.
        path: PathBuf,
        /// Its length in bytes.
        length: usize,
    },
    /// The path exists already.
    #[error("{0}: there is a file already; remove it if a program left it that was killed, or use another path")]
    Exists(PathBuf),
    /// The socket cannot be made.
    #[error("{path}: the socket cannot be made: {error}")]
    Socket {
        /// The path.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The capture cannot be written.
    #[error("{path}: the capture cannot be written: {reason}")]
    Capture {
        /// The path.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The addresses of the host are invalid.
    #[error(transparent)]
    Host(#[from] crate::host_stack::HostAddressesError),
    /// The probabilities are invalid.
    #[error(transparent)]
    Impairment(#[from] crate::impairment::ImpairmentError),
    /// The card has no such port.
    #[error("the card has ports 0 and 1, not {0}")]
    Port(usize),
}

/// State shared by the threads of a link.
#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    /// Frames queued for the card.
    waiting: AtomicUsize,
    /// Frames to the peer that were lost.
    lost: AtomicU64,
    /// Callback for a frame that was queued for the card.
    wake: Mutex<Option<Box<dyn Fn() + Send>>>,
}

impl Shared {
    fn is_ending(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// The queue to the card, for the receiving thread.
struct Inbox {
    frames: SyncSender<Vec<u8>>,
    shared: Arc<Shared>,
}

impl Inbox {
    /// Queues a frame, and waits while the queue is full. Returns `false` if the link has ended.
    fn put(&self, frame: Vec<u8>) -> bool {
        self.shared.waiting.fetch_add(1, Ordering::AcqRel);
        if self.frames.send(frame).is_err() {
            return false;
        }
        let wake = self.shared.wake.lock();
        if let Some(wake) = &*wake.unwrap_or_else(PoisonError::into_inner) {
            wake();
        }
        true
    }

    fn is_ending(&self) -> bool {
        self.shared.is_ending()
    }
}

/// A socket of a kind of [`LinkAddress`].
trait Socket: Send + Sync {
    /// Receives until the link ends.
    fn receive(&self, inbox: &Inbox);
    /// Sends a frame, and waits while the peer does not read, until `is_ending`. Returns `false` if the frame was lost.
    fn send(&self, frame: &[u8], is_ending: &dyn Fn() -> bool) -> bool;
    /// Unblocks threads that wait for the peer.
    fn end(&self);
}

/// The file of a socket that the link has created.
struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // The file may have been removed before.
        let _ = fs::remove_file(&self.0);
    }
}

/// A link to a peer.
pub struct Link {
    /// Removed when the link ends, before its threads do, so that the next link can use the path at once.
    file: Option<SocketFile>,
    incoming: Receiver<Vec<u8>>,
    outgoing: SyncSender<Vec<u8>>,
    socket: Arc<dyn Socket>,
    shared: Arc<Shared>,
    /// A frame that arrived during `wait`.
    early: Option<Vec<u8>>,
}

impl Link {
    /// Creates the socket. The peer may connect later, disconnect and reconnect.
    ///
    /// # Errors
    /// [`LinkError`].
    pub fn open(address: &LinkAddress) -> Result<Self, LinkError> {
        for path in address.paths() {
            let (length, path) = (path.as_os_str().len(), path.to_owned());
            if length > LONGEST_PATH {
                return Err(LinkError::PathTooLong { path, length });
            }
        }
        if let Some(path) = address
            .own_path()
            .filter(|path| path.symlink_metadata().is_ok())
        {
            return Err(LinkError::Exists(path.to_owned()));
        }
        let failed = |error| LinkError::Socket {
            path: address.own_path().map(Into::into).unwrap_or_default(),
            error,
        };
        let socket: Arc<dyn Socket> = match address {
            LinkAddress::Datagram { local, remote } => {
                Arc::new(DatagramSocket::bind(local, remote).map_err(failed)?)
            }
            LinkAddress::Listen(path) => Arc::new(StreamSocket::listen(path).map_err(failed)?),
            LinkAddress::Connect(path) => Arc::new(StreamSocket::connect(path)),
        };
        let file = address.own_path().map(|path| SocketFile(path.to_owned()));
        let shared = Arc::new(Shared::default());
        let (frames, incoming) = mpsc::sync_channel(WAITING_FOR_CARD);
        let (outgoing, leaving) = mpsc::sync_channel::<Vec<u8>>(WAITING_FOR_PEER);
        let inbox = Inbox {
            frames,
            shared: Arc::clone(&shared),
        };
        let start = |name: &str, body: Box<dyn FnOnce() + Send>| {
            let builder = thread::Builder::new().name(name.to_owned());
            builder.spawn(body).map(drop).map_err(failed)
        };
        let reader = Arc::clone(&socket);
        start("bridge-in", Box::new(move || reader.receive(&inbox)))?;
        let (writer, ends) = (Arc::clone(&socket), Arc::clone(&shared));
        let send_all = move || {
            for frame in leaving {
                if !writer.send(&frame, &|| ends.is_ending()) {
                    ends.lost.fetch_add(1, Ordering::Relaxed);
                }
            }
        };
        start("bridge-out", Box::new(send_all))?;
        Ok(Self {
            file,
            incoming,
            outgoing,
            socket,
            shared,
            early: None,
        })
    }

    /// Calls `wake`, from another thread, whenever a frame has been queued for the card.
    pub fn on_arrival(&self, wake: Box<dyn Fn() + Send>) {
        let slot = self.shared.wake.lock();
        *slot.unwrap_or_else(PoisonError::into_inner) = Some(wake);
    }

    /// Whether a frame is queued for the card.
    pub fn has_waiting(&self) -> bool {
        !self.shared.is_ending() && self.shared.waiting.load(Ordering::Acquire) > 0
    }

    /// Frames to the peer that were lost.
    pub fn lost(&self) -> u64 {
        self.shared.lost.load(Ordering::Relaxed)
    }

    /// The next frame of the peer.
    pub fn receive(&mut self) -> Option<Vec<u8>> {
        if self.shared.is_ending() {
            return None;
        }
        let frame = self
            .early
            .take()
            .or_else(|| self.incoming.try_recv().ok())?;
        self.shared.waiting.fetch_sub(1, Ordering::AcqRel);
        Some(frame)
    }

    /// Waits for this time, or until a frame arrives.
    pub fn wait(&mut self, time: Duration) {
        if self.early.is_some() {
            return;
        }
        match self.incoming.recv_timeout(time) {
            Ok(frame) => self.early = Some(frame),
            Err(RecvTimeoutError::Timeout) => {}
            // The receiving thread has ended, so no frame can end the wait.
            Err(RecvTimeoutError::Disconnected) => thread::sleep(time),
        }
    }

    /// Sends a frame to the peer, without waiting.
    pub fn send(&self, frame: Vec<u8>) {
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) =
            self.outgoing.try_send(frame)
        {
            self.shared.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Ends the link. Frames sent afterwards are lost.
    pub fn close(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.socket.end();
        self.file = None;
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.close();
    }
}
