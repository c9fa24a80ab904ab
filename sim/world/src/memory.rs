//! A host's memory as its NIC sees it over PCIe: host pages behind an IOMMU (AT = 00), and GPU pages at bus addresses (AT = 10). It is sparse, and
//! remembers every byte that the NIC wrote.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use sim_pcie::enabled_ranges;
use stellar_transport::endpoint::{Memory, MemoryFault};
use stellar_transport::rx::{Owner, WriteTlp};

/// Unit of storage in bytes: no TLP crosses a multiple of it.
const PAGE: u64 = 4096;

/// An access without memory behind it, or to the wrong kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadAccess {
    /// Address in the TLP.
    pub address: u64,
    /// Whether AT was 10.
    pub translated: bool,
    /// Whether it was a write.
    pub write: bool,
}

/// A change of what the IOMMU lets a NIC reach in host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappingChange {
    /// These bytes are mapped.
    Mapped {
        /// First address.
        address: u64,
        /// Length in bytes.
        length: u64,
    },
    /// These bytes are no longer mapped.
    Unmapped {
        /// First address.
        address: u64,
        /// Length in bytes.
        length: u64,
    },
}

/// Other memory behind a mapping, such as a guest's.
pub trait Backing: Send + Sync {
    /// Reads at an offset from the start of the mapping.
    fn read(&self, offset: u64, into: &mut [u8]);
    /// Writes there.
    fn write(&self, offset: u64, bytes: &[u8]);
}

struct Page {
    bytes: Box<[u8; PAGE as usize]>,
    /// Bit per byte: written by the NIC.
    written: Box<[u64; PAGE as usize / 64]>,
}

/// One address space.
struct Space {
    seed: u64,
    /// Mapped ranges: end by start. They do not overlap.
    mapped: BTreeMap<u64, u64>,
    /// The mappings that use other memory, by their start.
    backed: BTreeMap<u64, Arc<dyn Backing>>,
    pages: BTreeMap<u64, Page>,
    written: u64,
}

/// Memory of one host. Bytes that were never written contain a pattern of seed, address space and address, so that gigabytes of source data take no
/// storage.
pub struct HostMemory {
    host: Space,
    gpu: Space,
    bad_accesses: Vec<BadAccess>,
    /// Changes of host mappings since they were taken, if anybody takes them.
    changes: Option<Vec<MappingChange>>,
}

/// What splitmix64 adds to its state for each word (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Its state for a word of an address space.
fn state(seed: u64, word: u64) -> u64 {
    seed.wrapping_add(word.wrapping_mul(STEP))
}

/// Eight pattern bytes: its output in a state.
fn pattern(state: u64) -> [u8; 8] {
    let mut z = state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ z >> 31).to_le_bytes()
}

/// Fills `into` with the pattern of the bytes from `address` on.
fn fill_pattern(seed: u64, address: u64, into: &mut [u8]) {
    // Bytes before the first whole word of the pattern, and behind the last one.
    let before = ((8 - address % 8) % 8).min(into.len() as u64) as usize;
    let (head, rest) = into.split_at_mut(before);
    let lead = (address % 8) as usize;
    let mut state = state(seed, address / 8);
    if lead > 0 {
        head.copy_from_slice(&pattern(state)[lead..lead + before]);
        state = state.wrapping_add(STEP);
    }
    let (words, tail) = rest.as_chunks_mut::<8>();
    for eight in words {
        *eight = pattern(state);
        state = state.wrapping_add(STEP);
    }
    tail.copy_from_slice(&pattern(state)[..tail.len()]);
}

/// The runs of bytes that a write TLP enables, from its address on.
fn written_ranges(tlp: &WriteTlp) -> Vec<Range<usize>> {
    enabled_ranges(tlp.length_dw, tlp.first_be, tlp.last_be)
}

/// The bits of a range in a map of bits: words and their bits.
fn bit_runs(range: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    let mut at = range.start;
    std::iter::from_fn(move || {
        let (word, bit) = (at / 64, at % 64);
        let length = (64 - bit).min(range.end - at);
        at += length;
        (length > 0).then(|| (word, u64::MAX >> (64 - length) << bit))
    })
}

/// Bits that are set.
fn count(bits: u64) -> u64 {
    bits.count_ones().into()
}

