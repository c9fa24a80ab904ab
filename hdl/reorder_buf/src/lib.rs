//! PSN trackers of the receive core (`docs/rx_lane.md`, section Core). In spite of the crate's name, no payload is buffered and no packet
//! reordered: payload is placed as it arrives, and the trackers only decide what was received.
//!
//! * [`rc_track`]: reliable connection, one path: expected PSN, message in progress, running address.
//! * [`psn_track`]: MRC window of 1,024, 2,048 or 4,096 packets in any order, queue pair error state, the final decision about every token.
//!
//! Both keep the state of every queue pair. Their constants say how many cycles the core must leave between tokens of one queue pair: none
//! between MRC data packets.
#![forbid(unsafe_code)]

mod distance;
pub mod psn_advance;
pub mod psn_answer;
pub mod psn_stages;
pub mod psn_track;
pub mod rc_length;
pub mod rc_track;
pub mod token_kind;
pub mod tracked;
pub mod verdict;
pub mod window_advance;
pub mod window_row;

pub use psn_track::PsnTrack;
pub use rc_track::RcTrack;
