//! Bit-exact software reference of the transport.
//!
//! This crate makes every decision of the hardware in plain Rust, independently of the hardware's text. It follows `docs/rx_lane.md` and the
//! standards that are named there. Tests compare the two. The reference has no pipelines, no rings and no clocks. There is one module per decision.
//! Its first line names the hardware block that makes the same decision, if there is one.
//!
//! Configurations and table rows are those of `stellar_wire`, re-exported beside the decisions that they are for. The feature `hdl` adds what
//! tests need to compare a value with the hardware's record of it.

mod bits;
pub mod congestion;
pub mod endpoint;
pub mod requester;
pub mod responder;
pub mod rx;
mod small_queue;
pub mod spray;

pub use stellar_wire::time;
