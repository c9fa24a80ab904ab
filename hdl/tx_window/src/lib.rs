//! Transmit window in hardware: the state of every packet sent (`docs/transmit.md`).
//!
//! * [`tx_window`]: the functional unit of `docs/requester.md`; it executes one operation at a time, for all queue pairs of an engine.
//! * [`slot_memory`]: state of each of the 1,024 slots of a window.
//! * [`slot_seek`]: finds the next slot of a set in ring order.
//! * [`sent_memory`]: record of the last transmission for each slot; adds up the lengths of the packets that a SACK acknowledges, four per cycle.
//!
//! The decisions are those of `stellar_transport::requester`: of `Window`, of `SackView::check`, and of `MrcRequester` for a SACK, up to path feedback.
#![forbid(unsafe_code)]

pub mod first_cycle;
pub mod result;
pub mod row;
pub mod sack;
pub mod search;
pub mod sent_bank;
pub mod sent_memory;
pub mod slot_memory;
pub mod slot_seek;
pub mod slots;
pub mod step;
pub mod tx_window;

pub use tx_window::TxWindow;
