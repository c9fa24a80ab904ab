//! Memory shared with the server.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::Arc;

use rustix::fs::{fcntl_add_seals, memfd_create, MemfdFlags, SealFlags};
use vm_memory::{FileOffset, MmapRegion};

use super::link::Link;
use crate::card::lock;
use crate::device::{DeviceError, DmaMemory};
use crate::mapped::Mapped;

/// Bytes that are mapped for the card at least.
const PAGE: usize = 4096;

/// A memory file, mapped here and for the card.
pub struct SharedMemory {
    link: Arc<Link>,
    memory: Mapped,
    address: u64,
    /// Bytes of each piece that was mapped for the card.
    window: usize,
}

/// An anonymous file that keeps its size, so that no access to it can fail.
fn memory_file(bytes: usize) -> std::io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = File::from(memfd_create(c"stellar-dma", flags)?);
    file.set_len(bytes as u64)?;
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(file)
}

impl SharedMemory {
    /// Zeroed memory of at least `bytes` bytes, mapped for the card in pieces of at most `window` bytes.
    pub fn new(link: &Arc<Link>, bytes: usize, window: Option<usize>) -> Result<Self, DeviceError> {
        let none = |reason: String| DeviceError::NoMemory { bytes, reason };
        let mapped = bytes
            .checked_next_multiple_of(PAGE)
            .ok_or_else(|| none("no such length".to_owned()))?;
        let address = lock(&link.addresses)
            .take(mapped)
            .ok_or_else(|| none("no bus addresses are left; open the card anew".to_owned()))?;
        let file = memory_file(mapped).map_err(|error| none(error.to_string()))?;
        let region = file
            .try_clone()
            .map_err(|error| none(error.to_string()))
            .and_then(|file| {
                MmapRegion::from_file(FileOffset::new(file, 0), mapped)
                    .map_err(|error| none(error.to_string()))
            })?;
        let memory = Self {
            link: Arc::clone(link),
            memory: Mapped::new(region, bytes),
            address,
            window: window.unwrap_or(mapped),
        };
        for (offset, length) in memory.windows() {
            let what = "mapping memory for the card";
            link.ask(what, |client| {
                client.dma_map(offset, address + offset, length, file.as_raw_fd())
            })?;
        }
        Ok(memory)
    }

    /// Offset and length of each piece.
    fn windows(&self) -> impl Iterator<Item = (u64, u64)> {
        let (mapped, window) = (self.memory.mapped(), self.window);
        let piece = move |offset| (offset as u64, window.min(mapped - offset) as u64);
        (0..mapped).step_by(window).map(piece)
    }
}

impl DmaMemory for SharedMemory {
    fn address(&self) -> u64 {
        self.address
    }

    fn length(&self) -> usize {
        self.memory.length()
    }

    fn load(&self, offset: usize, into: &mut [u8]) {
        self.memory.load(offset, into);
    }

    fn store(&self, offset: usize, bytes: &[u8]) {
        // The message of a later register write orders this before it: it passes through the kernel on both sides.
        self.memory.store(offset, bytes);
    }

    fn load_word(&self, offset: usize) -> u64 {
        self.memory.load_word(offset)
    }
}

impl Drop for SharedMemory {
    /// The card's next access is a stray.
    fn drop(&mut self) {
        for (offset, length) in self.windows() {
            let what = "unmapping memory of the card";
            let address = self.address + offset;
            // A connection that is gone took the mapping with it.
            let _ = self
                .link
                .ask(what, |client| client.dma_unmap(address, length));
        }
    }
}
