//! The responder: from what the receive lane decided to the packets that answer it, and from arrivals to completions.
//!
//! [`Responder`] belongs to one queue pair. [`Responder::coalesce`] says which accepted packets are answered now (by its [`Coalescer`]),
//! [`Responder::answer`] turns an acknowledgement request into the headers of
//! an ACK, NAK, SACK or NACK; [`Immediates`] and [`ImmCounter`] say when a WRITE with immediate is complete.

mod answer;
mod coalescer;
mod imm_counter;
mod immediates;

pub use answer::{Answer, Responder};
pub use coalescer::{default_sack_every, Arrival, Coalescer, Word, MAX_SACK_EVERY};
pub use imm_counter::ImmCounter;
pub use immediates::{Arrived, Immediates, WimmExceeded};
