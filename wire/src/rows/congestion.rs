//! Congestion control of a queue pair.

#[cfg(feature = "hdl")]
use rust_hdl::prelude::*;

row! {
    /// NSCC registers of a queue pair (`docs/multipath.md`). [`crate::config::NsccParams`] checks them. Fields with a fraction say so as
    /// integer.fraction bits; a tick is 8 ns.
    pub struct NsccRegisters => NsccConfig {
        /// Round trip of the unloaded path in ticks, 8 to 13,107 (104.8 us).
        base_rtt: u16 => Bits<16>,
        /// Target queueing delay Q in ticks, 1 to 13,107.
        target: u16 => Bits<16>,
        /// Quick adapt reacts to delays above this value, in ticks.
        qa_threshold: u16 => Bits<16>,
        /// Quick adapt acts if less than `max_cwnd >> qa_gate` was achieved; 0 to 7.
        qa_gate: u8 => Bits<3>,
        /// Smallest window in bytes, 256 to `max_cwnd`; one packet.
        min_cwnd: u32 => Bits<24>,
        /// Largest window in bytes.
        max_cwnd: u32 => Bits<24>,
        /// Proportional increase: bytes per tick below target, 12.16, not zero.
        alpha: u32 => Bits<28>,
        /// Fair increase in bytes.
        fi: u32 => Bits<23>,
        /// Steady increase once per base round trip: bytes, 20.8.
        eta: u32 => Bits<28>,
        /// Fast increase: window bytes per acknowledged byte, 5.11.
        fi_scale: u16 => Bits<16>,
        /// The window is adjusted after this many acknowledged bytes, 1 to 65,536.
        adjust_bytes: u32 => Bits<17>,
    }
}
