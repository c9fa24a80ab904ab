//! Why the card refuses a request of software.

use thiserror::Error;

use crate::requester::ProducerError;
use crate::rx::TableError;

/// A doorbell that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DoorbellError {
    /// The page does not own the queue pair, or there is no such queue pair.
    #[error(
        "page {page} has no queue pair {qp}; ring through the page the queue pair was created with"
    )]
    NotOwner { page: u32, qp: u32 },
    #[error("queue pair {0} has no send queue in memory; use post")]
    NoRing(u32),
    #[error(transparent)]
    Producer(#[from] ProducerError),
}

/// A work request that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PostError {
    #[error("queue pair {0} does not exist")]
    UnknownQp(u32),
    #[error(
        "queue pair {0} has a send queue in memory; write the entry there and ring the doorbell"
    )]
    HasRing(u32),
    #[error(transparent)]
    Full(#[from] ProducerError),
}

/// A table write that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TableWriteError {
    #[error("queue pair {0}: contexts are written by create_qp only, or its transmit side would not know")]
    QueuePair(u32),
    #[error(transparent)]
    Table(#[from] TableError),
}
