//! Arbiters: several clients of one PCIe interface.
//!
//! `cycles` is the latency through the arbiter.
//!
//! | block | does | cycles |
//! |---|---|---|
//! | [`read_arbiter`] | reads of send queue entries and of payload through one [`DmaRead`](crate::read::DmaRead) | 1 for a request; 0 for its payload, 1 for its entries |
//! | [`write_arbiter`] | streams of memory writes into one, TLP by TLP | 1 |

pub mod read_arbiter;
pub mod write_arbiter;

pub use read_arbiter::ReadArbiter;
pub use write_arbiter::WriteArbiter;
