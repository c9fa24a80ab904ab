//! Receive pipeline: frame to request.
//!
//! The front end of the receive lane (`docs/rx_lane.md`) turns frames from the MAC into checked headers, in order, and packets in a buffer. The
//! crate also contains the first two blocks of the receive core: `core_issue` and `qp_fetch`.
#![forbid(unsafe_code)]

pub mod align;
pub mod beat;
pub mod bundles;
pub mod control_check;
pub mod core_issue;
pub mod decap;
pub mod frame_info;
pub mod frame_verdict;
pub mod hazard;
pub mod header_window;
pub mod icrc_check;
pub mod ip_checksum;
mod lane_width;
pub mod layout;
pub mod network_order;
pub mod opcode;
pub mod own_address;
pub mod packet_buffer;
pub mod packet_slots;
pub mod parse;
pub mod parse_ip;
pub mod parse_transport;
pub mod qp_fetch;
pub mod rx_control;
pub mod rx_front;
pub mod rx_port;
pub mod token_queue;

pub use align::Align;
pub use control_check::ControlCheck;
pub use core_issue::CoreIssue;
pub use decap::Decap;
pub use frame_verdict::FrameVerdict;
pub use header_window::HeaderWindow;
pub use icrc_check::IcrcCheck;
pub use own_address::OwnAddress;
pub use packet_buffer::PacketBuffer;
pub use packet_slots::PacketSlots;
pub use parse::Parse;
pub use qp_fetch::QpFetch;
pub use rx_control::RxControl;
pub use rx_front::RxFront;
pub use rx_port::RxPort;
pub use token_queue::TokenQueue;
