//! Frames as links carry them.

use std::fmt;
use std::sync::Arc;

/// Shortest frame without FCS (IEEE 802.3 section 3.2.8: 64 bytes with it). Shorter ones take the time of this length.
pub const MIN_FRAME: usize = 60;
/// Preamble and start frame delimiter, in bytes.
pub const PREAMBLE: usize = 8;
/// Frame check sequence, in bytes.
pub const FCS: usize = 4;
/// Interpacket gap, in bytes.
pub const GAP: usize = 12;

/// An Ethernet frame from the destination MAC address to the iCRC, without FCS. Clones share their bytes.
///
/// Payload may be *elided*: such a frame stores its first bytes only, but has its whole length on links and in queues.
/// Endpoints that model no memory save the payload's copies this way. The fabric never elides by itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Frame {
    stored: Arc<[u8]>,
    len: usize,
}

impl Frame {
    /// A frame of exactly these bytes.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Self {
        let stored = bytes.into();
        let len = stored.len();
        Self { stored, len }
    }

    /// A frame of `len` bytes of which only the first, `stored`, exist. They must contain every header up to the last extension header, because
    /// switches see nothing else.
    ///
    /// # Panics
    /// If `stored` is longer than `len`.
    pub fn elided(stored: impl Into<Arc<[u8]>>, len: usize) -> Self {
        let stored = stored.into();
        assert!(
            stored.len() <= len,
            "a frame of {len} bytes cannot store {}",
            stored.len()
        );
        Self { stored, len }
    }

    /// The stored bytes: all of them, unless payload was elided.
    pub fn bytes(&self) -> &[u8] {
        &self.stored
    }

    /// Length in bytes, elided payload included.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether its length is zero.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether a part of it is not stored.
    pub fn is_elided(&self) -> bool {
        self.stored.len() < self.len
    }

    /// The stored bytes for writing; copies them first if a clone shares them.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        Arc::make_mut(&mut self.stored)
    }
}

impl From<Vec<u8>> for Frame {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(bytes)
    }
}

impl From<&[u8]> for Frame {
    fn from(bytes: &[u8]) -> Self {
        Self::new(bytes)
    }
}

impl AsRef<[u8]> for Frame {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Frame({} bytes, {} stored)", self.len, self.stored.len())
    }
}
