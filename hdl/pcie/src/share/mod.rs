//! Arbiters: several clients of one PCIe interface.
//!
//! `cycles` is the latency through the arbiter.
//!
//! | block | does | cycles |
//! |---|---|---|
//! | [`write_arbiter`] | streams of memory writes into one, TLP by TLP | 1 |

pub mod write_arbiter;

pub use write_arbiter::WriteArbiter;
