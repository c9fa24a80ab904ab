//! What a simulated card that is reached over a socket (vfio-user) has and no real card: regions behind those of PCI.
//!
//! **The clock** ([`REGION`]) is one page. What the server writes there, [`NOW`] and [`STILL`], can be mapped and is only ever read by the driver; a write to one of the others is a
//! message.
//!
//! **Doorbell pages that can be mapped** ([`PAGES_REGION`]) have the places of BAR2. In them a slot of a doorbell or of a consumer index ([`super::Doorbell::SLOTS`]) is memory: a
//! store of its word with [`RUNG`] set is what a write of the word is at the same place of BAR2. Before the driver's first store it names the slot ([`LOOK`]). The server takes the
//! word between two clocks, and puts zero in its place. What is stored elsewhere in these pages, or without [`RUNG`], means nothing.
//!
//! **Order**: the server looks at the slots before it does what a message asks for, so a message that follows a store is seen after it. Of two stores, that to a
//! consumer slot is seen no later than a following one to a doorbell's.
//!
//! **Sleep**: before the clock comes to a stand, the server says so in [`STILL`] and looks once more. So a driver that finds the clock standing after a store, with a
//! full barrier between both, has to send [`LOOK`] again; other stores take no message.

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
/// The slot that begins there is looked at for the last time, 64 bits, write-only.
pub const LOOK_AWAY: u64 = 32;

/// Number of the region of doorbell pages that can be mapped; as long as BAR2.
pub const PAGES_REGION: u32 = 10;
/// Set in the word of a slot that is to be taken. The card ignores this bit.
pub const RUNG: u64 = 1 << 63;
/// Most slots of a driver that are looked at: both of every queue pair of a card of 1,024.
pub const MOST_SLOTS: usize = 2_048;
