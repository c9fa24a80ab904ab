//! One host: its NIC, its registered memory, its send queues, and its completions.

use std::collections::BTreeMap;
use std::ops::Range;

use rand::seq::SliceRandom;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use sim_net::{HostId, Time};
use stellar_transport::requester::SqRing;
use stellar_transport::rx::{EmttRow, Owner, TableWrite, Tables};
use stellar_transport::time::Ticks;
use stellar_wire::host::{Cqe, Doorbell, Eqe, Wqe, WqeSize};

use crate::region::region_write;
use crate::{Nic, Plan, Region, RegionId, RegionSpec, WorldError};

/// First bus address of host pages (IO virtual addresses) and of the GPU's memory window.
const FIRST_ADDRESS: [u64; 2] = [0x0001_0000_0000, 0x0020_0000_0000];
/// Memory of rings is mapped in units of this size: a page of the IOMMU, as a driver has it from huge pages.
pub const RING_PAGE: u64 = 1 << 21;
/// Rings begin at multiples of this.
const RING_ALIGN: u64 = 4096;
/// Distance between the virtual addresses of two regions, more than the largest region.
const VA_STRIDE: u64 = 1 << 36;

/// A completion with its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completed {
    /// Time of the completion, in picoseconds.
    pub time: Time,
    /// The completion queue entry.
    pub cqe: Cqe,
}

/// A send queue in host memory, as its driver sees it.
struct SendRing {
    page: u32,
    ring: SqRing,
    /// WRITEs of up to so many bytes have them as inline data.
    inline_bytes: u32,
    /// Next entry to write, modulo 2^16.
    producer: u16,
    /// Entries without completion.
    pending: u32,
}

/// Space for rings, in pages of [`RING_PAGE`]. Rings share a page while it has space, so few entries of an IOTLB hold all of them.
#[derive(Clone, Debug, Default)]
pub struct RingSpace {
    /// What is free of the pages that were added last.
    free: Range<u64>,
}

impl RingSpace {
    /// Takes space for a ring of `bytes` bytes, and returns its address. `add` adds this number of contiguous pages and returns the address of the first one.
    pub fn take(&mut self, bytes: u64, add: impl FnOnce(u64) -> u64) -> u64 {
        let length = bytes.next_multiple_of(RING_ALIGN);
        if self.free.end - self.free.start < length {
            let pages = length.div_ceil(RING_PAGE);
            let first = add(pages);
            self.free = first..first + pages * RING_PAGE;
        }
        let base = self.free.start;
        self.free.start += length;
        base
    }
}

/// The state of a port.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PortState {
    /// The NIC may have something to send.
    pub awake: bool,
    /// The port is busy until then.
    pub free: Time,
}

/// A host with its NIC.
pub struct Host<N> {
    pub(crate) id: HostId,
    name: String,
    /// In a box, for it goes from thread to thread.
    pub(crate) nic: Box<N>,
    regions: Vec<Region>,
    /// Regions that are deregistered and still mapped.
    leaving: Vec<RegionId>,
    next_emtt: u32,
    /// Next free bus address: host, GPU.
    next_address: [u64; 2],
    rings: BTreeMap<u32, SendRing>,
    ring_space: RingSpace,
    /// One for each plane.
    pub(crate) ports: Vec<PortState>,
    /// Time of the NIC's next timer, cached.
    pub(crate) deadline: Option<Time>,
    pub(crate) completions: Vec<Completed>,
    pub(crate) events: Vec<(Time, Eqe)>,
    rng: ChaCha8Rng,
}

impl<N: Nic> Host<N> {
    pub(crate) fn new(id: HostId, name: &str, planes: usize, nic: N, rng: ChaCha8Rng) -> Self {
        Self {
            id,
            name: name.into(),
            nic: Box::new(nic),
            regions: Vec::new(),
            leaving: Vec::new(),
            next_emtt: 0,
            next_address: FIRST_ADDRESS,
            rings: BTreeMap::new(),
            ring_space: RingSpace::default(),
            ports: vec![PortState::default(); planes],
            deadline: None,
            completions: Vec::new(),
            events: Vec::new(),
            rng,
        }
    }

    /// The host's name in the topology.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The host's NIC.
    pub const fn nic(&self) -> &N {
        &self.nic
    }

    /// Completions in order.
    pub fn completions(&self) -> &[Completed] {
        &self.completions
    }

