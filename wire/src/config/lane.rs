//! Registers of the receive lane that influence its decisions.

use super::RECEIVE_WINDOW;
use crate::udp::ROCE_UDP_PORT;
use thiserror::Error;

/// A maximum payload size, in bytes, that the PCIe side cannot be set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("maximum payload size is {0} bytes; use 128, 256, 512 or 1024")]
pub struct MaxPayloadError(pub usize);

/// PCIe maximum payload size of a write TLP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxPayload(usize);

impl MaxPayload {
    /// A size in bytes.
    ///
    /// # Errors
    /// [`MaxPayloadError`] unless it is 128, 256, 512 or 1,024.
    pub const fn new(bytes: usize) -> Result<Self, MaxPayloadError> {
        match bytes {
            128 | 256 | 512 | 1024 => Ok(Self(bytes)),
            _ => Err(MaxPayloadError(bytes)),
        }
    }

    /// The size in bytes.
    pub const fn bytes(self) -> usize {
        self.0
    }
}

impl Default for MaxPayload {
    /// The default is 256 bytes.
    fn default() -> Self {
        Self(256)
    }
}

/// Configuration of a receive lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RxConfig {
    /// UDP destination port of RoCE packets.
    pub udp_port: u16,
    /// Largest payload of one write TLP.
    pub max_payload: MaxPayload,
    /// Packets that the window of an MRC queue pair has.
    pub receive_window: u32,
}

impl Default for RxConfig {
    /// The default is port 4791, 256 bytes, and the window of a card with 1,024 queue pairs.
    fn default() -> Self {
        Self {
            udp_port: ROCE_UDP_PORT,
            max_payload: MaxPayload::default(),
            receive_window: RECEIVE_WINDOW,
        }
    }
}
