//! A NIC that uses the driver's verbs.

use std::sync::atomic::{AtomicU32, Ordering};

use stellar_driver::{
    random_psn, AccessFlags, AsyncEvent, Completion, CompletionQueue, Connection, Context,
    DmaBuffer, Error, InitAttributes, MemoryRegion, Modify, PathAttributes, ProtectionDomain,
    QueuePair, QueuePairConfig, RemoteRegion, RtrAttributes, RtsAttributes, Source, WcStatus,
    WorkRequest,
};

use crate::nic::{Access, Happened, Memory, Nic, NicError, NicEvent, Payload, QueueDepth, Write};

/// Modulus of PSNs.
const PSN_MODULUS: u32 = 1 << 24;
/// Distance between the first PSNs of two queue pairs: a late packet of a former queue pair must lie outside the window of a later one.
const PSN_STEP: u32 = 0x9_e377;

/// Configuration of a [`DriverNic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverNicConfig {
    /// Path attributes for all peers.
    pub path: PathAttributes,
    /// Size of each queue pair's completion ring, a power of two: writes and immediates of the engine's settings, and a few more.
    pub completions: u32,
    /// First PSN of the first queue pair, 24 bits; drawn at random if there is none.
    pub psn: Option<u32>,
}

impl Default for DriverNicConfig {
    /// The default path attributes, 512 completions, and a random PSN.
    fn default() -> Self {
        Self {
            path: PathAttributes::default(),
            completions: 512,
            psn: None,
        }
    }
}

impl From<Error> for NicError {
    fn from(error: Error) -> Self {
        Self::new(error)
    }
}

impl From<stellar_driver::DeviceError> for NicError {
    fn from(error: stellar_driver::DeviceError) -> Self {
        Self::new(error)
    }
}

/// Host memory of a card.
#[derive(Clone)]
pub struct HostMemory(DmaBuffer);

impl HostMemory {
    /// The memory.
    pub const fn buffer(&self) -> &DmaBuffer {
        &self.0
    }
}

impl Memory for HostMemory {
    fn length(&self) -> u64 {
        self.0.length() as u64
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), NicError> {
        Ok(self.0.read(offset as usize, into)?)
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), NicError> {
        Ok(self.0.write(offset as usize, bytes)?)
    }

    fn read_word(&self, offset: u64) -> Result<u64, NicError> {
        Ok(self.0.read_word(offset as usize)?)
    }
}

/// A queue pair of a [`DriverNic`].
pub struct DriverQueuePair {
    qp: QueuePair,
    psn: u32,
}

/// A card under its driver: a context with a protection domain and a completion queue.
pub struct DriverNic {
    context: Context,
    domain: ProtectionDomain,
    cq: CompletionQueue,
    config: DriverNicConfig,
    next_psn: AtomicU32,
}

impl DriverNic {
    /// A NIC on this context. No other code may poll the context for events.
    ///
    /// # Errors
    /// [`Error::QueueSize`], [`Error::Exhausted`], [`Error::Device`].
    pub fn new(context: Context, config: DriverNicConfig) -> Result<Self, Error> {
        Ok(Self {
            domain: context.alloc_pd()?,
            cq: context.create_cq(config.completions, false)?,
            next_psn: AtomicU32::new(config.psn.unwrap_or_else(random_psn)),
            config,
            context,
        })
    }

    /// Returns the NIC's protection domain. It is needed to register memory other than host memory, such as a GPU's, which is then passed to
    /// [`crate::Engine::adopt`].
    pub const fn domain(&self) -> &ProtectionDomain {
        &self.domain
    }

    /// The context.
    pub const fn context(&self) -> &Context {
        &self.context
    }
}

fn of_completion(completion: &Completion) -> NicEvent {
    let what = match (completion.immediate, completion.status) {
        (Some(immediate), WcStatus::Success) => Happened::Arrived {
            immediate,
            bytes: completion.byte_len,
        },
        (Some(_), status) => Happened::Failed(Some(status)),
        (None, status) => Happened::Sent {
            id: completion.wr_id,
            status,
        },
    };
    NicEvent {
        qp: completion.qp,
        what,
    }
}

