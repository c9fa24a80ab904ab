//! A manager of paths: it watches what happens to packets on each path of a queue pair, takes a path that is degraded out of use, and tries it again later.
//!
//! A policy in the card reacts within round trips, but oblivious spraying, the default, learns nothing: a spine that loses packets or is slow costs
//! every queue pair that sprays over it. The manager is the slow loop: it reads counters once in a sample, which lasts milliseconds on a card, and denies paths.
//!
//! The manager sees the card through [`PathAccess`] alone: counts of each path, and two operations. [`CardPaths`] is that of queue pairs of cards; a simulated network
//! serves as well.
//! `docs/policies.md` has the rule and its constants.

use stellar_wire::host::PathCount;

mod card;
mod manager;
mod path;
#[cfg(test)]
mod tests;

pub use card::CardPaths;
pub use manager::{PathChange, PathManager};

/// What was counted on one path of a queue pair since its counters began: all three only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathCounts {
    /// Data packets sent on it, retransmissions included.
    pub sent: u64,
    /// SACKs that report a congestion mark on a packet of it.
    pub marked: u64,
    /// Packets on it that were taken for lost: trimmed by a switch, found lost early, or late.
    pub lost: u64,
}

impl PathCounts {
    /// Adds what the card has counted since it was read last.
    pub fn add(&mut self, new: PathCount) {
        self.sent += u64::from(new.sent);
        self.marked += u64::from(new.marked);
        self.lost += u64::from(new.lost);
    }
}

/// What a card counted on one path of a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathTraffic {
    /// The path, as [`crate::QueuePair::deny_path`] names it.
    pub index: u8,
    /// What was counted.
    pub counts: PathCounts,
}

/// What the manager reads and does.
pub trait PathAccess {
    /// Names a queue pair.
    type Pair: Copy + Ord;
    /// Why counters cannot be read, or a path not be changed.
    type Error;

    /// Counts of all paths of a queue pair, backups of paths included, because one of them serves a path that is denied. A path's number is its place in them; it stays
    /// the same.
    ///
    /// # Errors
    /// Those of the card.
    fn counts(&mut self, pair: Self::Pair) -> Result<Vec<PathCounts>, Self::Error>;

    /// Takes a path out of use.
    ///
    /// # Errors
    /// Those of the card.
    fn deny(&mut self, pair: Self::Pair, path: u8) -> Result<(), Self::Error>;

    /// Takes a denied path into use again.
    ///
    /// # Errors
    /// Those of the card.
    fn allow(&mut self, pair: Self::Pair, path: u8) -> Result<(), Self::Error>;
}
