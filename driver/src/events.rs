//! The event queues, and the contexts that their entries are for.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Weak};

use stellar_wire::host::config_space::Function;
use stellar_wire::host::{Eqe, EventKind, WcStatus};

use crate::error::Error;
use crate::limits::CARD_EVENTS;
use crate::on_demand::OnDemand;
use crate::qp::Shared;
use crate::ring::Ring;

/// Something that happened to a context's objects without a completion of its own (verbs: `ibv_async_event`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsyncEvent {
    /// A queue pair moved to the error state. The work requests that were posted complete with errors.
    QueuePairFatal {
        /// The queue pair.
        qp: u32,
        /// The reason. It is `None` for a status that this driver does not know.
        status: Option<WcStatus>,
    },
    /// A completion was lost: the ring of its queue pair was full. Further completions of the queue pair are lost without an event, and the queue pair moves to the
    /// error state ([`Self::QueuePairFatal`]). [`crate::CompletionQueue::poll`] returns an error when the ring is empty.
    CompletionLost {
        /// The queue pair.
        qp: u32,
        /// Identifier of the work request whose completion was lost.
        wr_id: u64,
    },
    /// The count of WRITEs with immediate that a queue pair received has reached the armed threshold.
    ImmediateThreshold {
        /// The queue pair.
        qp: u32,
        /// Number of WRITEs with immediate that the queue pair had received.
        count: u32,
    },
    /// A doorbell page wrote for a queue pair that it does not own.
    DoorbellRefused {
        /// The doorbell page that was written.
        page: u32,
        /// The queue pair that the doorbell named.
        qp: u32,
    },
    /// A payload to send could not be read by PCIe. [`Self::QueuePairFatal`] follows, unless the queue pair has failed already. Packets whose reads were under way at the same
    /// time have events of their own.
    PayloadReadFailed {
        /// The queue pair.
        qp: u32,
        /// Bus address of the first byte of the packet's payload, as the card has it in its translations.
        address: u64,
    },
    /// Send queue entries could not be read by PCIe. [`Self::QueuePairFatal`] follows, unless the queue pair has failed already.
    EntryReadFailed {
        /// The queue pair.
        qp: u32,
        /// Bus address of the first of up to eight entries.
        address: u64,
    },
    /// Payloads that the card has received may not be in memory: the flush read behind their writes failed. Each context with queue pairs gets this event.
    /// [`Self::QueuePairFatal`] follows for each queue pair that received one of these payloads.
    FlushReadFailed {
        /// The function whose writes they are.
        function: Function,
        /// Bus address of the last of these writes.
        address: u64,
    },
}

/// What was read from an event queue.
#[derive(Default)]
pub struct Collected {
    /// The entries, in order.
    pub entries: Vec<Eqe>,
    /// The consumer index for the card, which is the number of entries that were read so far. A bad entry counts as read.
    pub taken: u32,
    /// Why reading ended, if it was not because there are no more entries.
    pub error: Option<Error>,
}

/// Number of events that a context may leave unread until further refused doorbells are dropped: whoever rings them does not fill the memory.
const MOST_UNREAD: usize = 64;

/// The event queues, and the events that were read from them.
pub struct Events {
    /// Rings by the number of their event queue.
    rings: BTreeMap<u16, Ring>,
    /// Events that a context has not read yet, by the number of the context's doorbell page. Each context has an entry.
    waiting: BTreeMap<u16, VecDeque<AsyncEvent>>,
    queue_pairs: BTreeMap<u32, Weak<Shared>>,
    /// On-demand regions, by their key.
    regions: BTreeMap<u32, Weak<OnDemand>>,
    /// Page faults: the region, and the address of the packet's first byte.
    faults: Vec<(Arc<OnDemand>, u64)>,
}

impl Events {
    /// Events of this ring, which is the card's own.
    pub fn new(ring: Ring) -> Self {
        Self {
            rings: BTreeMap::from([(CARD_EVENTS, ring)]),
            waiting: BTreeMap::new(),
            queue_pairs: BTreeMap::new(),
            regions: BTreeMap::new(),
            faults: Vec::new(),
        }
    }

    /// Adds the ring of an event queue.
    pub fn add_ring(&mut self, queue: u16, ring: Ring) {
        self.rings.insert(queue, ring);
    }

    /// Removes and returns the ring of an event queue.
    pub fn remove_ring(&mut self, queue: u16) -> Option<Ring> {
        self.rings.remove(&queue)
    }

    /// Removes and returns all rings.
    pub fn take_rings(&mut self) -> BTreeMap<u16, Ring> {
        std::mem::take(&mut self.rings)
    }

