//! The receive lane: from a frame, or the headers of a packet, to memory write TLPs and an acknowledgement request.
//!
//! [`RxLane`] is the whole lane. Its decisions are also functions of their own, here in the order in which a packet passes them:
//! [`classify_frame`], [`Addressing::check`], [`check_qp`], [`RcTrack::receive`], [`check_region`], [`look_up_pages`], [`PsnTrack::receive`],
//! [`write_tlps`].

mod ack;
mod addressing;
mod control;
mod control_packet;
mod counters;
mod dma;
mod emtt_lookup;
mod frame;
#[cfg(feature = "hdl")]
mod hardware;
mod headers;
mod lane;
mod length_rules;
mod mr_check;
mod psn_ring;
mod psn_track;
mod qp_check;
mod rc_track;
mod tables;

pub use ack::{AckBody, AckRequest};
pub use addressing::Addressing;
pub use control::ControlPeer;
pub use control_packet::{ControlBody, ControlPacket};
pub use counters::Counters;
pub use dma::{write_tlps, WriteTlp};
pub use emtt_lookup::{look_up_pages, Piece, Pieces};
pub use frame::{classify_frame, parse_control, ControlFrame, FrameOutcome};
#[cfg(feature = "hdl")]
pub use hardware::pieces_to_hw;
pub(crate) use headers::write_opcode;
pub use headers::PacketHeaders;
pub use lane::{Placement, RxDecision, RxLane, RxOutcome};
pub use length_rules::{check_mrc_length, check_rc_length};
pub use mr_check::check_region;
pub(crate) use mr_check::{check_bounds, find_region};
pub use psn_track::{PsnTrack, TrackedPacket, Verdict};
pub use qp_check::check_qp;
pub(crate) use qp_check::pkeys_match;
pub use rc_track::{RcAddress, RcOutcome, RcTrack};
pub use stellar_wire::config::{MaxPayload, MaxPayloadError, RxConfig, RECEIVE_WINDOW, WINDOW};
pub use stellar_wire::receive::{AckKind, DropReason, RcClass};
pub use stellar_wire::rows::{EmttRow, MrRow, Owner, PageSize, QpMode, QpRow, QpState, TableError};
pub use stellar_wire::Psn;
pub use tables::{TableWrite, Tables};
