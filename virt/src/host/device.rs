//! A virtual device: the objects of its guest, within its quota.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use stellar_driver::{AsyncEvent, Context, MediatedQueuePair, MemoryRegion, ProtectionDomain};
use stellar_wire::vstellar::{GuestCounters, GuestEvent, GuestQuota, Status};
use virtio_queue::Queue;
use vm_memory::GuestMemoryMmap;

use super::convert;
use crate::layout::GuestLayout;
use crate::pvdma::{GuestId, Pvdma};
use crate::window::DoorbellWindow;

/// Number of events that may wait for their guest; further ones are lost.
const MOST_EVENTS: usize = 64;

/// Guest memory and its addresses.
#[derive(Clone)]
pub struct GuestMachine {
    /// The memory, as this process has it mapped.
    pub memory: Arc<GuestMemoryMmap>,
    /// Guest addresses of the memory and of the shared-memory region.
    pub layout: Arc<GuestLayout>,
}

/// Objects by handle. The quota limits their number.
pub(super) struct Objects<T> {
    most: u32,
    next: u32,
    pub all: BTreeMap<u32, T>,
}

impl<T> Objects<T> {
    pub const fn new(most: u32) -> Self {
        Self {
            most,
            next: 1,
            all: BTreeMap::new(),
        }
    }

    pub fn check_quota(&self) -> Result<(), Status> {
        if (self.all.len() as u32) < self.most {
            Ok(())
        } else {
            Err(Status::Quota)
        }
    }

    /// Adds an object under a new handle. A freed handle is reused as late as possible.
    pub fn add(&mut self, object: T) -> u32 {
        while self.all.contains_key(&self.next) {
            self.next = self.next.wrapping_add(1);
        }
        let handle = self.next;
        self.next = handle.wrapping_add(1);
        self.all.insert(handle, object);
        handle
    }

    pub fn get(&self, handle: u32) -> Result<&T, Status> {
        self.all.get(&handle).ok_or(Status::BadHandle)
    }

    pub fn remove(&mut self, handle: u32) -> Result<T, Status> {
        self.all.remove(&handle).ok_or(Status::BadHandle)
    }
}

pub(super) struct Region {
    /// Dropping this deregisters the region.
    pub _registered: MemoryRegion,
    pub pd: u32,
    pub pages: u32,
}

pub(super) struct QueuePair {
    pub qp: MediatedQueuePair,
    pub pd: u32,
    pub cq: u32,
}

/// A virtual device. Rust drops the fields in this order, which is the order in which they must go.
pub(super) struct VirtualDevice {
    pub guest: GuestId,
    pub machine: GuestMachine,
    pub pvdma: Pvdma,
    pub queue: Queue,
    /// The guest's driver broke the rules of the control queue; it must configure the queue again.
    pub is_broken: bool,
    pub quota: GuestQuota,
    /// Queue pairs by their number on the card.
    pub queue_pairs: Objects<QueuePair>,
    /// Regions by their key.
    pub regions: Objects<Region>,
    /// Number of entries, by handle.
    pub completion_queues: Objects<u32>,
    pub domains: Objects<ProtectionDomain>,
    pub window: DoorbellWindow,
    pub context: Context,
    events: VecDeque<GuestEvent>,
    pub done: u64,
    pub refused: u64,
    pub unanswerable: u64,
    doorbells_refused: u64,
}

impl VirtualDevice {
    pub fn new(
        (guest, machine): (GuestId, GuestMachine),
        context: Context,
        pvdma: Pvdma,
        queue: Queue,
        quota: GuestQuota,
    ) -> Self {
        Self {
            guest,
            machine,
            pvdma,
            queue,
            is_broken: false,
            quota,
            queue_pairs: Objects::new(quota.queue_pairs),
            regions: Objects::new(quota.regions),
            completion_queues: Objects::new(quota.completion_queues),
            domains: Objects::new(quota.domains),
            window: DoorbellWindow::new(context.doorbells()),
            context,
            events: VecDeque::new(),
            done: 0,
            refused: 0,
            unanswerable: 0,
            doorbells_refused: 0,
        }
    }

    /// Pages of all its regions.
    pub fn pages(&self) -> u32 {
        self.regions.all.values().map(|region| region.pages).sum()
    }

    /// Collects the events that the card has reported for it: at most [`MOST_EVENTS`], because a guest can make new ones while this runs.
    pub fn collect_events(&mut self) -> Result<(), stellar_driver::Error> {
        for _ in 0..MOST_EVENTS {
            let Some(event) = self.context.poll_event()? else {
                break;
            };
            if let AsyncEvent::DoorbellRefused { .. } = event {
                self.doorbells_refused += 1;
            }
            if let Some(event) = convert::event(event).filter(|_| self.events.len() < MOST_EVENTS) {
                self.events.push_back(event);
            }
        }
        Ok(())
    }

    pub fn next_event(&mut self) -> Option<GuestEvent> {
        self.events.pop_front()
    }

    pub fn counters(&self) -> GuestCounters {
        GuestCounters {
            done: self.done,
            refused: self.refused,
            unanswerable: self.unanswerable,
            doorbells_refused: self.doorbells_refused,
            window_faults: self.window.faults(),
        }
    }
}

impl Drop for VirtualDevice {
    /// Stops the doorbells before anything else is released.
    fn drop(&mut self) {
        self.window.revoke();
    }
}
