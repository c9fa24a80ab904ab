//! The responder: acknowledgements, immediates and arrival counters (`docs/transmit.md`, section Responder).
//!
//! * [`responder`]: a pipeline from the outcomes of the receive core to acknowledgements, completions and events.
//! * [`immediate_stash`]: stores WRITEs with immediate until they may be delivered (MRC).
//! * [`missing_count`]: stores the received PSNs of the windows, and counts the missing packets of a message.
#![forbid(unsafe_code)]

mod answer;
pub mod bundles;
mod coalesce;
mod commit;
mod completion;
pub mod good_paths;
pub mod immediate_stash;
pub mod missing_count;
pub mod output_fifos;
pub mod records;
pub mod responder;
mod update_state;

pub use bundles::{ResponderPulsesSnk, ResponderPulsesSrc};
pub use immediate_stash::ImmediateStash;
pub use missing_count::MissingCount;
pub use responder::Responder;