    /// Events of the NIC, with their times.
    pub fn events(&self) -> &[(Time, Eqe)] {
        &self.events
    }

    /// Returns the region `id` of this host.
    pub fn region(&self, id: RegionId) -> &Region {
        &self.regions[id.0]
    }

    /// Allocates bus addresses for `count` pages of `size` bytes, aligned to their size.
    fn take_addresses(&mut self, owner: Owner, size: u64, count: u64) -> u64 {
        let next = &mut self.next_address[usize::from(owner == Owner::Gpu)];
        let first = next.next_multiple_of(size);
        *next = first + size * count;
        first
    }

    /// Registers memory in a protection domain: pages in random places, translations, region.
    pub(crate) fn register(&mut self, pd: u32, spec: RegionSpec) -> Result<RegionId, WorldError> {
        let size = spec.page_size.bytes();
        let index = self.regions.len() as u32;
        let count = (spec.skew + spec.length.max(1)).div_ceil(size);
        check_free("memory region", 1, Tables::MRS - index)?;
        check_free("eMTT", count, Tables::EMTT - self.next_emtt)?;
        let first = self.take_addresses(spec.owner, size, count);
        let mut pages: Vec<u64> = (0..count).map(|page| first + page * size).collect();
        pages.shuffle(&mut self.rng);
        let first_emtt = self.next_emtt;
        self.next_emtt += count as u32;
        for (index, &page) in (first_emtt..).zip(&pages) {
            self.nic.memory_mut().map(spec.owner, page, size);
            self.nic.write_table(&TableWrite::Emtt {
                index,
                entry: EmttRow {
                    valid: true,
                    owner: spec.owner,
                    device: 0,
                    frame: page >> 12,
                },
            })?;
        }
        let key: u8 = self.rng.random();
        let region = Region {
            owner: spec.owner,
            key: index << 8 | u32::from(key),
            va: (u64::from(index) + 1) * VA_STRIDE + spec.skew,
            length: spec.length,
            pd,
            page_size: spec.page_size,
            pages,
            first_emtt,
        };
        self.nic.write_table(&region_write(&region, true))?;
        self.regions.push(region);
        Ok(RegionId(index as usize))
    }

    /// Deregisters memory: first the region, then its translations, and behind a fence the pages are unmapped. After that the NIC must not access
    /// them.
    pub(crate) fn deregister(&mut self, id: RegionId) -> Result<(), WorldError> {
        let region = &self.regions[id.0];
        self.nic.write_table(&region_write(region, false))?;
        for (index, _) in (region.first_emtt..).zip(&region.pages) {
            let entry = EmttRow::default();
            self.nic.write_table(&TableWrite::Emtt { index, entry })?;
        }
        self.nic.fence();
        self.leaving.push(id);
        self.unmap_fenced();
        Ok(())
    }

    /// Unmaps the pages of deregistered regions after the fence of the NIC.
    fn unmap_fenced(&mut self) {
        if self.leaving.is_empty() || !self.nic.is_fenced() {
            return;
        }
        for id in self.leaving.drain(..) {
            let region = &self.regions[id.0];
            for &page in &region.pages {
                self.nic.memory_mut().unmap(region.owner, page);
            }
        }
    }

    /// Puts a send queue in host memory for queue pair `qp`, which `page` owns.
    pub(crate) fn add_ring(
        &mut self,
        qp: u32,
        page: u32,
        plan: &Plan,
    ) -> Result<SqRing, WorldError> {
        let inline_bytes = plan.inline_bytes;
        let entry = WqeSize::for_inline(inline_bytes as usize);
        let entry = entry.ok_or(WorldError::InlineBytes(inline_bytes))?;
        let log2_entries = plan.sq_log2;
        let bytes = (entry.bytes() as u64) << log2_entries;
        let mut space = self.ring_space.clone();
        let base = space.take(bytes, |pages| {
            let first = self.take_addresses(Owner::Host, RING_PAGE, pages);
            let memory = self.nic.memory_mut();
            memory.map(Owner::Host, first, pages * RING_PAGE);
            first
        });
        self.ring_space = space;
        let ring = SqRing {
            base,
            log2_entries,
            entry,
        };
        let state = SendRing {
            page,
            ring,
            inline_bytes,
            producer: 0,
            pending: 0,
        };
        self.rings.insert(qp, state);
        Ok(ring)
    }

