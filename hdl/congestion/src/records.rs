//! State of a queue pair, and of the request in progress.

use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::{NsccConfig, NsccRequest};

/// The congestion context of a queue pair: the fields of `stellar_transport::congestion::Nscc`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct NsccState {
    /// Window: bytes, 24.8.
    pub cwnd: Bits<32>,
    /// The window that a path policy told to remember.
    pub saved: Bits<32>,
    /// Increase collected since the last adjustment, bytes squared.
    pub increase: Bits<48>,
    /// Smallest round trip seen, ticks.
    pub base_rtt: Bits<16>,
    /// Average queueing delay: ticks, 16.16.
    pub average_delay: Bits<32>,
    /// Bytes acknowledged since the last adjustment.
    pub received: Bits<24>,
    /// Bytes acknowledged in this quick-adapt period.
    pub achieved: Bits<24>,
    /// Bytes acknowledged in a row without a mark and with an idle path.
    pub idle_bytes: Bits<24>,
    /// Bytes to be acknowledged before a mark counts again: marks until then were set before the window was reduced.
    pub ignore_left: Bits<24>,
    /// There was a loss or a trim in this quick-adapt period.
    pub loss_seen: Bit,
    /// Receiver's penalty.
    pub penalty: Bits<7>,
    pub period_start: Bits<32>,
    pub last_adjust: Bits<32>,
    pub last_eta: Bits<32>,
    pub last_decrease: Bits<32>,
    /// The window in bytes after the penalty. It is stored, so a query needs no multiplication.
    pub allowed: Bits<24>,
}

/// Sample of a SACK, after it has been counted.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Sample {
    /// There is a valid delay.
    pub has_delay: Bit,
    /// Queueing delay in ticks.
    pub delay: Bits<16>,
    /// The mark was set before the window was last reduced.
    pub old_mark: Bit,
}

/// Comparison of the sample with the targets.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Comparison {
    /// The quick-adapt period has ended.
    pub period_over: Bit,
    /// There was a loss, or the delay exceeds the quick-adapt threshold.
    pub congested: Bit,
    /// Far fewer bytes were acknowledged than the maximum window allows.
    pub starved: Bit,
    /// The delay is below the target, by `headroom` ticks.
    pub below_target: Bit,
    pub headroom: Bits<16>,
    /// `idle_bytes` including this SACK.
    pub idle_bytes: Bits<24>,
    /// The last decrease was at least one base round trip ago.
    pub decrease_due: Bit,
    /// The window has to be adjusted.
    pub adjust_due: Bit,
    /// The last constant increase was at least one base round trip ago.
    pub eta_due: Bit,
}

/// Normalised divisor. `mantissa` is the bits after the leading one, which is bit `16 + exponent`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Normalised {
    pub mantissa: Bits<8>,
    pub exponent: Bits<4>,
}

/// The request in progress.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Work {
    pub asked: NsccRequest,
    pub state: NsccState,
    pub registers: NsccConfig,
    pub sample: Sample,
    pub comparison: Comparison,
    /// The division belongs to the decrease, not to the adjustment.
    pub decreasing: Bit,
    pub normalised: Normalised,
    pub quotient: Bits<33>,
    /// The changed window before it is clamped: bytes, 30.8.
    pub window: Bits<38>,
}

/// Reaction to a sample.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Decision {
    /// Quick adapt: the window is set to the bytes acknowledged in the period.
    pub adapts: Bit,
    /// The sample changes the window or the collected increase.
    pub responds: Bit,
    pub decreases: Bit,
    pub increases: Bit,
    /// The increase is the fast one.
    pub grows: Bit,
}

/// Operands of the multiplier.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Operands {
    pub a: Bits<48>,
    pub b: Bits<24>,
}
