//! Memory as the card sees it over PCIe.

use thiserror::Error;

use crate::rx::WriteTlp;

/// A read that returned no data: there is no memory or no translation, or the data is poisoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("read of {length} bytes at {address:#x} was not answered")]
pub struct MemoryFault {
    pub address: u64,
    pub length: usize,
}

/// Host and GPU memory behind the card's PCIe port.
pub trait Memory {
    /// Reads at a bus address. `translated`: AT = 10, a final address such as a GPU's; otherwise AT = 00, and the IOMMU
    /// translates.
    ///
    /// # Errors
    /// [`MemoryFault`] if it returns no data.
    fn read(&mut self, address: u64, translated: bool, into: &mut [u8]) -> Result<(), MemoryFault>;

    /// A posted write: it has no response.
    fn write(&mut self, tlp: &WriteTlp);
}