/// The part of an access in one page.
struct Stretch {
    page: u64,
    offset: usize,
    /// The range of the access that these bytes are.
    bytes: Range<usize>,
}

/// An access, cut at page boundaries.
fn stretches(address: u64, length: usize) -> impl Iterator<Item = Stretch> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let here = address + at as u64;
        let offset = (here % PAGE) as usize;
        let bytes = at..(at + PAGE as usize - offset).min(length);
        at = bytes.end;
        (!bytes.is_empty()).then_some(Stretch {
            page: here / PAGE,
            offset,
            bytes,
        })
    })
}

impl Space {
    fn new(seed: u64) -> Self {
        Self {
            seed,
            mapped: BTreeMap::new(),
            backed: BTreeMap::new(),
            pages: BTreeMap::new(),
            written: 0,
        }
    }

    /// Start of the mapping that holds all of these bytes, if there is one.
    fn mapping(&self, address: u64, length: u64) -> Option<u64> {
        let (&start, &end) = self.mapped.range(..=address).next_back()?;
        let holds = address.checked_add(length).is_some_and(|last| last <= end);
        holds.then_some(start)
    }

    /// The other memory behind the mapping that begins at `start`, if there is one.
    fn backing(&self, start: u64) -> Option<&dyn Backing> {
        self.backed.get(&start).map(|backing| &**backing)
    }

    fn read(&self, address: u64, into: &mut [u8]) {
        for Stretch {
            page,
            offset,
            bytes,
        } in stretches(address, into.len())
        {
            let part = &mut into[bytes];
            match self.pages.get(&page) {
                Some(page) => part.copy_from_slice(&page.bytes[offset..offset + part.len()]),
                None => fill_pattern(self.seed, page * PAGE + offset as u64, part),
            }
        }
    }

    fn page_mut(&mut self, number: u64) -> &mut Page {
        let seed = self.seed;
        self.pages.entry(number).or_insert_with(|| {
            let mut bytes = Box::new([0; PAGE as usize]);
            fill_pattern(seed, number * PAGE, &mut bytes[..]);
            let written = Box::new([0; PAGE as usize / 64]);
            Page { bytes, written }
        })
    }

    fn store(&mut self, address: u64, from: &[u8]) {
        for Stretch {
            page,
            offset,
            bytes,
        } in stretches(address, from.len())
        {
            let part = &from[bytes];
            self.page_mut(page).bytes[offset..offset + part.len()].copy_from_slice(part);
        }
    }

    fn write_tlp(&mut self, tlp: &WriteTlp) {
        let mut fresh = 0;
        let start = (tlp.address % PAGE) as usize;
        let page = self.page_mut(tlp.address / PAGE);
        for range in written_ranges(tlp) {
            let place = start + range.start..start + range.end;
            page.bytes[place.clone()].copy_from_slice(&tlp.data[range]);
            for (word, bits) in bit_runs(place) {
                let word = &mut page.written[word];
                fresh += count(bits & !*word);
                *word |= bits;
            }
        }
        self.written += fresh;
    }

    fn written_in(&self, address: u64, length: u64) -> u64 {
        let written = |Stretch {
                           page,
                           offset,
                           bytes,
                       }: Stretch| {
            let page = self.pages.get(&page)?;
            let words = bit_runs(offset..offset + bytes.len());
            Some(
                words
                    .map(|(word, bits)| count(page.written[word] & bits))
                    .sum::<u64>(),
            )
        };
        stretches(address, length as usize)
            .filter_map(written)
            .sum()
    }
}

impl HostMemory {
    /// A memory without mappings. `seed` decides the pattern.
    pub fn new(seed: u64) -> Self {
        Self {
            host: Space::new(seed.wrapping_mul(2)),
            gpu: Space::new(seed.wrapping_mul(2) + 1),
            bad_accesses: Vec::new(),
            changes: None,
        }
    }

    fn space(&self, owner: Owner) -> &Space {
        match owner {
            Owner::Host => &self.host,
            Owner::Gpu => &self.gpu,
        }
    }

    fn space_mut(&mut self, owner: Owner) -> &mut Space {
        match owner {
            Owner::Host => &mut self.host,
            Owner::Gpu => &mut self.gpu,
        }
    }

