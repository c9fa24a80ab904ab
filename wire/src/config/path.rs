//! Names of planes, of entropy values within a queue pair, and of paths.

use crate::mrc::Entropy;

/// A set of the two planes (ports): bit `p` is plane `p`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PlaneMask(u8);

impl PlaneMask {
    /// No plane.
    pub const NONE: Self = Self(0);
    /// Both planes.
    pub const BOTH: Self = Self(3);

    /// The set that contains only `plane`, 0 or 1.
    #[inline]
    pub const fn only(plane: u8) -> Self {
        Self(1 << (plane & 1))
    }

    /// Whether `plane` is in the set.
    #[inline]
    pub const fn contains(self, plane: u8) -> bool {
        self.0 >> (plane & 1) & 1 == 1
    }

    /// Returns the set with `plane` added or removed.
    #[inline]
    pub const fn with(self, plane: u8, present: bool) -> Self {
        let bit = Self::only(plane).0;
        Self(if present { self.0 | bit } else { self.0 & !bit })
    }

    /// Intersection of both sets.
    #[inline]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// Name of an entropy value within its queue pair: 0 to 127 active, 128 to 143 backup. Bit 0 is the plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EvIndex(u8);

impl EvIndex {
    /// Maximum number of active entropy values.
    pub const ACTIVE: usize = 128;
    /// Maximum number of backups, both planes together.
    pub const BACKUPS: usize = 16;

    /// The entropy value of this number; `None` above 143.
    #[inline]
    pub const fn new(value: u8) -> Option<Self> {
        if (value as usize) < Self::ACTIVE + Self::BACKUPS {
            Some(Self(value))
        } else {
            None
        }
    }

    /// All of them, in ascending order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..=u8::MAX).map_while(Self::new)
    }

    /// The active value in `slot` (0 to 63) of `plane`.
    #[inline]
    pub const fn active(plane: u8, slot: u8) -> Self {
        Self(slot << 1 | plane)
    }

    /// Backup `number` (0 to 7) of `plane`.
    #[inline]
    pub const fn backup(plane: u8, number: u8) -> Self {
        Self(Self::ACTIVE as u8 | number << 1 | plane)
    }

    /// The number, 8 bits.
    #[inline]
    pub const fn value(self) -> u8 {
        self.0
    }

    /// The plane its packets take, 0 or 1.
    #[inline]
    pub const fn plane(self) -> u8 {
        self.0 & 1
    }

    /// Whether it is a backup.
    #[inline]
    pub const fn is_backup(self) -> bool {
        self.0 as usize >= Self::ACTIVE
    }

    /// Place within its plane: the slot of an active value, the number of a backup.
    #[inline]
    pub const fn place(self) -> u8 {
        (self.0 & 0x7f) >> 1
    }
}

/// Where a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// Name for feedback, kept with the packet until it is acknowledged.
    pub index: EvIndex,
    /// Port it leaves by, 0 or 1.
    pub plane: u8,
    /// Entropy value in the headers of the packet.
    pub entropy: Entropy,
}
