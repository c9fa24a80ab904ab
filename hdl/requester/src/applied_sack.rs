//! What the transmit window tells of a SACK that it has processed.

use hdl_congestion::saturated_rtt;
use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{PacketState, SackVerdict, WindowResponse};
use stellar_wire::hw::Psn;

use crate::probe_answer::ProbeAnswer;
use crate::records::{Op, RequesterState};
use crate::sack_effect::moves_window;
use crate::sack_fields::answered_psn;

/// A SACK that the window has processed.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct AppliedSack {
    pub accepted: Bit,
    /// It moved `una`, so messages may complete.
    pub una_moved: Bit,
    pub una: Psn,
    pub next_psn: Psn,
    pub in_flight: Bits<24>,
    /// Packets that are acknowledged for the first time, and their payload bytes.
    pub packets: Bits<13>,
    pub bytes: Bits<24>,
    /// Congestion control gets a sample.
    pub sample: Bit,
    /// It answers the last transmission of a packet.
    pub answered: Bit,
    /// The packet does not come before the first one that is not acknowledged; it had been sent again.
    pub is_ahead: Bit,
    pub is_retransmit: Bit,
    /// When the packet or probe that caused the SACK was selected, and the time since the former was.
    pub at: Bits<32>,
    pub age: Bits<32>,
    /// The time since the packet departed: what the network and the receiver took, without what waited in front of the own port.
    pub rtt: Bits<32>,
}

/// Returns what is known with the response of the window. `probed_at`: the stamp of the probe that the SACK answers, if it does. Levels: 4 and a carry chain.
#[hdl_fn]
pub fn applied_sack(
    op: Op,
    state: RequesterState,
    window: WindowResponse,
    probed_at: Bits<32>,
) -> AppliedSack {
    let seth = op.control.seth;
    let accepted = window.verdict == SackVerdict::Accepted;
    AppliedSack {
        accepted,
        una_moved: moves_window(state, window),
        una: window.una,
        next_psn: window.next_psn,
        in_flight: window.in_flight,
        packets: window.packets,
        bytes: window.bytes,
        sample: window.packets.any() | (window.state != PacketState::Free),
        answered: accepted & window.answered & !seth.probe_response,
        is_ahead: !(answered_psn(seth) - window.una).get_bit(23),
        is_retransmit: window.sent.is_retransmit,
        at: if seth.probe_response {
            probed_at
        } else {
            window.sent.at
        },
        age: op.now - window.sent.at,
        rtt: op.now - window.departed,
    }
}

/// Returns whether the SACK may show packets to be lost. If nothing before the answered packet is outstanding, what is in flight left after it; that holds for a first transmission. Levels: 3.
#[hdl_fn]
pub fn may_show_losses(op: Op, sack: AppliedSack, probe: ProbeAnswer, delays_known: Bit) -> Bit {
    let answers_tail = sack.accepted & op.control.seth.probe_response & probe.is_tail;
    let tells = (sack.answered & (sack.is_retransmit | sack.is_ahead)) | answers_tail;
    tells & op.settings.early_loss.any() & delays_known
}

/// Returns the state with the age of the answered packet, which the next SACK adds to the estimate of delays. The timers that follow from it begin when packets are selected. Levels: 3.
#[hdl_fn]
pub fn with_sample(state: RequesterState, sack: AppliedSack) -> RequesterState {
    let mut sampled = state;
    sampled.delays.sampled = sack.answered;
    sampled.delays.sample = saturated_rtt(sack.age);
    if sack.accepted {
        sampled
    } else {
        state
    }
}
