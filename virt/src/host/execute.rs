//! Execution of requests. Every handle is looked up among the device's own objects, and every guest address in its guest's memory.

use std::sync::Arc;

use stellar_driver::{AccessFlags, ForeignRings, Hold, PageSize, Pages, DEFAULT_WRITE_IMM};
use stellar_wire::vstellar::{
    Answer, CreateQp, DeviceInfo, GuestPaths, RegisterMr, Request, Status, Step, PAGE_ENTRY,
};
use vm_memory::{Bytes, GuestAddress};

use super::convert;
use super::device::{QueuePair, Region, VirtualDevice};
use crate::pvdma::Lease;

/// Largest size of a completion queue in a request.
const MOST_COMPLETIONS: u32 = 1 << 20;

impl VirtualDevice {
    /// Executes a request. The answer has at most `space` bytes, at least [`stellar_wire::vstellar::MOST_ANSWER`].
    ///
    /// # Errors
    /// The status for the reply. Nothing has changed then, unless the card failed.
    pub fn execute(&mut self, request: &Request, space: usize) -> Result<Answer, Status> {
        match *request {
            Request::QueryDevice => Ok(Answer::Device(self.info())),
            Request::AllocPd => self.alloc_pd(),
            Request::DeallocPd { pd } => self.dealloc_pd(pd),
            Request::RegisterMr(ref region) => self.register(region),
            Request::DeregisterMr { key } => {
                drop(self.regions.remove(key)?);
                Ok(Answer::Done)
            }
            Request::CreateCq { entries } => self.create_cq(entries),
            Request::DestroyCq { cq } => self.destroy_cq(cq),
            Request::CreateQp(ref qp) => self.create_qp(qp),
            Request::ModifyQp { qp, step } => self.modify_qp(qp, step),
            Request::QueryQp { qp } => {
                self.collect()?;
                let state = self.queue_pairs.get(qp)?.qp.state();
                Ok(Answer::State(convert::state(state)))
            }
            Request::DestroyQp { qp } => {
                drop(self.queue_pairs.remove(qp)?);
                Ok(Answer::Done)
            }
            Request::UsePath { qp, index, denied } => self.use_path(qp, index, denied),
            Request::QueryPaths { qp, first } => {
                self.query_paths(qp, first, GuestPaths::most(space))
            }
            Request::QueryCounters => {
                self.collect()?;
                Ok(Answer::Counters(self.counters()))
            }
            Request::NextEvent => {
                self.collect()?;
                Ok(Answer::Event(self.next_event()))
            }
        }
    }

    fn collect(&mut self) -> Result<(), Status> {
        self.collect_events()
            .map_err(|error| convert::status(&error))
    }

    fn info(&self) -> DeviceInfo {
        DeviceInfo {
            device: self.context.page().into(),
            quota: self.quota,
            doorbell_offset: 0,
            ports: self.context.device().config().ports.map(convert::port),
        }
    }

    fn alloc_pd(&mut self) -> Result<Answer, Status> {
        self.domains.check_quota()?;
        let domain = self.context.alloc_pd();
        let domain = domain.map_err(|error| convert::status(&error))?;
        Ok(Answer::Handle(self.domains.add(domain)))
    }

    fn dealloc_pd(&mut self, pd: u32) -> Result<Answer, Status> {
        self.domains.get(pd)?;
        let in_region = self.regions.all.values().any(|region| region.pd == pd);
        if in_region || self.queue_pairs.all.values().any(|qp| qp.pd == pd) {
            return Err(Status::Busy);
        }
        self.domains.remove(pd)?;
        Ok(Answer::Done)
    }

    /// Pins a range, all of which must be guest memory.
    fn acquire(&self, address: u64, length: u64) -> Result<Lease, Status> {
        if !self.machine.layout.is_memory(address, length) {
            return Err(Status::BadAddress);
        }
        let lease = self.pvdma.acquire(self.guest, address, length);
        lease.map_err(|error| convert::memory_status(&error))
    }

    /// The guest addresses in a page list. The list is read once, so later writes of the guest to it have no effect.
    fn page_list(&self, region: &RegisterMr) -> Result<Vec<u64>, Status> {
        let length = u64::from(region.pages) * PAGE_ENTRY;
        if !self.machine.layout.is_memory(region.list, length) {
            return Err(Status::BadAddress);
        }
        let mut bytes = vec![0; length as usize];
        let list = GuestAddress(region.list);
        let read = self.machine.memory.read_slice(&mut bytes, list);
        read.map_err(|_| Status::BadAddress)?;
        let entries = bytes.chunks_exact(PAGE_ENTRY as usize);
        let address = |entry: &[u8]| entry.try_into().map(u64::from_le_bytes);
        let addresses: Result<_, _> = entries.map(address).collect();
        addresses.map_err(|_| Status::BadAddress)
    }

