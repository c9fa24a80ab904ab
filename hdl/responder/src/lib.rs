//! The responder: acknowledgements, immediates and arrival counters (`docs/transmit.md`, section Responder).
//!
//! * [`responder`]: a pipeline from the outcomes of the receive core to acknowledgements, completions and events.
//! * [`immediate_stash`]: stores WRITEs with immediate until they may be delivered (MRC).
//! * [`imm_counter`]: counts the WRITEs with immediate of each queue pair, without order, and says when an event is due.
//! * [`message_count`]: counts the packets of messages that have not arrived (MRC).
//! * [`pending_scan`]: says when the pending packets of a queue pair are visited.
//! * [`missing_count`]: stores the received PSNs of the windows, and counts the missing packets of a message.
#![forbid(unsafe_code)]

mod answer;
pub mod bundles;
mod coalesce;
mod commit;
mod completion;
pub mod count_records;
pub mod good_paths;
pub mod imm_counter;
pub mod immediate_stash;
pub mod message_count;
pub mod missing_count;
pub mod output_fifos;
pub mod pending_scan;
pub mod records;
pub mod responder;
pub mod state_rows;
mod update_state;
mod visit;

pub use bundles::{ResponderPulsesSnk, ResponderPulsesSrc, VisitSnk, VisitSrc};
pub use imm_counter::ImmCounter;
pub use immediate_stash::ImmediateStash;
pub use message_count::MessageCount;
pub use missing_count::MissingCount;
pub use pending_scan::PendingScan;
pub use responder::Responder;
