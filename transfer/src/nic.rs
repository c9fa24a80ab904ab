//! What the engine needs of a NIC.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::Serialize;
use stellar_driver::{RemoteRegion, WcStatus};

/// What a NIC could not do; shared by all who hear of it.
#[derive(Clone)]
pub struct NicError(Arc<dyn Error + Send + Sync>);

impl NicError {
    /// Of this cause.
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

/// What memory may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To be sent from.
    Local,
    /// To be written by peers, too.
    RemoteWrite,
}

/// Host memory that a NIC can be let reach. Clones are the same memory.
pub trait Memory: Clone {
    /// Bytes.
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

    /// Eight bytes at a multiple of 8, little-endian, in one piece.
    ///
    /// # Errors
    /// [`NicError`] beyond its end.
    fn read_word(&self, offset: u64) -> Result<u64, NicError>;
}

/// Where a write's bytes come from.
pub enum Payload<'a, R> {
    /// Nowhere: it has none.
    Nothing,
    /// Eight bytes that are copied when it is posted.
    Word(u64),
    /// Part of a region.
    Region {
        /// The region.
        region: &'a R,
        /// First byte.
        offset: u64,
        /// Bytes, at least one.
        length: u32,
    },
}

/// A one-sided write, to be posted.
pub struct Write<'a, R> {
    /// Comes back with [`Happened::Sent`].
    pub id: u64,
    /// Its bytes.
    pub payload: Payload<'a, R>,
    /// Where they go.
    pub address: u64,
    /// Key of the region there.
    pub rkey: u32,
    /// What the receiver counts.
    pub immediate: Option<u32>,
}

/// What a queue pair must have room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueDepth {
    /// Writes under way.
    pub writes: u32,
    /// Writes with immediate that arrived and have not been polled.
    pub immediates: u32,
}

/// Something that happened to a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NicEvent {
    /// Number of the queue pair.
    pub qp: u32,
    /// What.
    pub what: Happened,
}

/// What can happen to a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// A write of its own has ended.
    Sent {
        /// Its identifier.
        id: u64,
        /// Success: all its bytes are in the peer's memory. Otherwise the queue pair has failed.
        status: WcStatus,
    },
    /// A write with immediate has arrived: all its bytes are in memory.
    Arrived {
        /// The immediate.
        immediate: u32,
        /// Bytes written.
        bytes: u32,
    },
    /// It has failed; whatever is posted ends with an error. `None`: nobody knows why.
    Failed(Option<WcStatus>),
    /// Something it did is not known, as there was no room to say it.
    Lost,
}

/// A NIC: queue pairs that write reliably, in any order.
///
/// What the engine relies on: every write that was posted ends with exactly one [`Happened::Sent`]; a write with immediate makes
/// exactly one [`Happened::Arrived`] at the peer if it ends with success, at most one otherwise; its bytes are in memory before. Nothing is
/// assumed of the order of two writes, nor of when anything happens.
pub trait Nic {
    /// Host memory.
    type Memory: Memory;
    /// Memory as the NIC knows it. Dropped, the NIC forgets it when nothing that is posted uses it any more.
    type Region;
    /// A queue pair.
    type QueuePair;
    /// What the peer of a queue pair has to know of it.
    type Address: Clone + Serialize + DeserializeOwned;

    /// Zeroed host memory.
    ///
    /// # Errors
    /// [`NicError`].
    fn allocate(&self, bytes: u64) -> Result<Self::Memory, NicError>;

    /// Lets the NIC reach memory.
    ///
    /// # Errors
    /// [`NicError`].
    fn register(&self, memory: &Self::Memory, access: Access) -> Result<Self::Region, NicError>;

    /// What a peer has to know of a region.
    fn remote(&self, region: &Self::Region) -> RemoteRegion;

    /// A queue pair with room for all this.
    ///
    /// # Errors
    /// [`NicError`].
    fn create(&self, depth: QueueDepth) -> Result<Self::QueuePair, NicError>;

    /// Number of a queue pair, as in [`NicEvent::qp`].
    fn number(&self, qp: &Self::QueuePair) -> u32;

    /// What its peer has to know of it.
    fn address(&self, qp: &Self::QueuePair) -> Self::Address;

    /// Connects it to its peer: from here on it receives and sends.
    ///
    /// # Errors
    /// [`NicError`].
    fn connect(&self, qp: &Self::QueuePair, peer: &Self::Address) -> Result<(), NicError>;

    /// Posts a write. Its region stays registered until it has ended.
    ///
    /// # Errors
    /// [`NicError`]; the queue pair is of no use any more then.
    fn post(&self, qp: &Self::QueuePair, write: &Write<'_, Self::Region>) -> Result<(), NicError>;

    /// Takes the queue pair out of service: it receives nothing more, and what is posted ends.
    ///
    /// # Errors
    /// [`NicError`].
    fn stop(&self, qp: &Self::QueuePair) -> Result<(), NicError>;

    /// Up to `most` events of completion queues, and what else happened.
    ///
    /// # Errors
    /// [`NicError`]: the NIC is of no use any more.
    fn poll(&self, most: usize) -> Result<Vec<NicEvent>, NicError>;

    /// To be called between two looks at the NIC that found nothing. Time of a simulated card passes here.
    fn relax(&self);
}
