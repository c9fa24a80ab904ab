//! What software tells the responder about a queue pair.

use hdl_macros::FromBits;
use rust_hdl::prelude::*;

/// Registers of a queue pair's receive side, checked by software.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct, FromBits)]
pub struct ResponderConfig {
    /// MRC; otherwise RC.
    pub mrc: Bit,
    /// log2 of the path MTU in bytes, 8 to 13.
    pub mtu_log2: Bits<4>,
    /// First PSN expected (MRC).
    pub initial_psn: Bits<24>,
    /// Most WRITEs with immediate the peer may have under way (MAX_WIMM, MRC): at most what the card stashes for a queue pair, 16.
    pub max_wimm: Bits<11>,
    /// Packets that do not ask for a SACK get one for as many, 1 to 63 (MRC).
    pub sack_every: Bits<6>,
    /// WRITEs with immediate make completions; otherwise they are only counted.
    pub completions: Bit,
}
