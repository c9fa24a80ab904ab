//! Memory that a peer has mapped for its card: windows of bus addresses that show shared files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use sim_nic::HostSide;
use sim_world::{BadAccess, MappingChange};
use stellar_transport::endpoint::{Memory, MemoryFault};
use stellar_transport::rx::WriteTlp;
use stellar_wire::host::config_space::Function;
use vfio_user::DmaMapFlags;
use vm_memory::{Bytes, FileOffset, MmapRegion, VolatileMemory};

use crate::error::invalid;
use crate::ranges::{self, Ranged};

/// Bytes that a host writes in one piece: a cache line.
const LINE: u64 = 64;
/// Bytes of a line that become visible after all others.
const LEAD: usize = 8;

/// Device and inode, which identify a file.
type FileId = (u64, u64);

/// A range of bus addresses that shows a part of a file.
struct Window {
    length: u64,
    file: Arc<MmapRegion>,
    offset: u64,
    access: DmaMapFlags,
}

impl Ranged for Window {
    fn length(&self) -> u64 {
        self.length
    }
}

/// Memory of a peer. A file is mapped once, however many windows show parts of it.
#[derive(Default)]
pub struct PeerMemory {
    /// The windows by their first address. They do not overlap.
    windows: BTreeMap<u64, Window>,
    files: BTreeMap<FileId, Weak<MmapRegion>>,
    /// Accesses of the card that hit no window, or a window without that permission.
    bad_accesses: u64,
    /// Changes for the IOMMU in front of the card.
    changes: Vec<MappingChange>,
}

/// A part of a window: the mapping, the offset in it, and the length.
struct Part<'a> {
    window: &'a Window,
    at: usize,
    bytes: usize,
}

impl PeerMemory {
    /// Maps `length` bytes of a file from `offset` on at `address`.
    ///
    /// # Errors
    /// If the range is empty, wraps, lies over another, or does not lie inside the file.
    pub fn map(
        &mut self,
        address: u64,
        length: u64,
        file: File,
        offset: u64,
        access: DmaMapFlags,
    ) -> io::Result<()> {
        let end = address.checked_add(length).filter(|_| length > 0);
        let end = end.ok_or_else(|| invalid(format!("{length:#x} bytes at {address:#x}")))?;
        if ranges::overlaps(&self.windows, address, end) {
            let reason = format!("{address:#x} to {end:#x} lies over what is mapped already");
            return Err(invalid(reason));
        }
        let file = self.mapping(file, offset, length)?;
        let window = Window {
            length,
            file,
            offset,
            access,
        };
        self.windows.insert(address, window);
        self.changes.push(MappingChange::Mapped { address, length });
        Ok(())
    }

    /// The mapping of a whole file that has at least `offset + length` bytes.
    fn mapping(&mut self, file: File, offset: u64, length: u64) -> io::Result<Arc<MmapRegion>> {
        let metadata = file.metadata()?;
        let size = metadata.size();
        if offset.checked_add(length).is_none_or(|end| end > size) {
            let reason = format!("{length:#x} bytes from {offset:#x} on of a file of {size:#x}");
            return Err(invalid(reason));
        }
        let id = (metadata.dev(), metadata.ino());
        let known = self.files.get(&id).and_then(Weak::upgrade);
        if let Some(mapping) = known.filter(|mapping| mapping.size() as u64 >= offset + length) {
            return Ok(mapping);
        }
        let mapping = MmapRegion::from_file(FileOffset::new(file, 0), size as usize);
        let mapping = Arc::new(mapping.map_err(|error| invalid(error.to_string()))?);
        self.files.retain(|_, mapping| mapping.strong_count() > 0);
        self.files.insert(id, Arc::downgrade(&mapping));
        Ok(mapping)
    }

    /// Removes every window that lies inside a range; returns their number.
    pub fn unmap(&mut self, address: u64, length: u64) -> usize {
        let inside = ranges::inside(&self.windows, address, length);
        for &at in &inside {
            self.remove(at);
        }
        inside.len()
    }

    fn remove(&mut self, address: u64) {
        if let Some(Window { length, .. }) = self.windows.remove(&address) {
            self.changes
                .push(MappingChange::Unmapped { address, length });
        }
    }

    /// Removes all windows.
    pub fn clear(&mut self) {
        let all: Vec<u64> = self.windows.keys().copied().collect();
        for address in all {
            self.remove(address);
        }
        self.files.clear();
    }

    /// Number of windows.
    pub fn windows(&self) -> usize {
        self.windows.len()
    }

    /// Accesses of the card without a target, so far.
    pub const fn bad_accesses(&self) -> u64 {
        self.bad_accesses
    }

