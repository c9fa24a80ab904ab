//! Regions that only a simulated card behind a socket (vfio-user) has. They follow the regions of PCI. Each function has a socket of its own
//! ([`data_socket`]).
//!
//! **The clock** ([`REGION`]) is one page. The driver can map it to read [`NOW`] and [`STILL`], which the server writes. A write to one of the other
//! words is a message.
//!
//! **Doorbell pages that can be mapped** ([`PAGES_REGION`]) have the layout of BAR2. In them a slot of a doorbell or of a consumer index
//! ([`super::Doorbell::SLOTS`]) is memory. A store of its word with [`RUNG`] set has the effect of a write of the word to the same place of BAR2.
//! Before the driver's first store it names the slot ([`LOOK`]). The server reads the word between two cycles, and replaces it by zero. Values that
//! are stored elsewhere in these pages, or without [`RUNG`], have no effect.
//!
//! **Order**: the server polls the slots before it executes a message, so a message takes effect after the stores before it. A store to a consumer
//! slot takes effect no later than a following store to a doorbell slot.
//!
//! **Sleep**: before the clock stops, the server sets [`STILL`] and polls once more. So a driver must send [`LOOK`] again if it finds the clock
//! stopped after a store, with a full barrier between the two. Other stores need no message.

use std::path::{Path, PathBuf};

/// The socket of a card's data function beside that of its control function: `nic0.data.sock` beside `nic0.sock`.
pub fn data_socket(control: &Path) -> PathBuf {
    control.with_extension("data.sock")
}

/// Number of the region of the clock: the first behind those that VFIO defines for a PCI function.
pub const REGION: u32 = 9;
/// Bytes of the region of the clock.
pub const LENGTH: u64 = 4_096;

/// Nanoseconds of the card's clock since power-up, 64 bits, read-only.
pub const NOW: u64 = 0;
/// The clock runs at least until this time in nanoseconds, 64 bits, write-only. A later write replaces an earlier one.
pub const RUN_UNTIL: u64 = 8;
/// Whether the clock stands still, 64 bits, 0 or 1, read-only.
pub const STILL: u64 = 16;
/// The server starts to poll the slot at this byte offset from the start of the pages, 64 bits, write-only. If the slot is polled already, the write
/// only wakes the server.
pub const LOOK: u64 = 24;
/// The server stops to poll the slot at this offset after one last poll, 64 bits, write-only.
pub const LOOK_AWAY: u64 = 32;

/// Number of the region of doorbell pages that can be mapped; as long as BAR2.
pub const PAGES_REGION: u32 = 10;
/// Set in the word of a slot that is to be taken. The card ignores this bit.
pub const RUNG: u64 = 1 << 63;
/// Maximum number of polled slots of a driver: both slots of every queue pair of a card with 1,024.
pub const MOST_SLOTS: usize = 2_048;
