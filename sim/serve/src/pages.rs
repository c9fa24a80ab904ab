//! Doorbell pages that a driver maps, and the slots that the server polls ([`stellar_wire::host::simulation`]).

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use rustix::fs::{fcntl_add_seals, memfd_create, MemfdFlags, SealFlags};
use stellar_wire::host::config_space::{Bar, PAGE_BYTES};
use stellar_wire::host::simulation::{MOST_SLOTS, RUNG};
use stellar_wire::host::{ConsumerIndex, Doorbell};
use vm_memory::{FileOffset, MmapRegion, VolatileMemory};

/// Slots that may be polled in each cycle. With more slots, the server polls only once in several cycles.
const SLOTS_PER_CLOCK: usize = 64;

/// A memory file as long as BAR2. Only the touched pages take memory, and no driver can shorten it.
pub struct Pages {
    file: File,
    memory: MmapRegion,
}

impl Pages {
    /// A file of zeros.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn new() -> io::Result<Self> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = File::from(memfd_create(c"stellar-doorbells", flags)?);
        let length = Bar::Doorbells.length();
        file.set_len(length)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let offset = FileOffset::new(file.try_clone()?, 0);
        let memory = MmapRegion::from_file(offset, length as usize).map_err(io::Error::other)?;
        Ok(Self { file, memory })
    }

    /// The file, for the driver.
    pub fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// Takes the word of a slot, if there is one. Stores from before that word are visible afterwards.
    fn take(&self, slot: u64) -> Option<u64> {
        let memory = self.memory.as_volatile_slice();
        let word: &AtomicU64 = memory
            .get_atomic_ref(slot as usize)
            .expect("a slot is an aligned word of the pages");
        let is_rung = |word: u64| u64::from_le(word) & RUNG != 0;
        // Most slots are empty in most polls. A load does not move their cache lines.
        if !is_rung(word.load(Ordering::Relaxed)) {
            return None;
        }
        let taken = u64::from_le(word.swap(0, Ordering::AcqRel));
        (taken & RUNG != 0).then_some(taken & !RUNG)
    }
}

/// The polled slots of a driver, by their places in BAR2.
#[derive(Default)]
pub struct Slots {
    pages: Option<Arc<Pages>>,
    doorbells: Vec<u64>,
    consumers: Vec<u64>,
    /// Slots earned since the last poll.
    paid: usize,
}

impl Slots {
    /// Makes an empty set of slots for a driver that maps `pages`.
    pub fn of(pages: Option<Arc<Pages>>) -> Self {
        Self {
            pages,
            ..Self::default()
        }
    }

    fn count(&self) -> usize {
        self.doorbells.len() + self.consumers.len()
    }

    /// The polled slots of the kind at this place; `None` if no slot is there.
    fn kind(&mut self, slot: u64) -> Option<&mut Vec<u64>> {
        let at = slot % PAGE_BYTES;
        let is_aligned = at.is_multiple_of(Doorbell::LEN as u64);
        if self.pages.is_none() || slot >= Bar::Doorbells.length() || !is_aligned {
            None
        } else if at >= u64::from(ConsumerIndex::SLOTS) {
            Some(&mut self.consumers)
        } else {
            (at >= u64::from(Doorbell::SLOTS)).then_some(&mut self.doorbells)
        }
    }

    /// Starts to poll this slot. Returns `false` if there is no such slot, or if [`MOST_SLOTS`] others are polled already.
    pub fn add(&mut self, slot: u64) -> bool {
        let is_full = self.count() == MOST_SLOTS;
        let Some(slots) = self.kind(slot) else {
            return false;
        };
        let is_known = slots.contains(&slot);
        if !is_known && !is_full {
            slots.push(slot);
        }
        is_known || !is_full
    }

    /// Stops polling this slot; `false` if it was not polled.
    pub fn remove(&mut self, slot: u64) -> bool {
        let at = |slots: &mut Vec<u64>| slots.iter().position(|other| *other == slot);
        let Some(slots) = self.kind(slot) else {
            return false;
        };
        let found = at(slots).map(|at| slots.swap_remove(at));
        found.is_some()
    }

    /// Whether it is time to poll. Call it once per cycle.
    pub fn is_due(&mut self) -> bool {
        self.paid += SLOTS_PER_CLOCK;
        let is_due = self.paid >= self.count();
        if is_due {
            self.paid = 0;
        }
        is_due
    }

    /// Takes the doorbells: places in BAR2 and words, in the order for the card.
    pub fn take(&self) -> Vec<(u64, u64)> {
        let Some(pages) = &self.pages else {
            return Vec::new();
        };
        let taken = |slots: &[u64]| -> Vec<(u64, u64)> {
            let words = slots.iter().map(|slot| (*slot, pages.take(*slot)));
            words
                .filter_map(|(slot, word)| Some((slot, word?)))
                .collect()
        };
        // A driver that frees entries of a completion queue and then rings has stored the consumer index first. The poll takes doorbells first, so it
        // finds the consumer index of each of them, and the card gets consumer indices before doorbells.
        let doorbells = taken(&self.doorbells);
        let mut rung = taken(&self.consumers);
        rung.extend(doorbells);
        rung
    }
}

#[cfg(test)]
mod tests;
