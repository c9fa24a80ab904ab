//! A user of the card.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use stellar_wire::host::config_space::{Bar, PAGE_BYTES};
use stellar_wire::host::registers::ImmediateArm;
use stellar_wire::host::Doorbell;

use crate::card::lock;
use crate::cq::CompletionQueue;
use crate::cq::FAULT_PERIOD;
use crate::device::{DeviceError, DmaBuffer};
use crate::error::Error;
use crate::event_queue::EventQueue;
use crate::events::AsyncEvent;
use crate::limits::CARD_EVENTS;
use crate::numbers::{Numbers, PerEngine};
use crate::open::{Device, Shared};
use crate::pd::ProtectionDomain;
use crate::qp::QueuePair;

/// A context, shared by everything made from it.
pub(crate) struct Opened {
    pub device: Arc<Shared>,
    /// The context's doorbell page.
    pub page: u16,
    /// Its queue pairs.
    pub per_engine: Mutex<PerEngine>,
    /// Slots of the page, for its queue pairs.
    pub slots: Mutex<Numbers>,
    /// The event queue for events of its queue pairs.
    pub events: EventQueue,
}

/// Longest time for which an event of the card itself, such as a refused doorbell, stays unread while a context waits at an event queue of its own.
const CARD_PERIOD: Duration = Duration::from_millis(1);

impl Drop for Opened {
    fn drop(&mut self) {
        lock(&self.device.events).forget_page(self.page);
        lock(&self.device.pools).pages.give_back(self.page.into());
    }
}

/// The card as one user has it open, with a doorbell page that is its identity. Clones are the same context.
#[derive(Clone)]
pub struct Context(pub(crate) Arc<Opened>);

impl Context {
    pub(crate) fn new(device: Arc<Shared>) -> Result<Self, Error> {
        let events = EventQueue::new(Arc::clone(&device))?;
        let page = lock(&device.pools).pages.take()? as u16;
        if let Err(error) = device.clear_share(page) {
            lock(&device.pools).pages.give_back(page.into());
            return Err(error.into());
        }
        lock(&device.events).add_page(page);
        let slots = Numbers::new("slots of a doorbell page", 0, Doorbell::SLOT_COUNT.into());
        Ok(Self(Arc::new(Opened {
            device,
            page,
            per_engine: Mutex::default(),
            slots: Mutex::new(slots),
            events,
        })))
    }

    /// The card.
    pub fn device(&self) -> Device {
        Device(Arc::clone(&self.0.device))
    }

    /// The context's doorbell page.
    pub fn page(&self) -> u16 {
        self.0.page
    }

    /// Returns the doorbell page of this context, for an owner of rings who posts and polls without the driver. The page belongs to this context
    /// until the last of these handles is dropped.
    pub fn doorbells(&self) -> DoorbellPage {
        DoorbellPage(Arc::clone(&self.0))
    }

    /// A protection domain: its queue pairs reach its regions only.
    ///
    /// # Errors
    /// [`Error::Exhausted`].
    pub fn alloc_pd(&self) -> Result<ProtectionDomain, Error> {
        ProtectionDomain::new(Arc::clone(&self.0))
    }

    /// Creates a completion queue with space for `entries` completions of each of its queue pairs, a power of two up to 2^20. With `interrupt`, it
    /// has its own interrupt vector, and a program can wait for completions.
    ///
    /// # Errors
    /// [`Error::QueueSize`], [`Error::Exhausted`], [`Error::Device`].
    pub fn create_cq(&self, entries: u32, interrupt: bool) -> Result<CompletionQueue, Error> {
        CompletionQueue::new(Arc::clone(&self.0), entries, interrupt)
    }

    /// Zeroed host memory that can be registered for the card.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn alloc(&self, bytes: usize) -> Result<DmaBuffer, Error> {
        Ok(DmaBuffer::new(self.0.device.card.function(), bytes)?)
    }

    /// The next event of this context's objects, if there is one.
    ///
    /// # Errors
    /// [`Error::BadEntry`], [`Error::Device`].
    pub fn poll_event(&self) -> Result<Option<AsyncEvent>, Error> {
        self.0.device.collect_events(self.0.events.number, false)?;
        Ok(self.next_event())
    }

    fn next_event(&self) -> Option<AsyncEvent> {
        lock(&self.0.device.events).next_of(self.0.page)
    }

    /// Waits for one, at most `timeout` on the card's clock. Contexts that share an event queue or its interrupt ([`crate::Limits::event_queues`],
    /// [`crate::Limits::completion_vectors`]) should have one thread that waits for all of them.
    ///
    /// # Errors
    /// The same as [`Self::poll_event`].
    pub fn wait_event(&self, timeout: Duration) -> Result<Option<AsyncEvent>, Error> {
        let function = self.0.device.card.function();
        let end = function.now() + timeout;
        let queue = &self.0.events;
        loop {
            self.0.device.collect_events(queue.number, true)?;
            let event = self.next_event();
            let left = end.saturating_sub(function.now());
            if event.is_some() || left.is_zero() {
                return Ok(event);
            }
            // Events of the card come to another queue.
            let most = if queue.number == CARD_EVENTS {
                left
            } else if self.0.device.expects_faults() {
                FAULT_PERIOD
            } else {
                CARD_PERIOD
            };
            queue.interrupt.wait(left.min(most))?;
        }
    }

    /// Arms one [`AsyncEvent::ImmediateThreshold`] for when `qp` has received `count` WRITEs with immediate since it was ready to receive.
    ///
    /// # Errors
    /// [`Error::OtherContext`], [`Error::Device`].
    pub fn arm_immediates(&self, qp: &QueuePair, count: u32) -> Result<(), Error> {
        if !qp.is_of(&self.0) {
            return Err(Error::OtherContext("context and queue pair"));
        }
        let arm = ImmediateArm {
            qp: qp.number(),
            threshold: count,
        };
        Ok(self.0.device.card.arm_immediates(arm)?)
    }
}

/// A doorbell page: the part of the card that may be mapped into a guest.
pub struct DoorbellPage(Arc<Opened>);

impl DoorbellPage {
    /// The page's number.
    pub fn number(&self) -> u16 {
        self.0.page
    }

    /// Stores eight bytes in the page, like a processor that has it mapped.
    ///
    /// # Errors
    /// [`DeviceError::OutsideBar`] beyond the page, [`DeviceError::Misaligned`], and the back end's.
    pub fn store(&self, offset: u64, word: u64) -> Result<(), DeviceError> {
        if offset >= PAGE_BYTES {
            return Err(DeviceError::OutsideBar {
                bar: Bar::Doorbells,
                offset,
                length: PAGE_BYTES,
            });
        }
        let at = u64::from(self.0.page) * PAGE_BYTES + offset;
        let function = self.0.device.card.function();
        function.write64(Bar::Doorbells, at, word)
    }
}
