//! The interface of a NIC for the engine.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::Serialize;
use stellar_driver::{RemoteRegion, WcStatus};

/// An error of a NIC. All users of the error share it.
#[derive(Clone)]
pub struct NicError(Arc<dyn Error + Send + Sync>);

impl NicError {
    /// An error with this cause.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Arc::from(cause.into()))
    }
}

impl fmt::Debug for NicError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for NicError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Error for NicError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// Permitted uses of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// This host sends from it.
    Local,
    /// Peers may also write to it.
    RemoteWrite,
}

/// Host memory that can be registered with a NIC. Clones are the same memory.
pub trait Memory: Clone {
    /// Length in bytes.
    fn length(&self) -> u64;

    /// Copies bytes out.
    ///
    /// # Errors
    /// [`NicError`] beyond its end.
    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), NicError>;

    /// Copies bytes in.
    ///
    /// # Errors
    /// [`NicError`] beyond its end.
    fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), NicError>;

    /// Reads eight bytes at a multiple of 8, little-endian, in one access.
    ///
    /// # Errors
    /// [`NicError`] beyond its end.
    fn read_word(&self, offset: u64) -> Result<u64, NicError>;
}

/// The source of a write's bytes.
pub enum Payload<'a, R> {
    /// The write has no bytes.
    Nothing,
    /// Eight bytes that are copied when the write is posted.
    Word(u64),
    /// Part of a region.
    Region {
        /// The region.
        region: &'a R,
        /// Offset of the first byte.
        offset: u64,
        /// Number of bytes, at least one.
        length: u32,
    },
}

/// A one-sided write, to be posted.
pub struct Write<'a, R> {
    /// Identifier, which [`Happened::Sent`] repeats.
    pub id: u64,
    /// Source of its bytes.
    pub payload: Payload<'a, R>,
    /// Target address.
    pub address: u64,
    /// Key of the target region.
    pub rkey: u32,
    /// Immediate, which the receiver counts.
    pub immediate: Option<u32>,
}

/// Required sizes of a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueDepth {
    /// Outstanding writes.
    pub writes: u32,
    /// Writes with immediate that have arrived and were not polled.
    pub immediates: u32,
}

/// An event of a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NicEvent {
    /// Number of the queue pair.
    pub qp: u32,
    /// What happened to the queue pair.
    pub what: Happened,
}

/// Kinds of events of a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// A write of this side has ended.
    Sent {
        /// Its identifier.
        id: u64,
        /// Success means that all of its bytes are in the peer's memory. Otherwise the queue pair has failed.
        status: WcStatus,
    },
    /// A write with immediate has arrived; all of its bytes are in memory.
    Arrived {
        /// The immediate.
        immediate: u32,
        /// Number of bytes written.
        bytes: u32,
    },
    /// The queue pair has failed; every posted write ends with an error. `None`: the reason is unknown.
    Failed(Option<WcStatus>),
    /// A completion was lost because its ring was full.
    Lost,
}

/// A NIC: queue pairs that write reliably, in any order.
///
/// The engine relies on these properties. Every posted write ends with exactly one [`Happened::Sent`]. A write with immediate that succeeds gives
/// exactly one [`Happened::Arrived`] at the peer, and one that fails gives at most one. Its bytes are in memory before that. The engine makes no
/// assumption about the order of two writes, nor about times.
pub trait Nic {
    /// Host memory.
    type Memory: Memory;
    /// Registered memory. When it is dropped, the NIC deregisters it after all posted writes that use it.
    type Region;
    /// A queue pair.
    type QueuePair;
    /// Address of a queue pair, for its peer.
    type Address: Clone + Serialize + DeserializeOwned;

    /// Allocates zeroed host memory.
    ///
    /// # Errors
    /// [`NicError`].
    fn allocate(&self, bytes: u64) -> Result<Self::Memory, NicError>;

    /// Registers memory with the NIC.
    ///
    /// # Errors
    /// [`NicError`].
    fn register(&self, memory: &Self::Memory, access: Access) -> Result<Self::Region, NicError>;

    /// The description of a region, for a peer.
    fn remote(&self, region: &Self::Region) -> RemoteRegion;

    /// Makes a queue pair of these sizes.
    ///
    /// # Errors
    /// [`NicError`].
    fn create(&self, depth: QueueDepth) -> Result<Self::QueuePair, NicError>;

    /// Number of a queue pair, as in [`NicEvent::qp`].
    fn number(&self, qp: &Self::QueuePair) -> u32;

    /// Returns the address that the peer of `qp` needs to connect to it.
    fn address(&self, qp: &Self::QueuePair) -> Self::Address;

    /// Connects it to its peer: afterwards it receives and sends.
    ///
    /// # Errors
    /// [`NicError`].
    fn connect(&self, qp: &Self::QueuePair, peer: &Self::Address) -> Result<(), NicError>;

    /// Posts a write. Its region stays registered until it has ended.
    ///
    /// # Errors
    /// [`NicError`]; then the queue pair is unusable.
    fn post(&self, qp: &Self::QueuePair, write: &Write<'_, Self::Region>) -> Result<(), NicError>;

    /// Stops the queue pair: it receives nothing more, and every posted write ends.
    ///
    /// # Errors
    /// [`NicError`].
    fn stop(&self, qp: &Self::QueuePair) -> Result<(), NicError>;

    /// Returns up to `most` events of completion queues, and all other events.
    ///
    /// # Errors
    /// [`NicError`]; then the NIC is unusable.
    fn poll(&self, most: usize) -> Result<Vec<NicEvent>, NicError>;

    /// Call this between two polls of the NIC that returned nothing. Simulated cards advance time here.
    fn relax(&self);
}
