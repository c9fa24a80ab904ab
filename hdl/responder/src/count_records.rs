//! What the counter of WRITEs with immediate is told and keeps.

use rust_hdl::prelude::*;
use stellar_wire::config::RECEIVE_PLACE_BITS;
use stellar_wire::hw::{Psn, Qpn};

use crate::records::RingWords;

/// What the counter of WRITEs with immediate is told of an operation.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct CountedPacket {
    pub qp: Qpn,
    pub psn: Psn,
    /// Where the packet's message is in the stash.
    pub slot: Bits<16>,
    /// Packets of the message before the last one, fewer than the window has: what lies further back has arrived.
    pub span: Bits<RECEIVE_PLACE_BITS>,
    /// A WRITE with immediate is whole.
    pub counts: Bit,
    /// The only packet of a message enters the stash.
    pub stores: Bit,
    /// The last packet of a message of several packets enters the stash: the missing ones are counted.
    pub measures: Bit,
    /// The packet may belong to a message in the stash.
    pub counts_down: Bit,
    /// Arms an event for when the count is `threshold`.
    pub arms: Bit,
    pub threshold: Bits<32>,
    /// The queue pair is configured: its count is 0, and nothing is armed.
    pub restarts: Bit,
}

/// An operation that the counter of WRITEs with immediate is told of, with what has arrived.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Arrival {
    pub packet: CountedPacket,
    /// An accepted MRC packet: it is noted that its PSN has arrived.
    pub notes: Bit,
    /// The packet's word of the window.
    pub bitmap: Bits<64>,
    /// First PSN missing after the packet.
    pub epsn: Bits<RECEIVE_PLACE_BITS>,
    /// It is beyond the packet.
    pub in_order: Bit,
    /// Words of the ring of received PSNs that contain packets of the window.
    pub touched: RingWords,
}

/// An [`Arrival`] whose message has been counted.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Counted {
    pub packet: CountedPacket,
    /// With the packet, a message of several packets became whole in the stash.
    pub whole: Bit,
}

/// The packets of a message in the stash.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Lacking {
    /// Last PSN of the message.
    pub last: Psn,
    /// Packets of the message before it.
    pub span: Bits<RECEIVE_PLACE_BITS>,
    /// Packets of the message that have not arrived.
    pub missing: Bits<RECEIVE_PLACE_BITS>,
}

/// The counter of WRITEs with immediate of a queue pair.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Count {
    /// Number of complete WRITEs with immediate, wrapping.
    pub count: Bits<32>,
    /// An event is due when `count` reaches `threshold`.
    pub armed: Bit,
    pub threshold: Bits<32>,
}

/// An event: the counter of WRITEs with immediate of a queue pair has reached the armed threshold.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ThresholdReached {
    pub qp: Qpn,
    pub count: Bits<32>,
}

/// PSNs to look up in the ring, by their low bits.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct MissingQuery {
    pub qp: Qpn,
    pub touched: RingWords,
    pub from: Bits<RECEIVE_PLACE_BITS>,
    /// One after the last.
    pub to: Bits<RECEIVE_PLACE_BITS>,
    /// How many: fewer than the window has.
    pub count: Bits<RECEIVE_PLACE_BITS>,
}
