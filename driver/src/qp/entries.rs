//! What a queue pair has of the card's shared tables.

use stellar_wire::config::{QpConfig, TransportConfig};

use crate::card::lock;
use crate::error::Error;
use crate::open::Shared as Device;

/// Present while the card has the rows of a queue pair.
pub struct Entries {
    /// The address vector of the peer's host.
    pub vector: u16,
    /// Entries of the stash: the first, and their number (MRC).
    stash: Option<(u32, u32)>,
}

impl Entries {
    /// Takes what a queue pair needs.
    ///
    /// # Errors
    /// Those of [`crate::vectors::AddressVectors::take`], and [`Error::Exhausted`] if the stash has no space.
    pub fn take(device: &Device, config: &QpConfig) -> Result<Self, Error> {
        let stash = match &config.transport {
            TransportConfig::Mrc(_) => {
                let count = config.imm.stash_entries();
                Some((lock(&device.pools).stash.take(count)?, count))
            }
            TransportConfig::Rc(_) => None,
        };
        let ports = device.probe.features.ports;
        let vector = lock(&device.vectors).take(&device.card, ports, config);
        if let (Err(_), Some((first, count))) = (&vector, stash) {
            lock(&device.pools).stash.give_back(first, count);
        }
        Ok(Self {
            vector: vector?,
            stash,
        })
    }

    /// The first entry of the stash; 0 without one.
    pub fn first_of_stash(&self) -> u32 {
        self.stash.map_or(0, |(first, _)| first)
    }

    /// Releases them. The card uses them no more.
    pub fn give_back(&self, device: &Device) {
        lock(&device.vectors).give_back(self.vector);
        if let Some((first, count)) = self.stash {
            lock(&device.pools).stash.give_back(first, count);
        }
    }
}
