//! Bit-exact software reference of the transport.
//!
//! Everything the hardware decides, decided again in plain Rust from `docs/rx_lane.md` and the standards it names, so
//! that the two can be held against each other. Nothing here knows how the hardware does it: no pipelines, no rings, no
//! clocks. One module per decision, named as the hardware block that makes it.

pub mod congestion;
pub mod endpoint;
pub mod requester;
pub mod responder;
pub mod rx;
pub mod spray;
pub mod time;
