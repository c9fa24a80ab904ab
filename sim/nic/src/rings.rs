//! The driver's rings in host memory: completion queues and the event queue.

use std::collections::{BTreeMap, BTreeSet};

use sim_world::{BadAccess, HostMemory, MappingChange, RingSpace, RING_PAGE};
use stellar_transport::endpoint::{Memory, MemoryFault};
use stellar_transport::rx::{Owner, WriteTlp};
use stellar_wire::host::{ConsumerIndex, Cqe, Eqe};

use crate::pcie::HostSide;

/// First bus address of the rings.
pub const RINGS: u64 = 0x00f0_0000_0000;

/// A ring, as its reader sees it.
struct Ring {
    base: u64,
    log2_entries: u8,
    /// Entries read, modulo 2^24, and those of them that the card knows of.
    taken: u32,
    told: u32,
}

impl Ring {
    /// The bytes of the next entry, and the phase of a new entry.
    fn next<const N: usize>(&self, memory: &HostMemory) -> ([u8; N], bool) {
        let entries = 1 << self.log2_entries;
        let mut bytes = [0; N];
        let at = self.base + u64::from(self.taken % entries) * N as u64;
        memory.load(Owner::Host, at, &mut bytes);
        (bytes, (self.taken / entries).is_multiple_of(2))
    }

    fn take(&mut self) {
        self.taken = (self.taken + 1) % (1 << 24);
    }

    /// The consumer index, if the card does not know it.
    fn tell(&mut self) -> Option<u32> {
        let told = std::mem::replace(&mut self.told, self.taken);
        (told != self.taken).then_some(self.taken)
    }

    /// Whether the card does not know of a quarter of the ring.
    const fn is_due(&self) -> bool {
        let untold = self.taken.wrapping_sub(self.told) % (1 << 24);
        4 * untold >= 1 << self.log2_entries
    }
}

/// All rings, and their memory.
pub struct Rings {
    pub memory: HostMemory,
    queues: BTreeMap<u32, Ring>,
    events: Option<Ring>,
    /// The next page of rings.
    next: u64,
    space: RingSpace,
    /// Queue pair by first address of the ring, none for that of events, and queue pairs to whose rings the card wrote since [`Self::take_written`].
    owners: BTreeMap<u64, Option<u32>>,
    written: BTreeSet<u32>,
    /// The card has written to the ring of events since the last look that found none.
    may_have_event: bool,
}

impl Rings {
    /// Memory without rings.
    pub fn new() -> Self {
        Self {
            memory: HostMemory::new(0),
            queues: BTreeMap::new(),
            events: None,
            next: RINGS,
            space: RingSpace::default(),
            owners: BTreeMap::new(),
            written: BTreeSet::new(),
            may_have_event: false,
        }
    }

    /// Memory for a ring of entries of `size` bytes, zeroed.
    fn allocate(&mut self, log2_entries: u8, size: usize) -> Ring {
        let bytes = size << log2_entries;
        let (next, memory) = (&mut self.next, &mut self.memory);
        let base = self.space.take(bytes as u64, |pages| {
            let first = *next;
            *next += pages * RING_PAGE;
            memory.map(Owner::Host, first, pages * RING_PAGE);
            first
        });
        self.memory.store(Owner::Host, base, &vec![0; bytes]);
        Ring {
            base,
            log2_entries,
            taken: 0,
            told: 0,
        }
    }

    /// Makes a queue pair's completion queue; returns its bus address.
    pub fn add_queue(&mut self, qp: u32, log2_entries: u8) -> u64 {
        let ring = self.allocate(log2_entries, Cqe::LEN);
        let base = ring.base;
        self.owners.insert(base, Some(qp));
        self.queues.insert(qp, ring);
        base
    }

