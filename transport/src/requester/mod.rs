//! The requester turns work requests into packets, and acknowledgements into completions.
//!
//! [`MrcRequester`] sprays over many paths and repairs losses one by one; [`RcRequester`] is standard RoCEv2 on one
//! path with go-back-N. Both take their work from [`Messages`] and cut it with [`segment`]. `docs/transmit.md` lists the
//! decisions and the hardware block of each.

mod completion;
mod counters;
mod messages;
mod mode;
mod mrc;
mod packet;
mod psn_bits;
mod rc;
mod sack;
mod segment;
mod send_queue;
mod window;
mod window_pool;

pub use completion::{CompletionQueue, PhaseRing};
pub use counters::RequesterCounters;
pub use messages::{Message, Messages};
pub use mode::Requester;
pub use mrc::{Card, MrcRequester, Sack};
pub use packet::{RequestExt, RequestPacket, WriteExt};
pub use rc::RcRequester;
pub use sack::{SackRefusal, SackView};
use segment::segment_length;
pub use segment::{locate_payload, segment, Payload, Segment};
pub use send_queue::{Fetched, ProducerError, SendQueue, MAX_MESSAGE};
pub use stellar_wire::config::{
    coalesce_from, Backoff, MrcConfig, QpIdentity, RcConfig, RequesterConfigError, SqRing,
    DEFAULT_RTO, NO_COALESCING,
};
pub use stellar_wire::rows::MAX_OUTSTANDING;
pub use window::{Sent, SlotState, Window, SLOTS};
pub use window_pool::WindowPool;
