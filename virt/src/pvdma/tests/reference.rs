//! The required contents of the map cache, in the simplest form.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{GuestId, BLOCK};
use super::{BLOCKS, LIMITS};

/// The reference: users of each block, and the order in which blocks became idle.
#[derive(Default)]
pub struct Reference {
    pub users: BTreeMap<(u32, u64), u32>,
    pub idle: Vec<(u32, u64)>,
    pub gone: BTreeSet<u32>,
}

impl Reference {
    /// Acquires; returns whether it succeeds.
    pub fn acquire(&mut self, guest: u32, address: u64, length: u64) -> Option<Vec<(u32, u64)>> {
        let end = address + length;
        if self.gone.contains(&guest) || length == 0 || end > BLOCKS * BLOCK {
            return None;
        }
        let wanted: Vec<_> = (address / BLOCK..=(end - 1) / BLOCK)
            .map(|block| (guest, block))
            .collect();
        let others = self.idle.iter().filter(|it| !wanted.contains(it)).count();
        let busy = |it: &&(u32, u64)| self.users.get(it).is_some_and(|users| *users > 0);
        let needed = wanted.iter().filter(|it| !busy(it)).count();
        let in_use = self.users.values().filter(|users| **users > 0).count();
        if in_use + needed > LIMITS.most_blocks {
            // The call is refused. Its idle blocks were touched, so they are the youngest now.
            for block in wanted {
                if let Some(at) = self.idle.iter().position(|it| *it == block) {
                    self.idle.remove(at);
                    self.idle.push(block);
                }
            }
            return None;
        }
        self.idle.retain(|it| !wanted.contains(it));
        let too_many = (in_use + needed + others).saturating_sub(LIMITS.most_blocks);
        self.forget_oldest(too_many);
        for block in &wanted {
            *self.users.entry(*block).or_default() += 1;
        }
        Some(wanted)
    }

    pub fn forget_oldest(&mut self, count: usize) {
        for block in self.idle.drain(..count.min(self.idle.len())) {
            self.users.remove(&block);
        }
    }

    pub fn release(&mut self, blocks: &[(u32, u64)]) {
        for block in blocks {
            let users = self.users.get_mut(block).expect("it is in use");
            *users -= 1;
            if *users == 0 {
                self.idle.push(*block);
            }
        }
        self.bury();
        let over = self.idle.len().saturating_sub(LIMITS.most_idle);
        self.forget_oldest(over);
    }

    pub fn bury(&mut self) {
        let gone = self.gone.clone();
        self.idle.retain(|block| !gone.contains(&block.0));
        self.users
            .retain(|block, users| *users > 0 || !gone.contains(&block.0));
    }

    pub fn pinned(&self) -> BTreeSet<(GuestId, u64)> {
        let place = |&(guest, block): &(u32, u64)| (GuestId(guest), block * BLOCK);
        self.users.keys().map(place).collect()
    }
}
