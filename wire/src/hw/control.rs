//! The peer whose control packets a queue pair accepts.

pub use crate::rows::control::{PeerAddress, QpPeer};
