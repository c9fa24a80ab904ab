//! Where the frames of a queue pair go, and what all frames of a port have in common: the tables of framing (`docs/tx_lane.md`).

pub use crate::rows::address::{FrameAddress, PortConfig, VECTOR_BITS};
