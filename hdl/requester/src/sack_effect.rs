//! What a SACK changes in the state of its queue pair, once the window has processed it (reference: `MrcRequester::on_sack`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::SprayFeedback;
use stellar_wire::hw::window::{PacketState, SackVerdict, WindowResponse};

use crate::records::{DelayState, Op, RequesterState, StatPulses};
use crate::sack_fields::{limited_mpr, path_hint};
use crate::silent_plane::heard;

/// Returns whether an accepted SACK has moved the window, so messages may complete. Levels: 4.
#[hdl_fn]
pub fn moves_window(state: RequesterState, window: WindowResponse) -> Bit {
    (window.verdict == SackVerdict::Accepted) & (window.una != state.una)
}

/// Returns whether the answered packet had been taken for lost too early: the SACK answers not its last transmission. Levels: 3.
#[hdl_fn]
fn answers_earlier(op: Op, window: WindowResponse) -> Bit {
    let outstanding = (window.state == PacketState::InFlight) | (window.state == PacketState::Lost);
    let not_last = if outstanding {
        !window.answered
    } else {
        op.control.cc_state.timestamp.any()
    };
    not_last & !op.control.seth.probe_response
}

/// Returns the state after an accepted SACK. Progress restores the retry budget. `folded`: the estimate with the sample of the last SACK. Levels: 5.
#[hdl_fn]
pub fn state_after_sack(
    op: Op,
    state: RequesterState,
    window: WindowResponse,
    folded: DelayState,
) -> RequesterState {
    let seth = op.control.seth;
    let any_new = window.packets.any();
    let is_ordinary = any_new & !seth.probe_response;
    let mut delays = folded;
    delays.spurious = window.spurious.any() | answers_earlier(op, window);
    delays.spent = folded.spent & !any_new;
    delays.shift = if is_ordinary & folded.shift.any() {
        folded.shift - 1
    } else {
        folded.shift
    };
    let mut after = state;
    after.una = window.una;
    after.retries = if moves_window(state, window) {
        bits::<8>(0)
    } else {
        state.retries
    };
    after.losses = if window.answered & !seth.probe_response {
        heard(state.losses, window.sent.ev.get_bit(0))
    } else {
        state.losses
    };
    after.delays = delays;
    after.mpr = if seth.mpr.any() {
        limited_mpr(seth, op.settings.mpr)
    } else {
        state.mpr
    };
    after
}

/// Returns what is counted for a SACK. Levels: 3.
#[hdl_fn]
pub fn sack_stats(op: Op, window: WindowResponse) -> StatPulses {
    let seth = op.control.seth;
    let is_accepted = window.verdict == SackVerdict::Accepted;
    let is_marked = path_hint(seth) == SprayFeedback::Skip;
    StatPulses {
        sack: is_accepted,
        sack_out_of_window: window.verdict == SackVerdict::OutOfWindow,
        sack_inconsistent: window.verdict == SackVerdict::Inconsistent,
        stale_sack: is_accepted & window.overtaken & !window.packets.any(),
        ecn_mark: is_accepted & is_marked & !seth.probe_response,
        probe_answer: is_accepted & seth.probe_response,
        spurious: if is_accepted {
            window.spurious
        } else {
            bits::<13>(0)
        },
        ..StatPulses::default()
    }
}
