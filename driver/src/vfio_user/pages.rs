//! Doorbell pages that the server shares: a doorbell is a store ([`stellar_wire::host::simulation`]).

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::Mutex;

use stellar_wire::host::config_space::{Bar, PAGE_BYTES};
use stellar_wire::host::simulation::{LOOK, LOOK_AWAY, MOST_SLOTS, PAGES_REGION, REGION, RUNG};
use stellar_wire::host::Doorbell;
use vfio_user::Client;
use vm_memory::{Bytes, MmapRegion, VolatileMemory};

use super::link::Link;
use crate::card::lock;
use crate::device::{Access, DeviceError, Width};

/// The pages, mapped.
pub struct Pages {
    memory: MmapRegion,
    /// Slots that the server polls.
    named: Mutex<BTreeSet<u64>>,
}

impl Pages {
    /// Maps the pages that a server shares. Returns `None` if it shares none.
    ///
    /// # Errors
    /// The reason why they cannot be mapped.
    pub fn of(client: &Client) -> Result<Option<Self>, String> {
        let length = Bar::Doorbells.length();
        let Some(region) = client.region(PAGES_REGION) else {
            return Ok(None);
        };
        let Some(file) = region.file_offset.clone() else {
            return Ok(None);
        };
        if region.size < length {
            let size = region.size;
            return Err(format!(
                "its doorbell pages have {size:#x} bytes of {length:#x}"
            ));
        }
        let memory = MmapRegion::from_file(file, length as usize);
        let memory =
            memory.map_err(|error| format!("its doorbell pages cannot be mapped: {error}"))?;
        Ok(Some(Self {
            memory,
            named: Mutex::default(),
        }))
    }

    /// Whether an access is a store to a slot, the part of a doorbell page that can be mapped memory.
    pub fn has(access: Access) -> bool {
        let place = access.offset() % PAGE_BYTES;
        let is_slot = place >= u64::from(Doorbell::SLOTS);
        access.bar() == Bar::Doorbells && access.width() == Width::Eight && is_slot
    }

    /// Stores a word in a slot. The card sees earlier stores to memory first, and this store before a later message of this thread.
    ///
    /// # Errors
    /// The errors of the connection, if the store is sent as a message.
    pub fn store(&self, link: &Link, offset: u64, word: u64) -> Result<(), DeviceError> {
        // Held to the end, so that no slot is released between its store and its message.
        let mut named = lock(&self.named);
        let stored = self.memory.as_volatile_slice().store(
            (word | RUNG).to_le(),
            offset as usize,
            Ordering::Release,
        );
        stored.expect("a slot is an aligned word of pages that are mapped");
        let is_named = named.contains(&offset);
        if is_named && !link.stands_still() {
            return Ok(());
        }
        let tell = |what, offset: u64| link.control.write(REGION, what, &offset.to_le_bytes());
        if !is_named && named.len() == MOST_SLOTS {
            if let Some(other) = named.pop_first() {
                tell(LOOK_AWAY, other)?;
            }
        }
        tell(LOOK, offset)?;
        named.insert(offset);
        Ok(())
    }
}
