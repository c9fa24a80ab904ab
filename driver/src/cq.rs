//! Completion queues.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use stellar_wire::host::{ConsumerIndex, Cqe, CqeOpcode, WcStatus};
use stellar_wire::rows::{ConfigSelect, RingRow};

use crate::card::lock;
use crate::card::Card;
use crate::context::Opened;
use crate::device::{DeviceError, Interrupt};
use crate::error::Error;
use crate::limits::MOST_ENTRIES;
use crate::open::ring_row;
use crate::qp::{Completions, Shared};
use crate::ring::Ring;

/// A completion (verbs: `ibv_wc`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Identifier of the work request, and 0 for a received message.
    pub wr_id: u64,
    /// Whether the work request succeeded, or why it failed.
    pub status: WcStatus,
    /// The operation that completed. Undefined unless the status is success.
    pub opcode: CqeOpcode,
    /// Local queue pair.
    pub qp: u32,
    /// Bytes of the message.
    pub byte_len: u32,
    /// Immediate data, of a WRITE with immediate that was received.
    pub immediate: Option<u32>,
}

impl Completion {
    fn of(cqe: &Cqe) -> Self {
        Self {
            wr_id: cqe.wr_id,
            status: cqe.status,
            opcode: cqe.opcode,
            qp: cqe.qp,
            byte_len: cqe.byte_len,
            immediate: cqe.opcode.is_receive().then_some(cqe.immediate),
        }
    }
}

/// Longest time for which a page fault stays unhandled while the application waits for completions.
pub(crate) const FAULT_PERIOD: Duration = Duration::from_micros(20);

/// The ring of one queue pair.
struct Attached {
    shared: Arc<Shared>,
    ring: Ring,
    /// The card accepts consumer indices of this ring.
    live: bool,
    /// Completions that the driver makes itself, for work requests that it removed from the card.
    flushed: VecDeque<Completion>,
}

impl Attached {
    fn take(&mut self) -> Result<Option<Completion>, Error> {
        match self.ring.take::<Cqe>()? {
            Some(cqe) => {
                if !cqe.opcode.is_receive() {
                    self.shared.completed(&cqe)?;
                }
                Ok(Some(Completion::of(&cqe)))
            }
            None => Ok(self.flushed.pop_front()),
        }
    }
}

/// A completion queue, for its queue pairs.
pub(crate) struct Queue {
    pub context: Arc<Opened>,
    log2_entries: u8,
    vector: Option<(u16, Arc<dyn Interrupt>)>,
    rings: Mutex<VecDeque<Attached>>,
}

impl Drop for Queue {
    fn drop(&mut self) {
        if let Some((vector, _)) = self.vector {
            let mut pools = lock(&self.context.device.pools);
            pools.vectors.give_back(vector.into());
        }
    }
}

/// Removes a queue pair's ring from the card. When this returns, the card no longer writes it.
pub(crate) fn take_ring(card: &Card, qp: u32) -> Result<(), DeviceError> {
    let none = RingRow::default();
    card.write_row(ConfigSelect::CompletionQueue, qp, &none)?;
    card.fence()
}

impl Completions for Queue {
    const OF_DRIVER: bool = true;

    /// Allocates a ring for a queue pair and writes its address to the card.
    fn attach(&self, shared: &Arc<Shared>) -> Result<(), Error> {
        self.forget_overrun(shared)?;
        let card = &self.context.device.card;
        let ring = Ring::new::<Cqe>(card.function(), self.log2_entries)?;
        let vector = self.vector.as_ref().map(|(vector, _)| *vector);
        let row = ring_row(&ring, vector, self.context.events.number);
        let given = card.write_row(ConfigSelect::CompletionQueue, shared.number, &row);
        if let Err(error) = given {
            // The card may have executed the write in spite of the error, so the memory of the ring must not be freed.
            std::mem::forget(ring);
            return Err(error.into());
        }
        lock(&self.rings).push_back(Attached {
            shared: Arc::clone(shared),
            ring,
            live: false,
            flushed: VecDeque::new(),
        });
        Ok(())
    }

    fn set_live(&self, qp: u32, live: bool) {
        if let Some(attached) = lock(&self.rings).iter_mut().find(|a| a.shared.number == qp) {
            attached.live = live;
        }
    }

    /// Reads the completions that the card has written, so that they are not flushed too. The driver completes the rest.
    fn ended(&self, shared: &Shared) -> Result<(), Error> {
        // The driver completes whatever the card has lost.
        self.forget_overrun(shared)?;
        let mut rings = lock(&self.rings);
        let is_it = |a: &&mut Attached| a.shared.number == shared.number;
        let Some(attached) = rings.iter_mut().find(is_it) else {
            return Ok(());
        };
        while let Some(cqe) = attached.ring.take::<Cqe>()? {
            if !cqe.opcode.is_receive() {
                attached.shared.completed(&cqe)?;
            }
            attached.flushed.push_back(Completion::of(&cqe));
        }
        attached.flushed.extend(shared.flush());
        Ok(())
    }

