//! Control messages of a vStellar device: the requests that a guest's driver sends to the host over a virtio queue (STELLAR, section 4).
//!
//! A message is one descriptor chain: a [`Request`] that the device reads, and space for an answer that it writes. All fields are little-endian.
//! Reserved bytes are zero, and are ignored on reading.
//!
//! | bytes | request | answer |
//! |---|---|---|
//! | 0-1 | opcode ([`Opcode`]) | status ([`Status`]) |
//! | 2-7 | reserved | reserved |
//! | 8- | fields, in the order of the variant | fields, if the status is `Ok` |
//!
//! Each device has its own handles. Protection domains and completion queues have small numbers. Queue pairs and regions have the numbers of the
//! card, because work requests and doorbells name them. Guest addresses are guest physical.

mod address;
mod answer;
mod attributes;
mod fields;
mod paths;
mod request;
#[cfg(test)]
mod tests;

use crate::config::EvIndex;
pub use crate::rows::SprayPolicy as PathPolicy;
pub use address::Port;
pub use answer::{Answer, DeviceInfo, Event, GuestCounters, GuestEvent, GuestQuota, Status};
pub use attributes::{GuestQpState, Path, ReadyToReceive, RetryBackoff, SkipMarked, Step};
pub use fields::Malformed;
pub use paths::{GuestPathCounts, GuestPaths};
pub use request::{CreateQp, Opcode, RegisterMr, Request};

/// Bytes before the fields of a message.
pub const HEADER: usize = 8;
/// Maximum length of a request in bytes.
pub const MOST_REQUEST: usize = 128;
/// Space in bytes that a chain has for its answer at least, whatever it requests. No answer is longer, but that to [`Request::QueryPaths`], which has counts of
/// as many paths as the chain has space for.
pub const MOST_ANSWER: usize = 128;
/// Length in bytes of the longest answer: the counts of all paths that a queue pair can have.
pub const LONGEST_ANSWER: usize = GuestPaths::bytes(EvIndex::ACTIVE + EvIndex::BACKUPS);
/// Bytes of a page list's entry: a guest address.
pub const PAGE_ENTRY: u64 = 8;

/// Virtio shared-memory region that holds the doorbell page.
pub const DOORBELL_REGION: u8 = 0;
/// Largest size of the control queue.
pub const QUEUE_SIZE: u16 = 64;
