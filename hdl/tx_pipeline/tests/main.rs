//! The transmit lane and its front end.

mod extensions;
mod front;
mod lane;
