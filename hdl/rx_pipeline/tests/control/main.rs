//! The control path of a lane: acknowledgements and probes among data, taken from peers and from nobody else.

mod bench;
mod equivalence;
#[path = "../front/frames.rs"]
#[allow(dead_code, reason = "the tests of the front end use the rest")]
mod frames;
mod overflow;
mod packets;
mod reference;
