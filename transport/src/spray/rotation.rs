//! Passes over the slots of a plane.

use super::permutation::Permutation;

/// Order in which a plane visits its slots, and its position in that order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rotation {
    order: Order,
    /// Next position, 0 to 64; 64 is the end.
    position: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Ascending,
    Permuted(Permutation),
}

/// A slot, and the slots that the pass skipped before it.
pub(super) struct Visit {
    pub slot: Option<u8>,
    /// One bit per slot that was passed without being chosen.
    pub passed: u64,
}

impl Rotation {
    const SLOTS: u8 = 64;

    /// Ascending order, from `position` (0 to 63) on in the first pass.
    pub(super) fn ascending(position: u8) -> Self {
        Self {
            order: Order::Ascending,
            position: position % Self::SLOTS,
        }
    }

    /// The order of `key`, from its start.
    pub(super) fn permuted(key: u32) -> Self {
        Self {
            order: Order::Permuted(Permutation::new(key)),
            position: 0,
        }
    }

    /// Advances to the first slot of `eligible`, or to the end.
    pub(super) fn visit(&mut self, eligible: u64) -> Visit {
        let mut passed = 0;
        while self.position < Self::SLOTS {
            let slot = match self.order {
                Order::Ascending => self.position,
                Order::Permuted(permutation) => permutation.slot(self.position),
            };
            self.position += 1;
            if eligible >> slot & 1 == 1 {
                return Visit {
                    slot: Some(slot),
                    passed,
                };
            }
            passed |= 1 << slot;
        }
        Visit { slot: None, passed }
    }
}