    /// Removes a queue pair's ring from the card. Completions that were not polled are lost.
    fn detach(&self, qp: u32) -> Result<(), DeviceError> {
        let mut rings = lock(&self.rings);
        let Some(at) = rings.iter().position(|a| a.shared.number == qp) else {
            return Ok(());
        };
        let taken = take_ring(&self.context.device.card, qp);
        if let (Some(attached), Err(_)) = (rings.remove(at), &taken) {
            std::mem::forget(attached.ring);
        }
        taken
    }
}

impl Queue {
    /// Reads the events of a queue pair that the card no longer works for, so that none of them comes later, and takes it for one whose ring lost nothing.
    fn forget_overrun(&self, shared: &Shared) -> Result<(), Error> {
        self.read_events()?;
        shared.set_overrun(false);
        Ok(())
    }

    /// Reads the events: one of them may be that a ring lost a completion, and page faults must not wait until the application reads events.
    fn read_events(&self) -> Result<(), Error> {
        let events = self.context.events.number;
        self.context.device.collect_events(events, false)
    }

    fn poll(&self, most: usize, arm: bool) -> Result<Vec<Completion>, Error> {
        let mut rings = lock(&self.rings);
        for attached in rings.iter().filter(|attached| attached.shared.is_overrun()) {
            if !attached.ring.has_entry::<Cqe>()? {
                return Err(Error::Overrun(attached.shared.number));
            }
        }
        let mut completions = Vec::new();
        // Start with the queue pair after the one that was served last.
        for _ in 0..rings.len() {
            let Some(attached) = rings.front_mut() else {
                break;
            };
            let before = attached.ring.taken();
            let mut failed = None;
            while completions.len() < most {
                match attached.take() {
                    Ok(Some(completion)) => completions.push(completion),
                    Ok(None) => break,
                    Err(error) => {
                        failed = Some(error);
                        break;
                    }
                }
            }
            if attached.live && (arm || attached.ring.taken() != before) {
                let index = ConsumerIndex {
                    qp: attached.shared.number,
                    index: attached.ring.taken(),
                    arm,
                };
                let (card, page) = (&self.context.device.card, self.context.page);
                card.consume(page, attached.shared.slot, index)?;
            }
            rings.rotate_left(1);
            if let Some(error) = failed {
                return Err(error);
            }
        }
        Ok(completions)
    }
}

/// A completion queue. Every queue pair has its own ring in it, which contains completions of sent and of received messages.
///
/// Clones are the same queue.
#[derive(Clone)]
pub struct CompletionQueue(pub(crate) Arc<Queue>);

impl CompletionQueue {
    pub(crate) fn new(context: Arc<Opened>, entries: u32, interrupt: bool) -> Result<Self, Error> {
        if !entries.is_power_of_two() || entries > MOST_ENTRIES {
            return Err(Error::QueueSize {
                queue: "completion",
                entries,
                least: 1,
                most: MOST_ENTRIES,
            });
        }
        let vector = if interrupt {
            Some(enable_vector(&context)?)
        } else {
            None
        };
        Ok(Self(Arc::new(Queue {
            context,
            log2_entries: entries.ilog2() as u8,
            vector,
            rings: Mutex::new(VecDeque::new()),
        })))
    }

    /// Up to `most` completions, those of a queue pair in order. Queue pairs take turns.
    ///
    /// # Errors
    /// [`Error::BadEntry`], [`Error::BadHead`], [`Error::Device`]: completions that were read before the error are lost. [`Error::Overrun`] if the card has lost
    /// completions of a queue pair, in each call from the last completion before them until the queue pair moves to ERROR or RESET.
    pub fn poll(&self, most: usize) -> Result<Vec<Completion>, Error> {
        self.0.read_events()?;
        self.0.poll(most, false)
    }

    /// Waits until there are completions, at most for `timeout` on the card's clock. Returns up to `most` of them, and an empty list after the
    /// timeout.
    ///
    /// # Errors
    /// [`Error::NoInterrupt`], and as [`Self::poll`].
    pub fn wait(&self, most: usize, timeout: Duration) -> Result<Vec<Completion>, Error> {
        let (_, interrupt) = self.0.vector.as_ref().ok_or(Error::NoInterrupt)?;
        let function = self.0.context.device.card.function();
        let end = function.now() + timeout;
        loop {
            self.0.read_events()?;
            let faults = self.0.context.device.expects_faults();
            // Arming raises an interrupt for entries written since the last poll, so none is missed before the wait.
            let completions = self.0.poll(most, true)?;
            let left = end.saturating_sub(function.now());
            if !completions.is_empty() || left.is_zero() {
                return Ok(completions);
            }
            // Faults raise the interrupt of the card's event queue, not this one.
            interrupt.wait(if faults { left.min(FAULT_PERIOD) } else { left })?;
        }
    }
}

fn enable_vector(context: &Opened) -> Result<(u16, Arc<dyn Interrupt>), Error> {
    let device = &context.device;
    let vector = lock(&device.pools).vectors.take()? as u16;
    match device.card.interrupt(vector) {
        Ok(interrupt) => Ok((vector, interrupt)),
        Err(error) => {
            lock(&device.pools).vectors.give_back(vector.into());
            Err(error.into())
        }
    }
}
