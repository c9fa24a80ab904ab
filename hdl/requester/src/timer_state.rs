//! The timer of a queue pair.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

use crate::deadline::earlier;
use crate::records::RequesterState;

/// When the queue pair has to be looked at.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TimerState {
    pub armed: Bit,
    /// Ticks of 8 ns.
    pub deadline: Bits<32>,
}

/// Returns the timer for a state. A pause of the path policy has a deadline of its own, and the earlier one counts. Levels: a carry chain and 2.
#[hdl_fn]
pub fn timer_state(state: RequesterState) -> TimerState {
    let pause = state.rc.paths;
    TimerState {
        armed: state.armed | pause.held,
        deadline: if pause.held {
            earlier(state.armed, state.deadline, pause.held_until)
        } else {
            state.deadline
        },
    }
}

/// Returns the state with a timer that expires at `deadline`. No logic.
#[hdl_fn]
pub fn armed_at(state: RequesterState, deadline: Bits<32>) -> RequesterState {
    RequesterState {
        armed: true,
        deadline,
        ..state
    }
}

/// Returns the state with a timer that expires at `deadline`, or earlier if it would have. Levels: a carry chain and 1.
#[hdl_fn]
pub fn armed_until(state: RequesterState, deadline: Bits<32>) -> RequesterState {
    armed_at(state, earlier(state.armed, state.deadline, deadline))
}
