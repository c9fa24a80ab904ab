//! Transmit window in hardware: what became of every packet sent (`docs/transmit.md`).
//!
//! * [`tx_window`]: the server of `docs/requester.md`, one operation at a time over all queue pairs of an engine.
//! * [`slot_memory`]: the state of each of the 1,024 slots of a window.
//! * [`slot_seek`]: finds the next slot of a set in ring order.
//! * [`sent_memory`]: the last transmission of each of them; adds up the lengths of the packets a SACK acknowledges, four per clock.
//!
//! Decisions are those of `stellar_transport::requester`: `Window`, `SackView::check`, and what `MrcRequester` does with a
//! SACK before path feedback.
#![forbid(unsafe_code)]

pub mod answer;
pub mod begin;
pub mod row;
pub mod sack;
pub mod search;
pub mod sent_bank;
pub mod sent_memory;
pub mod size;
pub mod slot_memory;
pub mod slot_seek;
pub mod slots;
pub mod step;
pub mod tx_window;

pub use tx_window::TxWindow;
