//! Receive side of a queue pair.

#[cfg(feature = "hdl")]
use rust_hdl::prelude::*;

use crate::Psn;

row! {
    /// Registers of a queue pair's receive side, checked by software.
    pub struct ResponderRow => ResponderConfig {
        /// MRC; otherwise RC.
        mrc: bool => Bit,
        /// log2 of the path MTU in bytes, 8 to 13.
        mtu_log2: u8 => Bits<4>,
        /// First PSN expected (MRC).
        initial_psn: Psn => Bits<24>,
        /// Maximum number of WRITEs with immediate that the peer may have in flight (MAX_WIMM, MRC): at most the queue pair's entries of the stash.
        max_wimm: u16 => Bits<11>,
        /// First entry of the card's stash that is the queue pair's, and log2 of how many are, at most that of [`MOST_IMMEDIATES`](crate::config::MOST_IMMEDIATES) (MRC). No other queue pair has them.
        stash: u32 => Bits<16>,
        log2_stash: u8 => Bits<4>,
        /// Number of packets per SACK, for packets that do not request one, 1 to 63 (MRC).
        sack_every: u8 => Bits<6>,
        /// WRITEs with immediate make completions; otherwise they are only counted.
        completions: bool => Bit,
    }
}