    /// Bytes of a region that a WRITE of queue pair `qp` has as inline data; `None` if it is longer than those that have.
    pub(crate) fn inline_data(
        &self,
        qp: u32,
        (region, offset): (RegionId, u64),
        length: u32,
    ) -> Option<Vec<u8>> {
        let most = self.rings.get(&qp)?.inline_bytes;
        if most == 0 || length > most {
            return None;
        }
        let region = self.region(region);
        let mut data = vec![0; length as usize];
        let mut rest = data.as_mut_slice();
        for (address, count) in region.parts(offset, length.into()) {
            let (part, behind) = rest.split_at_mut(count as usize);
            self.nic.memory().load(region.owner, address, part);
            rest = behind;
        }
        Some(data)
    }

    /// Writes a work queue entry, as a driver does. It is not posted before the doorbell rings.
    pub(crate) fn write_entry(&mut self, qp: u32, mut wqe: Wqe) -> Result<(), WorldError> {
        let Some(queue) = self.rings.get_mut(&qp) else {
            let host = self.name.clone();
            return Err(WorldError::UnknownQp { host, qp });
        };
        let entries = 1 << queue.ring.log2_entries;
        if queue.pending == entries {
            return Err(WorldError::SendQueueFull { qp, entries });
        }
        wqe.slot = queue.producer;
        let address = queue.ring.address_of(queue.producer);
        let memory = self.nic.memory_mut();
        memory.store(
            Owner::Host,
            address,
            &wqe.to_long_bytes()[..queue.ring.entry.bytes()],
        );
        queue.producer = queue.producer.wrapping_add(1);
        queue.pending += 1;
        Ok(())
    }

    /// Rings the doorbell of a queue pair: posts all entries that were written.
    pub(crate) fn ring(&mut self, qp: u32) -> Result<(), WorldError> {
        let Some(queue) = self.rings.get(&qp) else {
            let host = self.name.clone();
            return Err(WorldError::UnknownQp { host, qp });
        };
        let doorbell = Doorbell {
            qp,
            producer: queue.producer,
        };
        Ok(self.nic.ring_doorbell(queue.page, doorbell)?)
    }

    /// Work requests without completion.
    pub fn pending(&self) -> u64 {
        self.rings
            .values()
            .map(|ring| u64::from(ring.pending))
            .sum()
    }

    /// Queue pairs with work requests without completion.
    fn busy_qps(&self) -> Vec<u32> {
        let busy = self.rings.iter().filter(|(_, ring)| ring.pending > 0);
        busy.map(|(&qp, _)| qp).collect()
    }

    /// Reads the completions of one queue pair.
    pub(crate) fn poll_cq(&mut self, qp: u32, time: Time) {
        while let Some(cqe) = self.nic.poll_cq(qp) {
            if let (false, Some(ring)) = (cqe.opcode.is_receive(), self.rings.get_mut(&qp)) {
                ring.pending = ring.pending.saturating_sub(1);
            }
            self.completions.push(Completed { time, cqe });
        }
    }

    /// Reads events, and the completions of every queue pair that may have some.
    pub(crate) fn poll_all(&mut self, time: Time) {
        self.unmap_fenced();
        let completed = self.nic.take_completed();
        for qp in completed.unwrap_or_else(|| self.busy_qps()) {
            self.poll_cq(qp, time);
        }
        while let Some(event) = self.nic.poll_event() {
            self.events.push((time, event));
        }
    }

    /// Whether a timer of the NIC is due.
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }

    /// Executes the timers that are due, and reads what follows from them.
    pub(crate) fn run_timers(&mut self, now: Time) {
        if !self.is_due(now) {
            return;
        }
        self.nic.on_timer(now);
        self.poll_all(now);
        self.wake(now);
        // A deadline is a lower bound. A deadline that has passed without effect must not keep time from advancing.
        let next = Ticks::PICOSECONDS + now;
        self.deadline = self.deadline.map(|deadline| deadline.max(next));
    }

    /// Lets the NIC check whether it can send now.
    pub(crate) fn wake(&mut self, now: Time) {
        for port in &mut self.ports {
            port.awake = true;
        }
        self.deadline = self.nic.next_deadline(now);
    }
}

fn check_free(table: &'static str, wanted: u64, free: u32) -> Result<(), WorldError> {
    let free = free.into();
    if wanted <= free {
        Ok(())
    } else {
        Err(WorldError::TableFull {
            table,
            wanted,
            free,
        })
    }
}
