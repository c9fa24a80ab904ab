//! What an engine tells its application.

use crate::error::PeerLost;
use crate::ids::{CallId, PeerId, RequestId, TransferId};

/// Something that happened, from [`crate::Engine::next_event`].
#[derive(Debug)]
pub enum Event {
    /// A transfer, message or barrier has ended. Of a transfer, success means that all its bytes are in the peers' memory.
    Done {
        /// Which.
        id: TransferId,
        /// How.
        result: Result<(), PeerLost>,
    },
    /// What [`crate::Engine::expect`] waited for has arrived, or will not.
    Reached {
        /// The immediate.
        immediate: u32,
        /// How it ended.
        result: Result<(), PeerLost>,
    },
    /// A peer sent a message.
    Message {
        /// Who.
        peer: PeerId,
        /// The message.
        bytes: Vec<u8>,
    },
    /// A peer wants an answer.
    Request {
        /// For [`crate::Engine::reply`].
        request: RequestId,
        /// The request.
        bytes: Vec<u8>,
    },
    /// An answer has come, or will not.
    Response {
        /// To which request.
        call: CallId,
        /// The answer.
        result: Result<Vec<u8>, PeerLost>,
    },
    /// A link has gone down.
    Lost(PeerLost),
}

/// What is called when something has ended.
pub type Callback = Box<dyn FnOnce(Result<(), PeerLost>) + Send>;

/// Who is told that something has ended.
pub enum Notify {
    /// The application, by an event.
    Event,
    /// The application, by a call.
    Call(Callback),
    /// The barrier that it is part of.
    Barrier(TransferId),
    /// Nobody: something else tells of it.
    Nobody,
}
