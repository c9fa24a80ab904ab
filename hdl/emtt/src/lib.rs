//! Memory regions and the extended memory translation table (eMTT): is the packet allowed to write there, and where is there?
//!
//! Two stages of the core pipeline (`docs/rx_lane.md`), both of fixed latency, one token per clock, never stalling:
//! [`mr_check`] compares the packet with its memory region, [`emtt_lookup`] turns its virtual address into one or two
//! bus addresses with their address type. Each owns its table and writes it when a table token passes, so a write takes effect
//! exactly between the packets before and after it.

pub mod emtt_banks;
pub mod emtt_lookup;
pub mod mr_check;
pub mod page_math;
mod table_entry;

pub use emtt_banks::EmttBanks;
pub use emtt_lookup::EmttLookup;
pub use mr_check::MrCheck;
