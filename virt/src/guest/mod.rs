//! The guest's side: the driver of a virtual device.

mod control;
mod qp;

pub use control::{CallError, GuestDriver};
pub use qp::{GuestQueuePair, RingPlace, SendError};
