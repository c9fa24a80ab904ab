//! Steps of a request: how each changes the window and drives the multiplier.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

use stellar_wire::hw::congestion::WindowChange;
use stellar_wire::rows::DRAIN_RAISE_HALVES;

use crate::arithmetic::{decrease_factor, less};
use crate::records::{Decision, Operands, Work};

// `Step::Resume` adds a half.
const _: () = assert!(DRAIN_RAISE_HALVES == 3);

/// The penalty that reduces the window to its minimum.
const FULL_PENALTY: u64 = 127;

/// What happens in a cycle. A step that uses a product waits for it.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Step {
    /// Accepts a request, and reads its rows.
    Idle,
    /// Receives the rows.
    Load,
    /// Initialises a queue pair.
    Begin,
    /// Adds the bytes of the SACK, and computes its delay.
    Count,
    /// Updates the average delay and the periods, and compares the sample with the target.
    Compare,
    /// Decides on quick adapt, or on the quadrant of the sample.
    Decide,
    /// Multiplies the proportional gain by the bytes.
    Gain,
    /// Adds to the collected increase.
    Collect,
    /// Applies the fast increase to the window.
    Grow,
    /// Limits the changed window to the configured range.
    Clamp,
    /// Normalises the divisor: finds its leading one.
    Normalise,
    /// Reads the reciprocal of the divisor from the table.
    LookUp,
    /// Multiplies the dividend by the reciprocal.
    Divide,
    /// Takes the quotient.
    Quotient,
    /// Multiplies the window by the share of a decrease.
    Shrink,
    /// Writes the reduced window.
    WriteShrunk,
    /// Adds the collected increase and the constant increase to the window.
    Adjust,
    /// Subtracts lost bytes from the window.
    SubtractLoss,
    /// Goes back to the remembered window, or to 3/2 of it.
    Resume,
    /// Multiplies the window by the penalty.
    Penalise,
    /// Responds, and writes the rows back.
    Respond,
    /// Responds to a request that changes no window.
    RespondAtOnce,
}

/// Selects quick adapt, or one of the four quadrants of mark and delay. Levels: 3 behind a carry chain of 16 bits.
#[hdl_fn]
pub fn decide(work: Work) -> Decision {
    let comparison = work.comparison;
    let adapts = comparison.period_over & comparison.congested & comparison.starved;
    let responds = work.sample.has_delay & !adapts & !work.sample.old_mark;
    // Whole ticks alone are compared, and the fraction beside them: a chain over both is behind two levels more.
    let ticks = work.state.average_delay.get_bits::<16>(16);
    let over = (ticks > work.registers.target)
        | ((ticks == work.registers.target) & work.state.average_delay.get_bits::<16>(0).any());
    Decision {
        adapts,
        responds,
        decreases: responds
            & work.asked.ecn
            & !comparison.below_target
            & comparison.decrease_due
            & over,
        increases: responds & !work.asked.ecn,
        grows: comparison.below_target
            & (comparison.idle_bytes > work.state.cwnd.get_bits::<24>(8)),
    }
}

/// Returns the window of a step that changes it, not clamped. Levels: 3 (a carry chain 1, choice 2).
#[hdl_fn]
pub fn window_after(step: Step, work: Work, product: Bits<65>) -> Bits<38> {
    let cwnd = bit_cast::<38, 32>(work.state.cwnd);
    let lost = bit_cast::<32, 24>(work.asked.bytes) << 8;
    let steady = if work.comparison.eta_due {
        bit_cast::<38, 28>(work.registers.eta)
    } else {
        bits::<38>(0)
    };
    let saved = bit_cast::<38, 32>(work.state.saved);
    let more = if work.asked.change == WindowChange::Raise {
        saved >> 1
    } else {
        bits::<38>(0)
    };
    match step {
        Step::Decide => bit_cast::<38, 24>(work.state.achieved) << 8,
        Step::Grow => cwnd + product.get_bits::<38>(3),
        Step::WriteShrunk => cwnd - product.get_bits::<38>(16),
        Step::Adjust => cwnd + bit_cast::<38, 33>(work.quotient) + steady,
        Step::Resume => saved + more,
        _ => bit_cast::<38, 32>(less(work.state.cwnd, lost)),
    }
}

/// Returns the operands of a step. Levels: 6 (the sum that decides `grows` 1, choice 2 and 3).
#[hdl_fn]
pub fn operands(
    step: Step,
    work: Work,
    decision: Decision,
    product: Bits<65>,
    reciprocal: Bits<8>,
) -> Operands {
    let bytes = bit_cast::<48, 24>(work.asked.bytes);
    let target = bit_cast::<32, 16>(work.registers.target) << 16;
    let dividend = if work.decreasing {
        bit_cast::<48, 32>(work.state.average_delay - target)
    } else {
        work.state.increase
    };
    let proportional = work.comparison.below_target & !decision.grows;
    let increase_by = if proportional {
        bit_cast::<48, 28>(work.registers.alpha)
    } else {
        bytes
    };
    let increase_of = if decision.grows {
        bit_cast::<24, 16>(work.registers.fi_scale)
    } else if work.comparison.below_target {
        bit_cast::<24, 16>(work.comparison.headroom)
    } else {
        bit_cast::<24, 23>(work.registers.fi)
    };
    Operands {
        a: match step {
            Step::Decide => increase_by,
            Step::Gain => bytes,
            Step::Divide => dividend,
            Step::Shrink => bit_cast::<48, 32>(work.state.cwnd),
            _ => bit_cast::<48, 24>(work.state.cwnd.get_bits::<24>(8)),
        },
        b: match step {
            Step::Decide => increase_of,
            Step::Gain => product.get_bits::<24>(16),
            Step::Divide => bit_cast::<24, 8>(reciprocal) | bits::<24>(256),
            Step::Shrink => bit_cast::<24, 16>(decrease_factor(work.quotient)),
            _ => bits::<24>(128) - bit_cast::<24, 7>(work.state.penalty),
        },
    }
}

/// Returns the window after the receiver's penalty. `product` is the window in 128ths. Levels: 3 (a carry chain 1, choice 2).
#[hdl_fn]
pub fn penalised(work: Work, product: Bits<65>) -> Bits<24> {
    let share = product.get_bits::<24>(7);
    if (work.state.penalty == FULL_PENALTY) | (share < work.registers.min_cwnd) {
        work.registers.min_cwnd
    } else {
        share
    }
}
