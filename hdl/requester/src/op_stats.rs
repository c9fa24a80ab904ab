//! What is counted in a cycle.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

use crate::op_route::OpRoute;
use crate::records::StatPulses;

/// Returns the pulses of the flow that executes the operation, and those of the packet that leaves: packets leave beside operations of other flows. `rc`: of an RC queue pair. Levels: 2.
#[hdl_fn]
pub fn op_stats(
    route: OpRoute,
    rc: Bit,
    transmit: StatPulses,
    of_sack: StatPulses,
    of_rc: StatPulses,
    of_loss: StatPulses,
) -> StatPulses {
    let of_flow = if route.to_transmit {
        transmit
    } else if route.to_sack {
        of_sack
    } else if rc {
        of_rc
    } else {
        of_loss
    };
    StatPulses {
        packet: transmit.packet,
        retransmission: transmit.retransmission,
        sent_qp: transmit.sent_qp,
        bytes: transmit.bytes,
        on_path: transmit.on_path,
        sent_index: transmit.sent_index,
        ..of_flow
    }
}