    /// The window at an address, and its length from there on, at most `most` bytes.
    fn part(&self, address: u64, most: usize) -> Option<Part<'_>> {
        let (start, window) = self.windows.range(..=address).next_back()?;
        let inside = address - start;
        let left = window.length.checked_sub(inside).filter(|left| *left > 0)?;
        Some(Part {
            window,
            at: (window.offset + inside) as usize,
            bytes: most.min(usize::try_from(left).unwrap_or(usize::MAX)),
        })
    }

    /// The parts of a range of addresses; `None` if it has a hole, or a window without that permission.
    fn parts(&self, address: u64, bytes: usize, access: DmaMapFlags) -> Option<Vec<Part<'_>>> {
        let mut parts = Vec::with_capacity(1);
        let mut done = 0;
        while done < bytes {
            let part = self.part(address.checked_add(done as u64)?, bytes - done)?;
            if !part.window.access.contains(access) {
                return None;
            }
            done += part.bytes;
            parts.push(part);
        }
        Some(parts)
    }

    /// Copies out of the windows; `false` if there is a hole or a window that may not be read.
    fn gather(&self, address: u64, into: &mut [u8]) -> bool {
        let Some(parts) = self.parts(address, into.len(), DmaMapFlags::READ) else {
            return false;
        };
        let mut rest = into;
        for part in parts {
            let (now, later) = rest.split_at_mut(part.bytes);
            let from = part.window.file.as_volatile_slice();
            from.read_slice(now, part.at)
                .expect("a window lies inside its mapping");
            rest = later;
        }
        true
    }

    /// Copies into the windows; `false` if there is a hole or a window that may not be written.
    fn scatter(&self, address: u64, bytes: &[u8]) -> bool {
        let Some(parts) = self.parts(address, bytes.len(), DmaMapFlags::WRITE) else {
            return false;
        };
        let (mut rest, mut here) = (bytes, address);
        for part in parts {
            let (now, later) = rest.split_at(part.bytes);
            part.put(here, now);
            here += part.bytes as u64;
            rest = later;
        }
        true
    }
}

impl Part<'_> {
    /// Writes line by line, as hosts do. The first word of a line becomes visible last, so software that sees it also sees the rest of the line. The
    /// phase of completions and events is in this word.
    fn put(&self, address: u64, bytes: &[u8]) {
        let to = self.window.file.as_volatile_slice();
        let (mut at, mut here, mut rest) = (self.at, address, bytes);
        let inside = "a window lies inside its mapping";
        while !rest.is_empty() {
            let line = (LINE - here % LINE).min(rest.len() as u64) as usize;
            let (now, later) = rest.split_at(line);
            let lead = now.first_chunk::<LEAD>().filter(|_| at % LEAD == 0);
            let tail = if lead.is_some() { LEAD } else { 0 };
            to.write_slice(&now[tail..], at + tail).expect(inside);
            if let Some(lead) = lead {
                let word = u64::from_ne_bytes(*lead);
                to.store(word, at, Ordering::Release).expect(inside);
            }
            (at, here, rest) = (at + line, here + line as u64, later);
        }
    }
}

impl Memory for PeerMemory {
    fn read(&mut self, address: u64, translated: bool, into: &mut [u8]) -> Result<(), MemoryFault> {
        // Final addresses belong to a GPU, which no peer has.
        if translated || !self.gather(address, into) {
            self.bad_accesses += 1;
            let length = into.len();
            tracing::debug!(
                "the card reads {length} bytes at {address:#x}: nothing is mapped there"
            );
            return Err(MemoryFault { address, length });
        }
        Ok(())
    }

    fn write(&mut self, tlp: &WriteTlp) {
        let enabled: Vec<(u64, u8)> = tlp.written().collect();
        // Enabled bytes are contiguous in every write, except in some writes of a few bytes.
        let is_written = tlp.at == 0
            && enabled
                .chunk_by(|a, b| a.0 + 1 == b.0)
                .all(|run| self.scatter(run[0].0, &run.iter().map(|b| b.1).collect::<Vec<_>>()));
        if !is_written {
            self.bad_accesses += 1;
            let (length, address) = (tlp.data.len(), tlp.address);
            tracing::debug!("the card writes {length} bytes at {address:#x}: nothing is mapped there to be written");
        }
    }
}

impl HostSide for PeerMemory {
    fn take_mapping_changes(&mut self) -> Vec<MappingChange> {
        std::mem::take(&mut self.changes)
    }

    /// The peer of the data function maps for that one.
    fn mapped_functions(&self) -> &'static [Function] {
        &[Function::Control]
    }

    fn add_bad_access(&mut self, access: BadAccess) {
        self.bad_accesses += 1;
        tracing::debug!("the PCIe fabric refuses an access of the card: {access:x?}");
    }
}

#[cfg(test)]
mod tests;
