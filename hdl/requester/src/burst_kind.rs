//! What the packets of a burst have in common.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

use crate::rc_turn::has_paths;
use crate::records::Op;
use crate::selected::{retries_before, Selected};

/// Properties of the packets of a burst.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct BurstKind {
    /// New packets over MRC, which are sent in the background.
    pub is_new: Bit,
    /// Every packet requests an acknowledgement.
    pub ack_req_all: Bit,
    /// RC: a packet that fills the window requests an acknowledgement, and this number of packets fills it.
    pub fills_window: Bit,
    pub window_space: Bits<6>,
    /// MRC: the number of retries of the packet that is retransmitted.
    pub retries: Bits<8>,
    /// RC: entropy value of the path.
    pub rc_entropy: Bits<32>,
}

/// Returns the properties of the burst that begins with what was selected. `entropy`: the path that the policy of an RC queue pair has chosen. Levels: 1.
#[hdl_fn]
pub fn burst_kind(
    op: Op,
    selected: Selected,
    window_space: Bits<6>,
    ack_req_all: Bit,
    entropy: Bits<32>,
) -> BurstKind {
    BurstKind {
        is_new: !selected.is_retransmit & !op.settings.rc,
        ack_req_all: ack_req_all | selected.is_retransmit,
        fills_window: selected.fills_window,
        window_space,
        retries: retries_before(selected),
        rc_entropy: if has_paths(op.settings) {
            entropy
        } else {
            bit_cast::<32, 16>(op.settings.udp_sport)
        },
    }
}
