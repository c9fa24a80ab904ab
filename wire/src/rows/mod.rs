//! Rows of the card's tables, as software writes them: plain values, and their packing.
//!
//! The macro `row!` declares a row once: the plain struct, the bits of each field from bit 0 on, and (with the feature `hdl`) the hardware's record
//! of the same layout, which [`crate::hw`] exports. [`ConfigSelect`] says which table has which row.

#[macro_use]
mod row;

pub(crate) mod address;
pub(crate) mod congestion;
pub(crate) mod control;
mod policy;
pub(crate) mod receive;
pub(crate) mod requester;
pub(crate) mod responder;
pub(crate) mod rings;
mod select;
pub(crate) mod spray;
pub(crate) mod tenant;
#[cfg(all(test, feature = "hdl"))]
mod tests;

pub use address::{AddressRow, PortRow, VECTOR_BITS};
pub use congestion::NsccRegisters;
pub use control::{PeerAddressRow, PeerRow};
pub use policy::{
    slow_round_trip, PolicyTraits, SprayPolicy, WindowChange, BASE_RTT_BITS, BEND_ONE_IN,
    DRAIN_PATIENCE, DRAIN_PROBES, DRAIN_RAISE_HALVES, DRAIN_REST, DRAIN_ROUNDS, EXPLORED_PACKETS,
    FREEZE_TICKS, HOP_BETTER, HOP_EPOCHS, HOP_MOST_DELAY, HOP_PROBES, HOP_PROBE_HALVES,
    HOP_SWITCH_HALVES, MARK_TURNS, MOST_TURNS, RECYCLED_BITS, TRIM_TURNS,
};
pub use receive::{
    EmttRow, MrRow, Owner, PageSize, QpMode, QpRow, QpState, TableError, EMTT_INDEX_BITS, FIRST_QP,
    QPN_BITS,
};
pub use requester::{
    RequesterRow, SendQueueRow, ASK_AFTER, BURST_BYTES, BURST_PACKETS, MAX_OUTSTANDING,
    SHORT_MESSAGE,
};
pub use responder::ResponderRow;
pub use rings::{RingRow, EVENT_QUEUE_BITS};
pub(crate) use row::Offset;
#[cfg(feature = "hdl")]
pub(crate) use row::ToRecord;
pub use row::{Field, FieldBits, Row};
pub use select::ConfigSelect;
pub use spray::{
    bucket_of, BucketRow, ExplicitRow, PathAck, PathUseRow, ProfileRow, SprayFeedback, SprayRow,
    EXPLICIT_BITS, EXPLICIT_ROW_BITS, NO_NUMBER, NUMBER_BITS, PROFILE_BITS,
};
pub use tenant::{
    tenant_of, wire_cost, TenantRow, BUCKET_BITS, PACKET_OVERHEAD, RATE_BITS, STEP_ONE, STEP_SHIFT,
    TENANT_BITS,
};