/// Returns the meaning of an event for a queue pair, and `None` for an event of another kind.
const fn of_event(event: AsyncEvent) -> Option<NicEvent> {
    match event {
        AsyncEvent::QueuePairFatal { qp, status } => Some(NicEvent {
            qp,
            what: Happened::Failed(status),
        }),
        AsyncEvent::CompletionLost { qp, .. } => Some(NicEvent {
            qp,
            what: Happened::Lost,
        }),
        // A queue pair that a failed read stops has an event of its own.
        AsyncEvent::ImmediateThreshold { .. }
        | AsyncEvent::DoorbellRefused { .. }
        | AsyncEvent::PayloadReadFailed { .. }
        | AsyncEvent::EntryReadFailed { .. }
        | AsyncEvent::FlushReadFailed { .. } => None,
    }
}

impl Nic for DriverNic {
    type Memory = HostMemory;
    type Region = MemoryRegion;
    type QueuePair = DriverQueuePair;
    type Address = Connection;

    fn allocate(&self, bytes: u64) -> Result<HostMemory, NicError> {
        let bytes = usize::try_from(bytes).map_err(NicError::new)?;
        Ok(HostMemory(self.context.alloc(bytes)?))
    }

    fn register(&self, memory: &HostMemory, access: Access) -> Result<MemoryRegion, NicError> {
        let device = self.context.device();
        if !memory.0.is_mapped_for(device.probe().function()) {
            return Err(NicError::new(
                "the memory is mapped for another card; allocate it from this one, or let all NICs of an engine be contexts of one card",
            ));
        }
        let access = AccessFlags {
            remote_write: access == Access::RemoteWrite,
            ..AccessFlags::default()
        };
        Ok(self.domain.register(memory.0.clone(), access)?)
    }

    fn remote(&self, region: &MemoryRegion) -> RemoteRegion {
        region.remote()
    }

    fn create(&self, depth: QueueDepth) -> Result<DriverQueuePair, NicError> {
        let (needs, has) = (depth.writes + depth.immediates, self.config.completions);
        if needs > has {
            return Err(NicError::new(format!(
                "{} writes and {} immediates make {needs} completions, and there is room for {has}; raise DriverNicConfig::completions",
                depth.writes, depth.immediates
            )));
        }
        let config = QueuePairConfig {
            send_entries: depth.writes.next_power_of_two().max(2),
            ..QueuePairConfig::default()
        };
        let qp = self.domain.create_qp(&self.cq, config)?;
        let psn = self.next_psn.fetch_add(PSN_STEP, Ordering::Relaxed) % PSN_MODULUS;
        Ok(DriverQueuePair { qp, psn })
    }

    fn number(&self, qp: &DriverQueuePair) -> u32 {
        qp.qp.number()
    }

    fn address(&self, qp: &DriverQueuePair) -> Connection {
        qp.qp.connection(qp.psn)
    }

    fn connect(&self, qp: &DriverQueuePair, peer: &Connection) -> Result<(), NicError> {
        qp.qp.modify(Modify::Init(InitAttributes::default()))?;
        let attributes = RtrAttributes {
            path: self.config.path,
            ..RtrAttributes::new(*peer)
        };
        qp.qp.modify(Modify::Rtr(attributes))?;
        Ok(qp.qp.modify(Modify::Rts(RtsAttributes::new(qp.psn)))?)
    }

    fn post(&self, qp: &DriverQueuePair, write: &Write<'_, MemoryRegion>) -> Result<(), NicError> {
        let word;
        let source = match write.payload {
            Payload::Nothing => Source::Nothing,
            Payload::Word(value) => {
                word = value.to_le_bytes();
                Source::Inline(&word)
            }
            Payload::Region {
                region,
                offset,
                length,
            } => region.slice(offset, length)?,
        };
        let mut request = WorkRequest::write(write.id, source, write.address, write.rkey);
        if let Some(immediate) = write.immediate {
            request = request.with_immediate(immediate);
        }
        qp.qp.post_send(&request).map_err(NicError::new)
    }

    fn stop(&self, qp: &DriverQueuePair) -> Result<(), NicError> {
        Ok(qp.qp.modify(Modify::Error)?)
    }

    fn poll(&self, most: usize) -> Result<Vec<NicEvent>, NicError> {
        let completions = self.cq.poll(most)?;
        let mut events: Vec<_> = completions.iter().map(of_completion).collect();
        while let Some(event) = self.context.poll_event()? {
            events.extend(of_event(event));
        }
        Ok(events)
    }

    fn relax(&self) {
        self.context.device().probe().function().relax();
    }
}
