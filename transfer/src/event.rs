//! Events of an engine for its application.

use crate::error::PeerLost;
use crate::ids::{CallId, PeerId, RequestId, TransferId};

/// An event, from [`crate::Engine::next_event`].
#[derive(Debug)]
pub enum Event {
    /// A transfer, message or barrier has ended. For a transfer, success means that all of its bytes are in the peers' memory.
    Done {
        /// The transfer, message or barrier.
        id: TransferId,
        /// Its result.
        result: Result<(), PeerLost>,
    },
    /// An expectation ([`crate::Engine::expect`]) has ended.
    Reached {
        /// The immediate.
        immediate: u32,
        /// Its result.
        result: Result<(), PeerLost>,
    },
    /// A peer sent a message.
    Message {
        /// The peer.
        peer: PeerId,
        /// The message.
        bytes: Vec<u8>,
    },
    /// A peer sent a request.
    Request {
        /// Its identifier, for [`crate::Engine::reply`].
        request: RequestId,
        /// The request.
        bytes: Vec<u8>,
    },
    /// A call has ended.
    Response {
        /// The request.
        call: CallId,
        /// The response, or an error.
        result: Result<Vec<u8>, PeerLost>,
    },
    /// A link has gone down.
    Lost(PeerLost),
}

/// A callback for the end of something.
pub type Callback = Box<dyn FnOnce(Result<(), PeerLost>) + Send>;

/// The way in which an end is reported.
pub enum Notify {
    /// The application gets an event.
    Event,
    /// The application's callback is called.
    Call(Callback),
    /// The barrier that contains this transfer is notified.
    Barrier(TransferId),
    /// There is no notification, because another event reports it.
    Nobody,
}
