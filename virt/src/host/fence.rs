//! The card as a `Fence` of PVDMA.

use stellar_driver::Device;

use crate::pvdma::{Fence, PlatformError};

/// Fences a card. The driver has already waited for reads by queue pairs and regions when it removed them from the card.
pub struct CardFence(Device);

impl CardFence {
    /// A fence of this card.
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