    /// Adds a queue pair.
    pub fn add(&mut self, shared: &Arc<Shared>) {
        self.queue_pairs
            .insert(shared.number, Arc::downgrade(shared));
    }

    /// Removes it.
    pub fn remove(&mut self, qp: u32) {
        self.queue_pairs.remove(&qp);
    }

    /// Adds an on-demand region.
    pub fn add_region(&mut self, index: u32, memory: &Arc<OnDemand>) {
        self.regions.insert(index, Arc::downgrade(memory));
    }

    /// Removes an on-demand region.
    pub fn remove_region(&mut self, index: u32) {
        self.regions.remove(&index);
    }

    /// Whether page faults are possible.
    pub fn expect_faults(&self) -> bool {
        !self.regions.is_empty()
    }

    /// Page faults since the last call. The caller maps the pages after it has released the lock of this.
    pub fn take_faults(&mut self) -> Vec<(Arc<OnDemand>, u64)> {
        std::mem::take(&mut self.faults)
    }

    /// Adds a context.
    pub fn add_page(&mut self, page: u16) {
        self.waiting.insert(page, VecDeque::new());
    }

    /// Removes a context: the next one with its page must not get its events.
    pub fn forget_page(&mut self, page: u16) {
        self.waiting.remove(&page);
    }

    /// Returns the next event of a page among those that were read.
    pub fn next_of(&mut self, page: u16) -> Option<AsyncEvent> {
        self.waiting.get_mut(&page)?.pop_front()
    }

    /// Reads the entries that the card has written to an event queue.
    pub fn read(&mut self, queue: u16) -> Collected {
        let Some(ring) = self.rings.get_mut(&queue) else {
            return Collected::default();
        };
        let mut entries = Vec::new();
        let error = loop {
            match ring.take::<Eqe>() {
                Ok(Some(eqe)) => entries.push(eqe),
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        Collected {
            entries,
            taken: ring.taken(),
            error,
        }
    }

    /// Passes events to their contexts. Those of objects that no longer exist are dropped.
    pub fn hand_on_all(&mut self, entries: &[Eqe]) {
        entries.iter().for_each(|eqe| self.hand_on(eqe));
    }

    /// Gives an event to a context, if it still exists.
    fn tell(&mut self, page: u16, event: AsyncEvent) {
        if let Some(waiting) = self.waiting.get_mut(&page) {
            let repeats = matches!(event, AsyncEvent::DoorbellRefused { .. });
            if !repeats || waiting.len() < MOST_UNREAD {
                waiting.push_back(event);
            }
        }
    }

    /// Passes an event to each context that has queue pairs.
    fn tell_all(&mut self, event: AsyncEvent) {
        let live = self.queue_pairs.values().filter_map(Weak::upgrade);
        let pages: BTreeSet<u16> = live.map(|shared| shared.page).collect();
        for page in pages {
            self.tell(page, event);
        }
    }

    /// Passes an event to its context.
    fn hand_on(&mut self, eqe: &Eqe) {
        let qp = eqe.source;
        let address = eqe.data;
        let owner = self.queue_pairs.get(&qp).and_then(Weak::upgrade);
        let page = owner.as_ref().map(|shared| shared.page);
        let (page, event) = match eqe.kind {
            EventKind::QpError => {
                if let Some(shared) = owner {
                    shared.has_failed();
                }
                let status = WcStatus::from_code(eqe.data as u8);
                (page, AsyncEvent::QueuePairFatal { qp, status })
            }
            EventKind::CqOverrun => {
                let wr_id = eqe.data;
                if let Some(shared) = owner {
                    shared.set_overrun(true);
                }
                (page, AsyncEvent::CompletionLost { qp, wr_id })
            }
            EventKind::ImmThreshold => {
                let count = eqe.data as u32;
                (page, AsyncEvent::ImmediateThreshold { qp, count })
            }
            EventKind::DoorbellRefused => {
                let (page, qp) = (eqe.source, eqe.data as u32);
                let event = AsyncEvent::DoorbellRefused { page, qp };
                (u16::try_from(page).ok(), event)
            }
            EventKind::PageFault => {
                let region = self.regions.get(&eqe.source).and_then(Weak::upgrade);
                self.faults.extend(region.map(|region| (region, eqe.data)));
                return;
            }
            EventKind::PayloadReadFailed => (page, AsyncEvent::PayloadReadFailed { qp, address }),
            EventKind::EntryReadFailed => (page, AsyncEvent::EntryReadFailed { qp, address }),
            EventKind::FlushReadFailed => {
                let function = Function::ALL[usize::from(eqe.source != 0)];
                self.tell_all(AsyncEvent::FlushReadFailed { function, address });
                return;
            }
        };
        if let Some(page) = page {
            self.tell(page, event);
        }
    }
}
