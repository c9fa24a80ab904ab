//! Determines the drop reason of a frame, the first one if several apply.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::core::BufferSpan;
use stellar_wire::hw::frame::{DropReason, PacketHeaders};

use crate::control_check::ControlCheckResult;
use crate::packet_buffer::{FrameFate, StoredFrame};

/// Cycles from the results of a frame to its verdict.
pub const LATENCY: usize = 1;

/// A frame that becomes a token.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct JudgedFrame {
    pub span: BufferSpan,
    /// The headers, with the final reason of the front end.
    pub headers: PacketHeaders,
}

/// Combines the results about a frame: headers, iCRC, MAC error, packet buffer, control packet check. LUT levels: 4 (5 bits of reason, 6 conditions).
#[derive(LogicBlock, Default)]
pub struct FrameVerdict {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// The other inputs belong to the same frame.
    pub in_valid: Signal<In, Bit>,
    pub in_headers: Signal<In, PacketHeaders>,
    pub in_stored: Signal<In, StoredFrame>,
    pub icrc_good: Signal<In, Bit>,
    /// Result of the control packet check. A lane without control path leaves it at zero; control packets are `UnsupportedOpcode` then.
    pub in_finding: Signal<In, ControlCheckResult>,
    /// The control FIFO has space.
    pub control_room: Signal<In, Bit>,

    /// The frame becomes a token.
    pub out_valid: Signal<Out, Bit>,
    pub out_frame: Signal<Out, JudgedFrame>,
    /// There was no space for the token of the frame. It is only counted, in order with the other frames.
    pub out_lost: Signal<Out, Bit>,
    /// The frame is a control packet for the requester, in addition to its token.
    pub out_control: Signal<Out, Bit>,

    valid: DFF<Bit>,
    lost: DFF<Bit>,
    control: DFF<Bit>,
    frame: DFF<JudgedFrame>,
}

impl Logic for FrameVerdict {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, lost, control, frame);
        let stored = self.in_stored.val();
        let lost = stored.fate == FrameFate::NoToken;
        self.valid.d.next = self.in_valid.val() & !lost;
        self.lost.d.next = self.in_valid.val() & lost;

        let mut headers = self.in_headers.val();
        // With a bad iCRC, no field that it covers can be trusted. So `BadIcrc` replaces reasons that follow from addresses or the BTH.
        let covered = (headers.reason == DropReason::None)
            | (headers.reason == DropReason::ForeignDestination)
            | (headers.reason == DropReason::UnsupportedOpcode)
            | (headers.reason == DropReason::BadPayloadLength);
        let parsed = headers.reason;
        let finding = self.in_finding.val();
        let is_control = finding.found & (parsed == DropReason::UnsupportedOpcode);
        let control_accepted = is_control & (finding.reason == DropReason::Control);
        let frame_ok = !stored.mac_error
            & (stored.fate != FrameFate::BufferFull)
            & !lost
            & self.icrc_good.val();
        let is_probe = control_accepted & finding.probe & frame_ok;
        let queued = control_accepted & !finding.probe & self.control_room.val();
        self.control.d.next = self.in_valid.val() & frame_ok & queued;
        headers.reason = if stored.mac_error {
            DropReason::MacError
        } else if stored.fate == FrameFate::BufferFull {
            DropReason::BufferFull
        } else if covered & !self.icrc_good.val() {
            DropReason::BadIcrc
        } else if is_probe {
            DropReason::None
        } else if control_accepted & !finding.probe & !self.control_room.val() {
            DropReason::ControlLost
        } else if is_control {
            finding.reason
        } else if (parsed == DropReason::None) & finding.foreign_source {
            DropReason::ForeignSource
        } else {
            parsed
        };
        headers.probe = is_probe;
        headers.mrc = if is_probe { !finding.rc } else { headers.mrc };
        headers.has_timestamp = headers.has_timestamp | is_probe;
        headers.msn = if is_probe {
            finding.probe_id
        } else {
            headers.msn
        };
        headers.timestamp = if is_probe {
            finding.timestamp
        } else {
            headers.timestamp
        };
        headers.payload_length = if is_probe {
            bits(0)
        } else {
            headers.payload_length
        };
        self.frame.d.next = JudgedFrame {
            span: stored.span,
            headers,
        };
        self.out_valid.next = self.valid.q.val();
        self.out_lost.next = self.lost.q.val();
        self.out_control.next = self.control.q.val();
        self.out_frame.next = self.frame.q.val();
        if self.reset.val() {
            self.valid.d.next = false;
            self.lost.d.next = false;
            self.control.d.next = false;
        }
    }
}
