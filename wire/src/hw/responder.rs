//! Registers of the responder.

pub use crate::rows::responder::ResponderConfig;
