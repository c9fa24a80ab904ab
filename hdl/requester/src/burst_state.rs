//! What a burst changes in the state of a queue pair (reference: the ends of `MrcRequester::transmit_each` and of `RcRequester::transmit_each`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::Psn;

use crate::rc_turn::has_paths;
use crate::records::{Op, RcPathState, RcState, RequesterState};

/// What has left with a burst that is waited for.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct SentBurst {
    pub is_retransmit: Bit,
    /// PSN after the last packet that was sent, and number of packets since the last one that requested an acknowledgement.
    pub next_psn: Psn,
    pub pkts_since_ack_req: Bits<16>,
    /// A packet requests an acknowledgement: the PSN of the first one.
    pub asks: Bit,
    pub asking_psn: Psn,
    /// Path of all packets.
    pub path: Bits<8>,
}

/// Returns the state after the burst `sent`, but for the timer. Only RC counts what it has sent here. One packet at a time is timed: a new one that requests an acknowledgement. Levels: 2.
#[hdl_fn]
pub fn after_sending(op: Op, state: RequesterState, sent: SentBurst) -> RequesterState {
    let timed = RcPathState {
        timed: has_paths(op.settings) & !sent.is_retransmit & sent.asks,
        timed_psn: sent.asking_psn,
        timed_at: op.now,
        timed_index: sent.path,
        ..state.rc.paths
    };
    RequesterState {
        rc: RcState {
            to_send: sent.next_psn,
            sent: if sent.is_retransmit {
                state.rc.sent
            } else {
                sent.next_psn
            },
            rnr_retries: state.rc.rnr_retries,
            waits: state.rc.waits,
            pkts_since_ack_req: sent.pkts_since_ack_req,
            paths: if state.rc.paths.timed {
                state.rc.paths
            } else {
                timed
            },
        },
        ..state
    }
}
