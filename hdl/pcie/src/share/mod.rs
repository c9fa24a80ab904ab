//! Arbiters: several clients of one PCIe interface.
//!
//! | block | does | cycles |
//! |---|---|---|
//! | [`read_arbiter`] | reads of send queue entries and of payload through one [`DmaRead`](crate::read::DmaRead) | 1 in, 0 back (entries 1) |
//! | [`write_arbiter`] | streams of memory writes into one, TLP by TLP | 1 |

pub mod read_arbiter;
pub mod write_arbiter;

pub use read_arbiter::ReadArbiter;
pub use write_arbiter::WriteArbiter;
