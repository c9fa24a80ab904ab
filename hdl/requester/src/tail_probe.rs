//! Tail probes: they ask for the last packets of a burst, which no later packet shows to be missing (reference: `MrcRequester::on_timer`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::SprayResponse;
use stellar_wire::hw::window::SentPacket;

use crate::deadline::longest_tail;
use crate::records::{DelayState, RequesterState, TAIL_BITS};

/// Largest log2 of the factor of the time before a tail probe.
const MOST_SHIFT: u64 = 4;

/// Returns the delays after a tail probe: the next one waits twice as long, at most half of a timeout, and then there are no more. Levels: two carry chains and 1.
#[hdl_fn]
pub fn after_tail_probe(delays: DelayState, rto: Bits<21>) -> DelayState {
    let longest = longest_tail(rto);
    let doubled = bit_cast::<21, TAIL_BITS>(delays.tail) << 1;
    let tail = if doubled < bit_cast::<21, TAIL_BITS>(longest) {
        doubled.get_bits::<TAIL_BITS>(0)
    } else {
        longest
    };
    DelayState {
        spent: delays.tail >= longest,
        tail,
        shift: if delays.shift < MOST_SHIFT {
            delays.shift + 1
        } else {
            delays.shift
        },
        ..delays
    }
}

/// Returns whether the packet is lost, and no probe asks for it: the policy keeps all paths, no probe was in vain of late, nothing was ever taken for lost too early, and the newest packet requests a SACK. Levels: 2.
#[hdl_fn]
pub fn is_lost_without_probe(state: RequesterState, sent: SentPacket) -> Bit {
    !state.unasked.any()
        & state.path_policy.keeps_all_paths
        & state.delays.known
        & !state.delays.wary
        & !state.delays.spurious
        & !state.delays.shift.any()
        & !sent.is_retransmit
}

/// Returns the state with a probe on the path that the spray engine chose, if there is one. It waits for the port of that path. No logic.
#[hdl_fn]
pub fn with_probe_on(state: RequesterState, path: SprayResponse, is_tail: Bit) -> RequesterState {
    let mut after = state;
    after.probe = path.found;
    after.probe_index = path.index;
    after.probe_entropy = path.entropy;
    after.probe_is_tail = is_tail;
    after
}
