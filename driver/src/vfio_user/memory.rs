//! Memory shared with the server.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex};

use rustix::fs::{fcntl_add_seals, memfd_create, MemfdFlags, SealFlags};
use vm_memory::{FileOffset, MmapRegion};

use super::link::Link;
use crate::addresses::BusAddresses;
use crate::device::DeviceError;
use crate::mapped::Reach;

/// Memory files, mapped for the card over the connection.
pub struct SharedFiles {
    pub link: Arc<Link>,
    /// Maximum number of bytes that are mapped in one piece.
    pub window: Option<usize>,
}

/// An anonymous file that keeps its size, so that no access to it can fail.
fn memory_file(bytes: usize) -> std::io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = File::from(memfd_create(c"stellar-dma", flags)?);
    file.set_len(bytes as u64)?;
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(file)
}

impl SharedFiles {
    /// Offset and length of each piece.
    fn windows(&self, bytes: usize) -> impl Iterator<Item = (u64, u64)> {
        let window = self.window.unwrap_or(bytes);
        let piece = move |offset| (offset as u64, window.min(bytes - offset) as u64);
        (0..bytes).step_by(window).map(piece)
    }
}

impl Reach for SharedFiles {
    fn addresses(&self) -> &Mutex<BusAddresses> {
        &self.link.addresses
    }

    fn map(&self, address: u64, bytes: usize) -> Result<MmapRegion, DeviceError> {
        let none = |reason: String| DeviceError::NoMemory { bytes, reason };
        let file = memory_file(bytes).map_err(|error| none(error.to_string()))?;
        let file = FileOffset::new(file, 0);
        let region = MmapRegion::from_file(file.clone(), bytes);
        let region = region.map_err(|error| none(error.to_string()))?;
        let shown = self.windows(bytes).try_for_each(|(offset, length)| {
            let what = "mapping memory for the card";
            self.link.connections().try_for_each(|connection| {
                connection.ask(what, |client| {
                    let file = file.file().as_raw_fd();
                    client.dma_map(offset, address + offset, length, file)
                })
            })
        });
        if shown.is_err() {
            self.unmap(address, bytes);
        }
        shown.map(|()| region)
    }

    /// Unmaps the memory. A later access of the card to it is counted as a bad access.
    fn unmap(&self, address: u64, bytes: usize) -> bool {
        for (offset, length) in self.windows(bytes) {
            let what = "unmapping memory of the card";
            for connection in self.link.connections() {
                let unmap =
                    |client: &mut vfio_user::Client| client.dma_unmap(address + offset, length);
                // The mapping ended with the connection.
                let _ = connection.ask(what, unmap);
            }
        }
        // The server has a mapping of its own and may still write the file, but no memory of this process.
        true
    }
}
