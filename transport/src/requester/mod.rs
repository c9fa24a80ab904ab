//! The requester: from work requests to packets, and from answers to completions.
//!
//! [`MrcRequester`] sprays over many paths and repairs losses one by one; [`RcRequester`] is standard RoCEv2 on one
//! path with go-back-N. Both take their work from [`Messages`] and cut it with [`segment`]. `docs/transmit.md` has the
//! decisions, and which hardware block makes each of them.

mod completion;
mod config;
mod counters;
mod hardware;
mod messages;
mod mode;
mod mrc;
mod packet;
mod rc;
mod sack;
mod segment;
mod send_queue;
mod slot_bits;
mod window;

pub use completion::{CompletionQueue, PhaseRing};
pub use config::{
    coalesce_from, Backoff, MrcConfig, RcConfig, RequesterConfigError, DEFAULT_RTO, NO_COALESCING,
};
pub use counters::RequesterCounters;
pub use messages::{Message, Messages, MAX_UNDER_WAY};
pub use mode::Requester;
pub use mrc::{Card, MrcRequester, QpIdentity, Sack};
pub use packet::RequestPacket;
pub use rc::RcRequester;
pub use sack::{SackRefusal, SackView};
pub use segment::{locate_payload, segment, Payload, Segment};
pub use send_queue::{Fetched, ProducerError, SendQueue, SqRing, MAX_MESSAGE};
pub use window::{Sent, SlotState, Window, SLOTS};
