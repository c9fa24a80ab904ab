//! Arbiters: several clients of one PCIe interface.
//!
//! | block | does | cycles |
//! |---|---|---|
//! | [`read_share`] | reads of send queue entries and of payload through one [`DmaRead`](crate::read::DmaRead) | 1 in, 0 back (entries 1) |
//! | [`write_share`] | streams of memory writes into one, TLP by TLP | 1 |

pub mod read_share;
pub mod write_share;

pub use read_share::ReadShare;
pub use write_share::WriteShare;
