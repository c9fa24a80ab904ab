//! The card as PVDMA waits for it.

use stellar_driver::Device;

use crate::pvdma::{Fence, PlatformError};

/// Fences a card. What its queue pairs and regions may still read was waited for when the driver took them from it.
pub struct CardFence(Device);

impl CardFence {
    /// Of this card.
    pub const fn new(device: Device) -> Self {
        Self(device)
    }
}

impl Fence for CardFence {
    fn fence(&mut self) -> Result<(), PlatformError> {
        let fenced = self.0.fence();
        fenced.map_err(|error| PlatformError(error.to_string()))
    }
}
