//! States of a plane's entropy values, and which of them serve its slots.

use super::{EvIndex, EvState};
use crate::bits::low_bits;

/// The entropy values of one plane: bit `s` of a 64-bit map is slot `s`, bit `b` of an 8-bit map backup `b`.
///
/// A slot is served by its own active value unless that is withdrawn (assumed bad or denied); then by a backup of the
/// same plane, as long as there is one. So a plane keeps its share of the load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EvTable {
    plane: u8,
    /// Slots in use.
    slots: u64,
    assumed_bad: u64,
    denied: u64,
    /// Turns for which a slot is bypassed because of feedback about the value serving it, 0 to 15: bit `i` of the number of slot `s` is bit `s` of map `i`.
    turns: [u64; 4],
    backups: u8,
    backup_assumed_bad: u8,
    backup_denied: u8,
    /// Slot that each backup serves.
    serves: [Option<u8>; 8],
}

impl EvTable {
    pub(super) fn new(plane: u8, slots: u8, backups: u8) -> Self {
        Self {
            plane,
            slots: low_bits(slots.into()),
            assumed_bad: 0,
            denied: 0,
            turns: [0; 4],
            backups: low_bits(backups.into()) as u8,
            backup_assumed_bad: 0,
            backup_denied: 0,
            serves: [None; 8],
        }
    }

    /// Slots served by a value that is not withdrawn.
    pub(super) fn in_service(&self) -> u64 {
        if self.withdrawn() == 0 {
            return self.slots;
        }
        let replaced = self
            .serves
            .iter()
            .flatten()
            .fold(0, |map, slot| map | 1 << slot);
        self.slots & !self.withdrawn() | replaced
    }

    /// Returns the slots whose own value is assumed bad. They are used when no value is in service.
    pub(super) fn last_resort(&self) -> u64 {
        self.slots & self.assumed_bad
    }

    /// Slots that are bypassed.
    pub(super) fn skip(&self) -> u64 {
        self.turns.iter().fold(0, |map, bit| map | bit)
    }

    /// Ends the bypass of all slots.
    pub(super) fn end_skip(&mut self) {
        self.turns = [0; 4];
    }

    /// `slots` had a turn, and were bypassed.
    pub(super) fn pass(&mut self, slots: u64) {
        let mut borrow = self.skip() & slots;
        for bit in &mut self.turns {
            let before = *bit;
            *bit ^= borrow;
            borrow &= !before;
        }
    }

    /// Bypasses `slot` for `turns` more turns, 15 at most in all.
    pub(super) fn lose_turns(&mut self, slot: u8, turns: u8) {
        let number = |value: u8, i: usize| u64::from(value >> i & 1) << slot;
        let old = (0..4).fold(0, |sum, i| sum | (self.turns[i] >> slot & 1) << i);
        let new = (old as u8 + turns).min(15);
        for (i, bit) in self.turns.iter_mut().enumerate() {
            *bit = *bit & !(1 << slot) | number(new, i);
        }
    }

    /// Slots that are served by their own value.
    pub(super) fn served_by_own(&self) -> u64 {
        self.slots & !self.withdrawn()
    }

    /// Marks a slot as probed in this epoch. Policies that probe good paths count no turns, so map `i` has the slots that were probed `i` epochs ago.
    pub(super) fn mark_probed(&mut self, slot: u8) {
        self.turns[0] |= 1 << slot;
    }

    /// Begins an epoch. Forgets probes of the epoch that is the fourth now, or all of them.
    pub(super) fn age_probed(&mut self, forget: bool) {
        let [zero, one, two, _] = self.turns;
        self.turns = if forget { [0; 4] } else { [0, zero, one, two] };
    }

    /// The value that serves `slot`: a backup, or else its own.
    pub(super) fn server(&self, slot: u8) -> EvIndex {
        // Backups serve withdrawn slots only.
        if self.withdrawn() >> slot & 1 == 0 {
            return EvIndex::active(self.plane, slot);
        }
        match self.serves.iter().position(|&served| served == Some(slot)) {
            Some(backup) => EvIndex::backup(self.plane, backup as u8),
            None => EvIndex::active(self.plane, slot),
        }
    }

    /// The slot that `index`, a value of this plane, serves now or would serve as the last resort.
    pub(super) fn slot_of(&self, index: EvIndex) -> Option<u8> {
        if index.is_backup() {
            return self.serves[usize::from(index.place())];
        }
        let slot = index.place();
        (self.server(slot) == index && self.slots >> slot & 1 == 1).then_some(slot)
    }

