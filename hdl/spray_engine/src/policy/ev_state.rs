//! EV state (reference: `transport/src/spray/policy/ev_state.rs`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::SprayFeedback;

use crate::ev_update::Change;

/// Returns the change that feedback makes to a value that is not denied.
#[hdl_fn]
pub fn change(feedback: SprayFeedback, assumed_bad: Bit) -> Change {
    match feedback {
        SprayFeedback::Timeout | SprayFeedback::AlwaysSkip => Change::AssumedBad,
        SprayFeedback::Skip | SprayFeedback::Trimmed => {
            if assumed_bad {
                Change::Nothing
            } else {
                Change::Skip
            }
        }
        SprayFeedback::ProbeAnswered => {
            if assumed_bad {
                Change::Good
            } else {
                Change::Nothing
            }
        }
        _ => Change::Nothing,
    }
}
