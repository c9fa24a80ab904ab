//! The guest's side: the driver of a virtual device.

mod control;
mod paths;
mod qp;

pub use control::{CallError, GuestDriver};
pub use paths::GuestPathAccess;
pub use qp::{GuestQueuePair, RingPlace, SendError};