    /// Makes the event queue; returns its bus address.
    pub fn add_events(&mut self, log2_entries: u8) -> u64 {
        let ring = self.allocate(log2_entries, Eqe::LEN);
        let base = ring.base;
        self.owners.insert(base, None);
        self.events = Some(ring);
        base
    }

    /// Executes a write by the card.
    pub fn write(&mut self, tlp: &WriteTlp) {
        self.memory.write(tlp);
        match self.owners.range(..=tlp.address).next_back() {
            Some((_, Some(qp))) => {
                self.written.insert(*qp);
            }
            Some((_, None)) => self.may_have_event = true,
            None => {}
        }
    }

    /// Queue pairs whose completion queues the card wrote to since the last call.
    pub fn take_written(&mut self) -> Vec<u32> {
        if self.written.is_empty() {
            return Vec::new();
        }
        std::mem::take(&mut self.written).into_iter().collect()
    }

    /// The next completion of a queue pair, and the consumer index if it is to be written now. A completion of something received is told at once, because its
    /// peer may go on. Those of work requests are told when a quarter of the ring is read, or before the next doorbell ([`Self::tell`]): until then the
    /// card has no more of them to write than the ring has places.
    pub fn poll(&mut self, qp: u32) -> Option<(Cqe, Option<ConsumerIndex>)> {
        let ring = self.queues.get_mut(&qp)?;
        let (bytes, phase) = ring.next::<{ Cqe::LEN }>(&self.memory);
        let cqe = Cqe::from_bytes(&bytes).ok()?;
        if cqe.phase != phase {
            return None;
        }
        ring.take();
        let is_due = cqe.opcode.is_receive() || ring.is_due();
        let index = if is_due { self.tell(qp) } else { None };
        Some((cqe, index))
    }

    /// The consumer index of a queue pair's completion queue, if the card does not know it.
    pub fn tell(&mut self, qp: u32) -> Option<ConsumerIndex> {
        let index = self.queues.get_mut(&qp)?.tell()?;
        Some(ConsumerIndex {
            qp,
            index,
            arm: false,
        })
    }

    /// The next event, and the consumer index for the card.
    pub fn poll_event(&mut self) -> Option<(Eqe, ConsumerIndex)> {
        if !self.may_have_event {
            return None;
        }
        let ring = self.events.as_mut()?;
        let (bytes, phase) = ring.next::<{ Eqe::LEN }>(&self.memory);
        let eqe = Eqe::from_bytes(&bytes).ok()?;
        if eqe.phase != phase {
            self.may_have_event = false;
            return None;
        }
        ring.take();
        let index = ConsumerIndex {
            qp: 0,
            index: ring.taken,
            arm: false,
        };
        Some((eqe, index))
    }
}

/// What a card of a world reaches over PCIe: the host's memory, and the rings of its driver, which are not part of the world's memory.
pub struct HostBus {
    pub memory: HostMemory,
    pub rings: Rings,
}

impl HostBus {
    fn at(&mut self, address: u64) -> &mut HostMemory {
        if address >= RINGS {
            &mut self.rings.memory
        } else {
            &mut self.memory
        }
    }
}

impl Memory for HostBus {
    fn read(&mut self, address: u64, translated: bool, into: &mut [u8]) -> Result<(), MemoryFault> {
        self.at(address).read(address, translated, into)
    }

    fn write(&mut self, tlp: &WriteTlp) {
        if tlp.address >= RINGS {
            self.rings.write(tlp);
        } else {
            self.memory.write(tlp);
        }
    }
}

impl HostSide for HostBus {
    #[inline]
    fn take_mapping_changes(&mut self) -> Vec<MappingChange> {
        let mut changes = self.memory.take_mapping_changes();
        let of_rings = self.rings.memory.take_mapping_changes();
        if changes.is_empty() {
            return of_rings;
        }
        changes.extend(of_rings);
        changes
    }

    fn add_bad_access(&mut self, access: BadAccess) {
        self.at(access.address).add_bad_access(access);
    }
}
