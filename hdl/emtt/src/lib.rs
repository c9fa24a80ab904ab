//! Memory regions and the extended memory translation table (eMTT): is the packet allowed to go there, and where is there?
//!
//! [`region_check`] compares bytes with the memory region a key names, [`page_lookup`] turns their virtual address into up to three
//! bus addresses with their address type. Both are of fixed latency, one request per cycle, never stalling, and own their table.
//! Around them:
//! - [`mr_check`] and [`emtt_lookup`], two stages of the core pipeline (`docs/rx_lane.md`): a table token takes effect exactly between the
//!   packets before and after it;
//! - [`fault_report`], behind them: pages of on-demand regions that packets lacked;
//! - [`payload_locate`], both in a row for the requester (`docs/requester.md`), with tables of its own.

pub mod emtt_banks;
pub mod emtt_lookup;
pub mod fault_report;
pub mod mr_check;
pub mod page_lookup;
pub mod page_math;
pub mod payload_locate;
pub mod region_check;

pub use emtt_banks::EmttBanks;
pub use emtt_lookup::EmttLookup;
pub use fault_report::FaultReport;
pub use mr_check::MrCheck;
pub use page_lookup::PageLookup;
pub use payload_locate::PayloadLocate;
pub use region_check::RegionCheck;
