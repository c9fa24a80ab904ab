//! Counts by path in an answer.

use super::fields::{Malformed, Put, Take};
use super::HEADER;

/// What was counted on a path of a queue pair, from the first request for it in this state RTS on. A queue pair may have had another owner before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GuestPathCounts {
    /// The path, as [`super::Request::UsePath`] names it.
    pub index: u8,
    /// Data packets sent on it, retransmissions included.
    pub sent: u64,
    /// SACKs that report a congestion mark on a packet of it.
    pub marked: u64,
    /// Packets on it that were taken for lost.
    pub lost: u64,
}

impl GuestPathCounts {
    /// Bytes in an answer.
    const LEN: usize = 32;

    fn take(from: &mut Take<'_>) -> Result<Self, Malformed> {
        let index = from.u8()?;
        from.bytes::<7>()?;
        Ok(Self {
            index,
            sent: from.u64()?,
            marked: from.u64()?,
            lost: from.u64()?,
        })
    }
}

/// Counts of some paths of a queue pair, in ascending order of their indices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuestPaths {
    /// Number of paths that the queue pair has, backups included.
    pub all: u8,
    /// Those in the answer, from the place that was asked for on.
    pub paths: Vec<GuestPathCounts>,
}

impl GuestPaths {
    /// Bytes of an answer before the first path.
    const BEFORE: usize = HEADER + 8;

    /// Length in bytes of an answer with the counts of `paths` paths.
    pub const fn bytes(paths: usize) -> usize {
        Self::BEFORE + paths * GuestPathCounts::LEN
    }

    /// Number of paths whose counts fit into an answer of `bytes` bytes.
    pub const fn most(bytes: usize) -> usize {
        bytes.saturating_sub(Self::BEFORE) / GuestPathCounts::LEN
    }

    /// # Panics
    /// If there are more than 255.
    pub(super) fn put(&self, out: &mut Put) {
        let here = u8::try_from(self.paths.len()).expect("a queue pair has at most 144 paths");
        out.u8(self.all).u8(here).bytes(&[0; 6]);
        for path in &self.paths {
            out.u8(path.index).bytes(&[0; 7]);
            out.u64(path.sent).u64(path.marked).u64(path.lost);
        }
    }

    pub(super) fn take(from: &mut Take<'_>) -> Result<Self, Malformed> {
        let (all, here) = (from.u8()?, from.u8()?);
        from.bytes::<6>()?;
        let paths = (0..here).map(|_| GuestPathCounts::take(from));
        let paths = paths.collect::<Result<_, _>>()?;
        Ok(Self { all, paths })
    }
}
