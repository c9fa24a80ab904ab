//! Memory regions and the extended memory translation table (eMTT): access checks and address translation.
//!
//! [`region_check`] checks an access against the memory region of its key. [`page_lookup`] translates the virtual address range into up to three
//! bus addresses with their address types. Both accept one request per cycle with a fixed latency, never stall, and contain their table.
//! Three blocks use them:
//! - [`mr_check`] and [`emtt_lookup`], two stages of the core pipeline (`docs/rx_lane.md`): a table token takes effect exactly between the
//!   packets before and after it;
//! - [`fault_report`], after them: it reports missing pages of on-demand regions;
//! - [`local_translate`]: both in sequence for the requester (`docs/requester.md`), with tables of its own.

pub mod emtt_banks;
pub mod emtt_lookup;
pub mod fault_report;
pub mod local_translate;
pub mod mr_check;
pub mod page_lookup;
pub mod page_math;
pub mod region_check;

pub use emtt_banks::EmttBanks;
pub use emtt_lookup::EmttLookup;
pub use fault_report::FaultReport;
pub use local_translate::LocalTranslate;
pub use mr_check::MrCheck;
pub use page_lookup::PageLookup;
pub use region_check::RegionCheck;