    /// State of `index`; `None` if this plane has no such value.
    pub(super) fn state(&self, index: EvIndex) -> Option<EvState> {
        let place = index.place();
        let bit = |map: u64| map >> place & 1 == 1;
        let (exists, denied, assumed_bad) = if index.is_backup() {
            (
                bit(self.backups.into()),
                bit(self.backup_denied.into()),
                bit(self.backup_assumed_bad.into()),
            )
        } else {
            (bit(self.slots), bit(self.denied), bit(self.assumed_bad))
        };
        let skipped = self
            .slot_of(index)
            .is_some_and(|slot| self.skip() >> slot & 1 == 1);
        exists.then_some(match (denied, assumed_bad, skipped) {
            (true, _, _) => EvState::Denied,
            (_, true, _) => EvState::AssumedBad,
            (_, _, true) => EvState::Skip,
            _ => EvState::Good,
        })
    }

    /// Puts `index` into `state`. A value in reserve cannot be skipped: it stays good.
    pub(super) fn set_state(&mut self, index: EvIndex, state: EvState) {
        if state == EvState::Skip {
            if let Some(slot) = self.slot_of(index) {
                if self.skip() >> slot & 1 == 0 {
                    self.lose_turns(slot, 1);
                }
            }
            return;
        }
        let place = index.place();
        let (denied, assumed_bad) = (state == EvState::Denied, state == EvState::AssumedBad);
        if index.is_backup() {
            put(&mut self.backup_denied, place, denied);
            put(&mut self.backup_assumed_bad, place, assumed_bad);
        } else {
            put(&mut self.denied, place, denied);
            put(&mut self.assumed_bad, place, assumed_bad);
        }
        self.assign_backups();
    }

    /// Whether software denies one of the values.
    pub(super) fn denies(&self) -> bool {
        self.denied != 0 || self.backup_denied != 0
    }

    /// The first value that is assumed bad from `from` on in index order, going round.
    pub(super) fn next_assumed_bad(&self, from: EvIndex) -> Option<EvIndex> {
        // Fast path: this is the usual case, and the function is called before every packet.
        if self.assumed_bad == 0 && self.backup_assumed_bad == 0 {
            return None;
        }
        let all = (0..EvIndex::ACTIVE + EvIndex::BACKUPS).map_while(|i| EvIndex::new(i as u8));
        let mut bad = all.filter(|&index| {
            index.plane() == self.plane && self.state(index) == Some(EvState::AssumedBad)
        });
        let first = bad.next()?;
        if first >= from {
            return Some(first);
        }
        bad.find(|&index| index >= from).or(Some(first))
    }

    fn withdrawn(&self) -> u64 {
        self.assumed_bad | self.denied
    }

    /// Releases backups that are withdrawn or no longer needed, then assigns the lowest backup in reserve to each
    /// withdrawn slot without one, the lowest slot first. A slot whose value changes is not bypassed.
    fn assign_backups(&mut self) {
        let withdrawn = self.withdrawn() & self.slots;
        let usable = self.backups & !self.backup_assumed_bad & !self.backup_denied;
        let mut changed = 0;
        for (backup, serves) in self.serves.iter_mut().enumerate() {
            if let Some(slot) = *serves {
                if usable >> backup & 1 == 0 || withdrawn >> slot & 1 == 0 {
                    *serves = None;
                    changed |= 1 << slot;
                }
            }
        }
        for slot in (0..64).filter(|slot| withdrawn >> slot & 1 == 1) {
            if self.serves.contains(&Some(slot)) {
                continue;
            }
            changed |= 1 << slot;
            let reserve = self.serves.iter_mut().enumerate();
            let mut reserve =
                reserve.filter(|(backup, serves)| usable >> backup & 1 == 1 && serves.is_none());
            if let Some((_, serves)) = reserve.next() {
                *serves = Some(slot);
            }
        }
        for bit in &mut self.turns {
            *bit &= !changed;
        }
    }
}

/// Writes one bit of a map of 8 or 64.
fn put<T>(map: &mut T, place: u8, value: bool)
where
    T: Copy + From<u8> + std::ops::Shl<u8, Output = T> + std::ops::Not<Output = T>,
    T: std::ops::BitAnd<Output = T> + std::ops::BitOr<Output = T>,
{
    let bit = T::from(1) << place;
    *map = if value { *map | bit } else { *map & !bit };
}
