//! What a fence waits for in the transmit direction (`docs/nic.md`, fences).

use rust_hdl::prelude::*;

/// The end of a use of memory, or of a packet, that a fence waits for.
///
/// Every use belongs to the epoch in which it began. A fence begins a new epoch and waits until nothing of the old one is left, so what begins later does not
/// delay it.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct EpochEnd {
    /// High for one cycle per use that ends.
    pub valid: Bit,
    /// Epoch in which the use began.
    pub epoch: Bit,
}
