//! What the engine keeps of a queue pair, and of the request it works on.

use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::{NsccConfig, NsccRequest};

/// The congestion context of a queue pair: the fields of `stellar_transport::congestion::Nscc`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct NsccState {
    /// Window: bytes, 24.8.
    pub cwnd: Bits<32>,
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
    /// Bytes still to come whose marks are old news.
    pub ignore_left: Bits<24>,
    /// A loss or trim was seen in this quick-adapt period.
    pub loss_seen: Bit,
    /// Receiver's penalty.
    pub penalty: Bits<7>,
    pub period_start: Bits<32>,
    pub last_adjust: Bits<32>,
    pub last_eta: Bits<32>,
    pub last_decrease: Bits<32>,
    /// The window in bytes with the penalty taken off, so that a query needs no multiplication.
    pub allowed: Bits<24>,
}

/// What a SACK says, once it is counted.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Sample {
    /// There is a delay to answer to.
    pub has_delay: Bit,
    /// Queueing delay, ticks.
    pub delay: Bits<16>,
    /// Its mark was set before the window last adapted.
    pub old_mark: Bit,
}

/// What the sample compares to.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Compared {
    /// The quick-adapt period is over.
    pub period_over: Bit,
    /// A loss or a very long delay.
    pub congested: Bit,
    /// Far less was achieved than the window might have carried.
    pub starved: Bit,
    /// The delay is below target, by `room` ticks.
    pub below_target: Bit,
    pub room: Bits<16>,
    /// Idle bytes with this SACK.
    pub idle_bytes: Bits<24>,
    /// The last decrease is a base round trip ago.
    pub decrease_due: Bit,
    /// The window is to be adjusted.
    pub adjust_due: Bit,
    /// The last steady increase is a base round trip ago.
    pub eta_due: Bit,
}

/// Divisor of a quotient, normalised: `mantissa` follows the leading one, which is bit `16 + exponent`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Normalised {
    pub mantissa: Bits<8>,
    pub exponent: Bits<4>,
}

/// The request under way.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Work {
    pub asked: NsccRequest,
    pub state: NsccState,
    pub registers: NsccConfig,
    pub sample: Sample,
    pub compared: Compared,
    /// The division is of the decrease, not of the adjustment.
    pub decreasing: Bit,
    pub normalised: Normalised,
    pub quotient: Bits<33>,
}

/// Which answer a sample gets.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Judgement {
    /// The window falls to what it carried.
    pub adapts: Bit,
    /// The sample is answered to.
    pub responds: Bit,
    pub decreases: Bit,
    pub increases: Bit,
    /// If it increases: fast.
    pub grows: Bit,
}

/// What is multiplied.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Operands {
    pub a: Bits<48>,
    pub b: Bits<24>,
}