    /// Maps `length` bytes at `address` for the NIC: an IOMMU mapping for host memory, a BAR window for a GPU's.
    pub fn map(&mut self, owner: Owner, address: u64, length: u64) {
        self.space_mut(owner)
            .mapped
            .insert(address, address + length);
        if owner == Owner::Host {
            self.note(MappingChange::Mapped { address, length });
        }
    }

    /// Removes the mapping of [`Self::map`] that starts at `address`: the NIC's next access there is a bad access.
    pub fn unmap(&mut self, owner: Owner, address: u64) {
        let space = self.space_mut(owner);
        let end = space.mapped.remove(&address);
        space.backed.remove(&address);
        if let (Some(end), Owner::Host) = (end, owner) {
            let length = end - address;
            self.note(MappingChange::Unmapped { address, length });
        }
    }

    fn note(&mut self, change: MappingChange) {
        if let Some(changes) = &mut self.changes {
            changes.push(change);
        }
    }

    /// Changes of the mappings of host memory since the last call, for an IOMMU in front of it. The first call returns those that exist.
    #[inline]
    pub fn take_mapping_changes(&mut self) -> Vec<MappingChange> {
        // A card asks in every cycle.
        if self.changes.as_ref().is_some_and(Vec::is_empty) {
            return Vec::new();
        }
        self.mapping_changes()
    }

    fn mapping_changes(&mut self) -> Vec<MappingChange> {
        match &mut self.changes {
            Some(changes) => std::mem::take(changes),
            None => {
                self.changes = Some(Vec::new());
                let mapped = self.host.mapped.iter();
                let change = |(&address, &end): (&u64, &u64)| MappingChange::Mapped {
                    address,
                    length: end - address,
                };
                mapped.map(change).collect()
            }
        }
    }

    /// Takes note of an access that an IOMMU refused in front of this memory.
    pub fn add_bad_access(&mut self, access: BadAccess) {
        self.bad_accesses.push(access);
    }

    /// Does what [`Self::map`] does, with `backing` as the memory that the NIC reads and writes.
    pub fn map_backed(&mut self, address: u64, length: u64, backing: Arc<dyn Backing>) {
        self.map(Owner::Host, address, length);
        self.host.backed.insert(address, backing);
    }

    /// Writes as the CPU or the GPU itself would.
    pub fn store(&mut self, owner: Owner, address: u64, bytes: &[u8]) {
        self.space_mut(owner).store(address, bytes);
    }

    /// Reads as the CPU or the GPU itself would.
    pub fn load(&self, owner: Owner, address: u64, into: &mut [u8]) {
        self.space(owner).read(address, into);
    }

    /// Bytes that the NIC has written, each counted once.
    pub fn written(&self) -> u64 {
        self.host.written + self.gpu.written
    }

    /// Bytes of a range that the NIC has written.
    pub fn written_in(&self, owner: Owner, address: u64, length: u64) -> u64 {
        self.space(owner).written_in(address, length)
    }

    /// Accesses without a mapping, in order.
    pub fn bad_accesses(&self) -> &[BadAccess] {
        &self.bad_accesses
    }

    fn owner(translated: bool) -> Owner {
        if translated {
            Owner::Gpu
        } else {
            Owner::Host
        }
    }
}

impl Memory for HostMemory {
    fn read(&mut self, address: u64, translated: bool, into: &mut [u8]) -> Result<(), MemoryFault> {
        let space = self.space(Self::owner(translated));
        let Some(start) = space.mapping(address, into.len() as u64) else {
            let length = into.len();
            self.bad_accesses.push(BadAccess {
                address,
                translated,
                write: false,
            });
            return Err(MemoryFault { address, length });
        };
        match space.backing(start) {
            Some(backing) => backing.read(address - start, into),
            None => space.read(address, into),
        }
        Ok(())
    }

    fn write(&mut self, tlp: &WriteTlp) {
        let translated = tlp.at == 0b10;
        let space = self.space_mut(Self::owner(translated));
        let length = tlp.data.len() as u64;
        if let Some(start) = space.mapping(tlp.address, length) {
            match space.backing(start) {
                Some(backing) => {
                    for range in written_ranges(tlp) {
                        let offset = tlp.address - start + range.start as u64;
                        backing.write(offset, &tlp.data[range]);
                    }
                }
                None => space.write_tlp(tlp),
            }
        } else {
            self.bad_accesses.push(BadAccess {
                address: tlp.address,
                translated,
                write: true,
            });
        }
    }
}
