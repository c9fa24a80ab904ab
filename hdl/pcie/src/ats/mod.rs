//! Invalidations of Address Translation Services (PCIe base specification, section 10.3). The card asks for no translation and caches none, but a function
//! with ATS has to complete the host's Invalidate Requests.
//!
//! ```text
//! completer requests ─► invalidate_responder ─► Invalidate Completions, behind earlier writes (request_slots)
//!                          │ begins   ▲ done
//!                          ▼          │
//!                       read_drain, write_flush: what was under way
//! ```
//! | block | does | cycles |
//! |---|---|---|
//! | [`invalidate_responder`] | collects ITags, drains, completes | 4 and the drain |
//! | [`read_drain`] | counts reads of an engine, and those from before the drain | 1 |
//!
//! What was under way when the request came, and may have an address that is invalid now:
//! - Reads of payload. They have ended when their tags come back, with the last completion, or after the second timeout.
//! - Writes that have left. [`crate::flush::WriteFlush`] closes a batch behind them, and its flush reads say that they are in memory, also those of a GPU
//!   behind the switch, which part from the way of the completion. The flush reads of earlier batches are answered then, too.
//! - Queue entries have untranslated addresses, which an IOMMU translates for each request.

pub mod invalidate_responder;
pub mod read_drain;

pub use invalidate_responder::InvalidateResponder;
pub use read_drain::ReadDrain;
