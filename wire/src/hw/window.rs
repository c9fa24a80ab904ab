//! Requests to the transmit window, and its responses (`docs/requester.md`).

use super::{Psn, Qpn, SqIndex};
use rust_hdl::prelude::*;

/// Record of the last transmission of a packet.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct SentPacket {
    /// Path (EV index); bit 0 is the plane.
    pub ev: Bits<8>,
    /// Ticks of 8 ns.
    pub at: Bits<32>,
    /// The transmission was a retransmission, so it carried a time stamp.
    pub is_retransmit: Bit,
    /// Number of timeouts. It decides how long the next one is.
    pub retries: Bits<8>,
    /// Payload bytes.
    pub length: Bits<14>,
    /// Send queue index of the message.
    pub slot: SqIndex,
}

/// A packet whose frame begins to leave by its port.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Departure {
    /// Bit 0 of its queue pair's number, which says whose window has its record.
    pub odd: Bit,
    /// Block of its record, and slot in it: the low bits of its PSN.
    pub block: Bits<10>,
    pub slot: Bits<5>,
}

/// Kind of a [`WindowRequest`].
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum WindowOp {
    /// Returns the position of the window, and the first lost PSNs.
    Query,
    /// Adds `count` new packets of `bytes` in total to those in flight. The caller has checked that MPR and `room` allow them. The record of each packet follows
    /// through a port of its own when the packet is sent.
    Allocate,
    /// Marks the lost packet `psn` in flight again, with the record `sent`.
    MarkRetransmitted,
    /// Returns state and record of `psn`.
    Read,
    /// Processes a SACK.
    Sack,
    /// Marks the packet in flight `psn` lost; it has had `sent.retries` timeouts.
    MarkLost,
    /// Returns the lowest PSN in flight that is not before `psn`. `psn` is in the window, or its end.
    NextInFlight,
    /// Initialises the queue pair. Its first packet will be `psn`.
    Configure,
}

/// A request. Fields that the operation does not use are ignored.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct WindowRequest {
    pub op: WindowOp,
    pub qp: Qpn,
    pub psn: Psn,
    /// `MarkRetransmitted`: the record. `MarkLost`: only its `retries`.
    pub sent: SentPacket,
    /// `Allocate`: number of packets, at most 32.
    pub count: Bits<6>,
    /// `Allocate`: payload bytes.
    pub bytes: Bits<24>,
    /// `Sack`: cumulative PSN.
    pub cack: Psn,
    /// `Sack`: answered PSN, the PSN of the packet that caused the SACK.
    pub acked: Psn,
    /// `Sack`: PSN of bit 0 of the bitmap.
    pub base: Psn,
    pub bitmap: Bits<64>,
    /// `Sack`: low 16 bits of the reflected time stamp.
    pub stamp: Bits<16>,
}

/// State of a PSN.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum PacketState {
    /// The packet is not in the window.
    Free,
    InFlight,
    Acked,
    Lost,
}

/// Verdict on a SACK.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum SackVerdict {
    Accepted,
    /// The cumulative PSN is more than a window behind. Nothing changed.
    OutOfWindow,
    /// The SACK names a PSN that was not sent, or contradicts itself. Nothing changed.
    Inconsistent,
}

/// Response to every request.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct WindowResponse {
    /// Position of the window after the request, valid for every operation.
    pub una: Psn,
    /// PSN of the next new packet.
    pub next_psn: Psn,
    /// Payload bytes in flight.
    pub in_flight: Bits<24>,
    /// `Query`: packets that the queue pair may add as far as the pool of blocks is concerned, at most 32 (`WindowPool::room` of the reference).
    pub room: Bits<6>,
    /// `Query`: the window has no packet, so `una` is `next_psn`.
    pub is_empty: Bit,
    /// Bit p: a packet is lost on plane p.
    pub lost: Bits<2>,
    /// The lowest PSN lost on plane 0, and on plane 1.
    pub first_lost0: Psn,
    pub first_lost1: Psn,

    /// `NextInFlight`: the result. Otherwise the PSN of the request.
    pub psn: Psn,
    /// `NextInFlight`: there is a packet.
    pub found: Bit,
    /// `Read`: the state of `psn`. `Sack`, if accepted: the state of the answered packet before the SACK. `Free` outside the window.
    pub state: PacketState,
    /// Record of `psn` (`Read`, `MarkLost`, `NextInFlight`), or of the answered packet (`Sack`, if accepted), if that was in the window.
    pub sent: SentPacket,

    /// The following fields are valid for `Sack`.
    pub verdict: SackVerdict,
    /// The answered packet was in the window, and the SACK is about its last transmission.
    pub answered: Bit,
    /// When the answered packet last departed by the port of its record, in ticks. Only meaningful if it is `answered`: then it has departed.
    pub departed: Bits<32>,
    /// The cumulative PSN is before the window.
    pub overtaken: Bit,
    /// Number of newly acknowledged packets.
    pub packets: Bits<13>,
    /// Their payload bytes.
    pub bytes: Bits<24>,
    /// Number of these packets that had been marked lost.
    pub spurious: Bits<13>,
}
