//! The clock of a simulated card that is reached over a socket (vfio-user): a region behind those of PCI, which no real card has.
//!
//! The region is one page. Its first word can be mapped and is only ever read by the driver; a write to its second word is a message.

/// Number of the region: the first behind those that VFIO defines for a PCI function.
pub const REGION: u32 = 9;
/// Bytes of the region.
pub const LENGTH: u64 = 4_096;

/// Nanoseconds of the card's clock since power-up, 64 bits, read-only.
pub const NOW: u64 = 0;
/// The clock runs at least until it shows so many nanoseconds, 64 bits, write-only. A later write replaces an earlier one.
pub const RUN_UNTIL: u64 = 8;