    fn register(&mut self, region: &RegisterMr) -> Result<Answer, Status> {
        let domain = self.domains.get(region.pd)?.clone();
        self.regions.check_quota()?;
        let pages = self.pages().checked_add(region.pages);
        if pages.is_none_or(|pages| pages > self.quota.pages) {
            return Err(Status::Quota);
        }
        let size = match region.page_log2 {
            21 => PageSize::Size2M,
            _ => PageSize::Size4K,
        };
        let list = self.page_list(region)?;
        if list.iter().any(|page| page % size.bytes() != 0) {
            return Err(Status::BadAddress);
        }
        let (addresses, leases) = self.acquire_pages(&list, size.bytes())?;
        let pages = Pages {
            size,
            addresses,
            base: region.address,
            device: 0,
        };
        let access = AccessFlags {
            remote_write: region.remote_write,
            remote_read: region.remote_read,
            remote_atomic: false,
        };
        let hold: Hold = Arc::new(leases);
        // SAFETY: the leases keep the pages mapped until `hold` is dropped, and `acquire` refuses memory that is not this guest's.
        #[allow(unsafe_code)]
        let registered = unsafe { domain.register_mapped(pages, access, hold) };
        let registered = registered.map_err(|error| convert::status(&error))?;
        let key = registered.rkey();
        let region = Region {
            _registered: registered,
            pd: region.pd,
            pages: region.pages,
        };
        self.regions.all.insert(key, region);
        Ok(Answer::Handle(key))
    }

    /// Leases of pages of `size` bytes, and the IO virtual address of each page. Contiguous pages share a lease.
    fn acquire_pages(&self, list: &[u64], size: u64) -> Result<(Vec<u64>, Vec<Lease>), Status> {
        let mut addresses = Vec::with_capacity(list.len());
        let mut leases = Vec::new();
        for run in list.chunk_by(|page, next| page.checked_add(size) == Some(*next)) {
            let lease = self.acquire(run[0], size * run.len() as u64)?;
            addresses.extend((0..run.len() as u64).map(|page| lease.iova() + page * size));
            leases.push(lease);
        }
        Ok((addresses, leases))
    }

    fn create_cq(&mut self, entries: u32) -> Result<Answer, Status> {
        if !entries.is_power_of_two() || entries > MOST_COMPLETIONS {
            return Err(Status::Attribute);
        }
        self.completion_queues.check_quota()?;
        Ok(Answer::Handle(self.completion_queues.add(entries)))
    }

    fn destroy_cq(&mut self, cq: u32) -> Result<Answer, Status> {
        self.completion_queues.get(cq)?;
        if self.queue_pairs.all.values().any(|qp| qp.cq == cq) {
            return Err(Status::Busy);
        }
        self.completion_queues.remove(cq)?;
        Ok(Answer::Done)
    }

    fn create_qp(&mut self, asked: &CreateQp) -> Result<Answer, Status> {
        let domain = self.domains.get(asked.pd)?.clone();
        let completion_entries = *self.completion_queues.get(asked.cq)?;
        self.queue_pairs.check_quota()?;
        let mut rings = ForeignRings {
            send: asked.send_ring,
            send_entries: asked.send_entries,
            completions: asked.completion_ring,
            completion_entries,
        };
        // The sizes are checked before memory is pinned, so an invalid queue pins nothing.
        rings.check().map_err(|error| convert::status(&error))?;
        let send = self.acquire(asked.send_ring, rings.send_bytes())?;
        let completions = self.acquire(asked.completion_ring, rings.completion_bytes())?;
        rings.send = send.iova();
        rings.completions = completions.iova();
        let hold: Hold = Arc::new([send, completions]);
        // SAFETY: the leases keep both rings mapped until `hold` is dropped, and `acquire` refuses memory that is not this guest's.
        #[allow(unsafe_code)]
        let created = unsafe { domain.create_mediated_qp(rings, hold) };
        let qp = created.map_err(|error| convert::status(&error))?;
        let number = qp.number();
        let (pd, cq) = (asked.pd, asked.cq);
        let qp = QueuePair { qp, pd, cq };
        self.queue_pairs.all.insert(number, qp);
        Ok(Answer::Handle(number))
    }

    fn modify_qp(&mut self, qp: u32, step: Step) -> Result<Answer, Status> {
        if let Step::Rtr(ready) = step {
            // More would be other devices' share of the card's stash.
            if ready.max_write_imm > DEFAULT_WRITE_IMM {
                return Err(Status::Attribute);
            }
        }
        self.collect()?;
        let modified = self.queue_pairs.get(qp)?.qp.modify(convert::step(step));
        modified.map_err(|error| convert::status(&error))?;
        Ok(Answer::Done)
    }

    fn use_path(&mut self, qp: u32, index: u8, denied: bool) -> Result<Answer, Status> {
        self.collect()?;
        let qp = &self.queue_pairs.get(qp)?.qp;
        let used = if denied {
            qp.deny_path(index)
        } else {
            qp.allow_path(index)
        };
        used.map_err(|error| convert::status(&error))?;
        Ok(Answer::Done)
    }

    fn query_paths(&mut self, qp: u32, first: u8, most: usize) -> Result<Answer, Status> {
        self.collect()?;
        let qp = &self.queue_pairs.get(qp)?.qp;
        let all = qp.counted_paths();
        let counts = all.and_then(|all| Ok((all, qp.path_counts(first.into(), most)?)));
        let (all, counts) = counts.map_err(|error| convert::status(&error))?;
        Ok(Answer::Paths(GuestPaths {
            all: all as u8,
            paths: counts.into_iter().map(convert::path_counts).collect(),
        }))
    }
}
