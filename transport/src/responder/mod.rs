//! The responder turns decisions of the receive lane into acknowledgements, and arrivals into completions.
//!
//! [`Responder`] belongs to one queue pair. [`Responder::coalesce`] says which accepted packets are answered now (by its [`Coalescer`]),
//! [`Responder::answer`] turns an acknowledgement request into the headers of
//! an ACK, NAK, SACK or NACK; [`Immediates`] and [`ImmCounter`] say when a WRITE with immediate is complete.

mod answer;
mod coalescer;
mod imm_counter;
mod immediates;

pub use answer::{Answer, Responder};
pub use coalescer::{Arrival, Coalescer, Word};
pub use imm_counter::ImmCounter;
pub use immediates::{Arrived, Immediates, WimmExceeded};
pub use stellar_wire::config::{default_sack_every, MAX_SACK_EVERY};
