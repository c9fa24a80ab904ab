//! Headers of OCP Multipath Reliable Connection (MRC) 1.0.
//!
//! The specification itself was not available: these are the layouts on which two public implementations agree. ERTH (16 bytes) and EETH
//! (36 bytes) of the endpoint request and response have no known layout, and are not implemented.

mod cc_state;
mod congestion;
mod entropy;
mod meth;
mod neth;
mod peth;
mod seth;
mod tseth;

pub use cc_state::CcState;
pub use congestion::CongestionTag;
pub use entropy::Entropy;
pub use meth::Meth;
pub use neth::{NackReason, Neth};
pub use peth::Peth;
pub use seth::{PathHint, Seth};
pub use tseth::Tseth;
