//! What the requester asks the transmit window, and what it is told (`docs/requester.md`).

use rust_hdl::prelude::*;

/// The last transmission of a packet.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct SentPacket {
    /// Path; bit 0 is the plane.
    pub ev: Bits<8>,
    /// Ticks of 8 ns.
    pub at: Bits<32>,
    /// It had been sent before; then it carried a time stamp.
    pub again: Bit,
    /// Timeouts and recoverable NACKs so far.
    pub retries: Bits<8>,
    /// Payload bytes.
    pub length: Bits<14>,
    /// Send queue index of the message.
    pub slot: Bits<16>,
}

/// Kind of a [`WindowRequest`].
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum WindowOp {
    /// Where the window stands, and the first lost PSNs.
    Query,
    /// `count` new packets of `bytes` in all are in flight from now on; each is told beside as it leaves. The caller has seen that there is room.
    Push,
    /// The newest `count` packets, from `psn` on, of `bytes` in all, have not left and do not leave: they are new again. None was acknowledged or lost.
    Retract,
    /// The lost packet `psn` leaves again.
    Resend,
    /// State and last transmission of `psn`.
    Read,
    /// What a SACK acknowledges.
    Sack,
    /// The packet in flight `psn` is lost, and has spent `sent.retries`.
    Lose,
    /// The lowest PSN in flight that is not before `psn`, which is in the window or its end.
    NextInFlight,
    /// Starts the queue pair anew; its first packet will be `psn`.
    Configure,
}

/// One request. Fields that the operation does not name are ignored.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct WindowRequest {
    pub op: WindowOp,
    pub qp: Bits<10>,
    pub psn: Bits<24>,
    /// `Resend`; of `Lose` the retries.
    pub sent: SentPacket,
    /// `Push`, `Retract`: packets, at most 32.
    pub count: Bits<6>,
    /// `Push`, `Retract`: their payload bytes.
    pub bytes: Bits<24>,
    /// `Sack`: cumulative PSN.
    pub cack: Bits<24>,
    /// `Sack`: PSN that is answered.
    pub acked: Bits<24>,
    /// `Sack`: PSN of bit 0 of the bitmap.
    pub base: Bits<24>,
    pub bitmap: Bits<64>,
    /// `Sack`: low 16 bits of the time stamp reflected.
    pub stamp: Bits<16>,
}

/// State of a PSN.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum PacketState {
    /// Not in the window.
    Free,
    InFlight,
    Acked,
    Lost,
}

/// What a SACK did.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum SackVerdict {
    Taken,
    /// Its cumulative PSN lies more than a window behind: nothing changed.
    OutOfWindow,
    /// It names a PSN not sent, or contradicts itself: nothing changed.
    Inconsistent,
}

/// What comes back of every request.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct WindowResponse {
    /// After the request, all of them, whatever the operation.
    pub una: Bits<24>,
    /// PSN of the next new packet.
    pub next_psn: Bits<24>,
    /// Payload bytes in flight.
    pub in_flight: Bits<24>,
    /// Bit p: a packet is lost on plane p.
    pub lost: Bits<2>,
    /// The lowest PSN lost on plane 0, and on plane 1.
    pub first_lost0: Bits<24>,
    pub first_lost1: Bits<24>,

    /// `NextInFlight`: the one found; otherwise that of the request.
    pub psn: Bits<24>,
    /// `NextInFlight`: there is one.
    pub found: Bit,
    /// `Read`; `Sack`: of the answered packet before the SACK. `Free` outside the window.
    pub state: PacketState,
    /// Last transmission of `psn` (`Read`, `Lose`, `NextInFlight`), or of the answered packet (`Sack`), if it was in the window.
    pub sent: SentPacket,

    /// `Sack` from here on.
    pub verdict: SackVerdict,
    /// It answers the last transmission of a packet that was in the window: the stamps agree.
    pub answered: Bit,
    /// Its cumulative PSN lies before the window.
    pub overtaken: Bit,
    /// Packets acknowledged for the first time.
    pub packets: Bits<11>,
    /// Their payload bytes.
    pub bytes: Bits<24>,
    /// Of them, those held for lost.
    pub spurious: Bits<11>,
}
