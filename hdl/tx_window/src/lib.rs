//! Transmit window in hardware: the state of every packet sent (`docs/transmit.md`).
//!
//! * [`tx_window`]: the functional unit of `docs/requester.md`; it executes one operation at a time, for all queue pairs of an engine, in the steps of [`step`], and tells its [`result`].
//! * [`row`]: position of a window. [`row_change`] decides what a step changes in it, [`allocation`] where new packets go.
//! * [`blocks`]: the pool's blocks of 32 PSNs. [`free_list`] keeps the free ones, [`block_memory`] state and links of all, [`released_blocks`] says which return.
//! * [`block_walk`]: which block is read in each cycle.
//! * [`block_visit`]: what an operation does to the blocks that it passes. [`change`] decides which slots it changes and looks for, [`visit`] what it learns, [`sack`] what a SACK names.
//! * [`sent_access`]: which transmission records are read and written. [`sent_writer`] says where those of new packets go.
//! * [`sent_memory`]: record of the last transmission for each slot; adds up the lengths of the packets that a SACK acknowledges, four per cycle.
//!
//! The decisions are those of `stellar_transport::requester`: of `Window`, of `WindowPool`, of `SackView::check`, and of `MrcRequester` for a SACK, up to path
//! feedback.
#![forbid(unsafe_code)]

pub mod allocation;
pub mod block_memory;
pub mod block_visit;
pub mod block_walk;
pub mod blocks;
pub mod change;
pub mod free_list;
pub mod released_blocks;
pub mod result;
pub mod row;
pub mod row_change;
pub mod sack;
pub mod sent_access;
pub mod sent_bank;
pub mod sent_memory;
pub mod sent_writer;
pub mod step;
pub mod tx_window;
pub mod visit;

pub use tx_window::TxWindow;
