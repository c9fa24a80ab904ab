//! The map cache: blocks, their users, and the order of eviction.

use std::collections::BTreeMap;
use std::ops::Range;

use super::error::PvdmaError;
use super::platform::{Fence, IoMap, Piece, Pinning};
use super::range::{GuestId, Window, BLOCK};
use super::{Counters, Limits, Usage};

/// A pinned block.
struct Block {
    /// Number of leases that contain it.
    users: u32,
    pieces: Vec<Piece>,
    /// The block's place in the order of idle blocks.
    idle_since: Option<u64>,
    /// The IOMMU failed to unmap the block, so a part of it may already be unmapped.
    is_broken: bool,
}

struct Guest {
    window: Window,
    blocks: BTreeMap<u64, Block>,
    /// The guest was removed. Its entry is dropped with its last block.
    is_gone: bool,
}

/// Name of a block: the guest, and the block's number in the guest.
type Place = (GuestId, u64);

/// All blocks.
pub(super) struct Cache {
    limits: Limits,
    pinning: Box<dyn Pinning>,
    iommu: Box<dyn IoMap>,
    fence: Box<dyn Fence>,
    guests: BTreeMap<GuestId, Guest>,
    /// Idle blocks, in the order in which their last users left.
    idle: BTreeMap<u64, Place>,
    releases: u64,
    blocks: usize,
    counters: Counters,
}

impl Cache {
    pub fn new(
        limits: Limits,
        pinning: Box<dyn Pinning>,
        iommu: Box<dyn IoMap>,
        fence: Box<dyn Fence>,
    ) -> Self {
        Self {
            limits,
            pinning,
            iommu,
            fence,
            guests: BTreeMap::new(),
            idle: BTreeMap::new(),
            releases: 0,
            blocks: 0,
            counters: Counters::default(),
        }
    }

    pub fn counters(&self) -> Counters {
        self.counters
    }

    pub fn usage(&self) -> Usage {
        Usage {
            blocks: self.blocks,
            idle: self.idle.len(),
        }
    }

    pub fn add_guest(&mut self, guest: GuestId, window: Window) -> Result<(), PvdmaError> {
        window.check()?;
        if self.guests.contains_key(&guest) {
            return Err(PvdmaError::GuestExists(guest));
        }
        let taken = |other: &Guest| other.window.overlaps(window);
        if self.guests.values().any(taken) {
            let why = "overlaps another guest's; give each its own";
            return Err(PvdmaError::Window { window, why });
        }
        let new = Guest {
            window,
            blocks: BTreeMap::new(),
            is_gone: false,
        };
        self.guests.insert(guest, new);
        Ok(())
    }

    /// Acquires blocks, and returns the address at which devices reach the first byte.
    pub fn acquire(
        &mut self,
        guest: GuestId,
        address: u64,
        length: u64,
    ) -> Result<(Range<u64>, u64), PvdmaError> {
        let known = self.guests.get(&guest).filter(|known| !known.is_gone);
        let known = known.ok_or(PvdmaError::UnknownGuest(guest))?;
        let blocks = known.window.blocks(address, length)?;
        let iova = known.window.base + address;
        let here = || known.blocks.range(blocks.clone());
        if let Some((number, _)) = here().find(|(_, block)| block.is_broken) {
            return Err(PvdmaError::Broken(number * BLOCK));
        }
        let hits = here().count();
        let missing = (blocks.end - blocks.start) as usize - hits;
        // The blocks that are pinned already get their user first, so that making space does not evict them.
        self.hold(guest, blocks.clone());
        let added = self
            .make_room(missing)
            .and_then(|()| self.add_missing(guest, blocks.clone()));
        match added {
            Ok(()) => {
                self.counters.hits += hits as u64;
                Ok((blocks, iova))
            }
            Err(error) => {
                self.release(guest, blocks);
                Err(error)
            }
        }
    }

    /// Adds one use to every pinned block in `blocks`.
    fn hold(&mut self, guest: GuestId, blocks: Range<u64>) {
        let Some(guest) = self.guests.get_mut(&guest) else {
            return;
        };
        for block in guest.blocks.range_mut(blocks).map(|(_, block)| block) {
            block.users += 1;
            if let Some(stamp) = block.idle_since.take() {
                self.idle.remove(&stamp);
            }
        }
    }

    fn make_room(&mut self, missing: usize) -> Result<(), PvdmaError> {
        let most = self.limits.most_blocks;
        let over = (self.blocks + missing).saturating_sub(most);
        if over > self.idle.len() {
            let wanted = over - self.idle.len();
            return Err(PvdmaError::Limit { wanted, most });
        }
        self.evict(over).map(|_| ())
    }

    /// Pins and maps those of the blocks that are not pinned yet, each with one user.
    fn add_missing(&mut self, guest: GuestId, blocks: Range<u64>) -> Result<(), PvdmaError> {
        let known = self.guests.get_mut(&guest);
        let known = known.ok_or(PvdmaError::UnknownGuest(guest))?;
        for number in blocks {
            if known.blocks.contains_key(&number) {
                continue;
            }
            let address = number * BLOCK;
            let pinned = self.pinning.pin(guest, address);
            let pieces = pinned.map_err(|reason| PvdmaError::Pin { address, reason })?;
            let mapped = self.iommu.map(known.window.base + address, &pieces);
            if let Err(reason) = mapped {
                self.pinning.unpin(guest, address);
                return Err(PvdmaError::Map { address, reason });
            }
            let block = Block {
                users: 1,
                pieces,
                idle_since: None,
                is_broken: false,
            };
            known.blocks.insert(number, block);
            self.blocks += 1;
            self.counters.misses += 1;
        }
        Ok(())
    }

    /// Ends one use of every pinned block in `blocks`. Blocks that fail to be evicted afterwards are counted.
    pub fn release(&mut self, guest: GuestId, blocks: Range<u64>) {
        let Some(known) = self.guests.get_mut(&guest) else {
            return;
        };
        for (number, block) in known.blocks.range_mut(blocks) {
            block.users -= 1;
            if block.users == 0 {
                self.releases += 1;
                block.idle_since = Some(self.releases);
                self.idle.insert(self.releases, (guest, *number));
            }
        }
        let result = if known.is_gone {
            self.remove_guest(guest).map(|_| ())
        } else {
            let over = self.idle.len().saturating_sub(self.limits.most_idle);
            self.evict(over).map(|_| ())
        };
        // Dropping a lease cannot return an error. The next call that evicts blocks tries again.
        let _ = result;
    }

    pub fn evict(&mut self, blocks: usize) -> Result<usize, PvdmaError> {
        let victims = self.idle.iter().take(blocks).map(|(&at, &it)| (at, it));
        self.take_back(victims.collect())
    }

    pub fn remove_guest(&mut self, guest: GuestId) -> Result<usize, PvdmaError> {
        let known = self.guests.get_mut(&guest);
        let known = known.ok_or(PvdmaError::UnknownGuest(guest))?;
        known.is_gone = true;
        let idle = |(number, block): (&u64, &Block)| Some((block.idle_since?, (guest, *number)));
        let victims = known.blocks.iter().filter_map(idle).collect();
        self.take_back(victims)?;
        let left = self.guests.get(&guest).map_or(0, |g| g.blocks.len());
        if left == 0 {
            self.guests.remove(&guest);
        }
        Ok(left)
    }

    /// Evicts idle blocks: fence, unmap, unpin, in this order.
    fn take_back(&mut self, victims: Vec<(u64, Place)>) -> Result<usize, PvdmaError> {
        if victims.is_empty() {
            return Ok(0);
        }
        self.counters.fences += 1;
        if let Err(reason) = self.fence.fence() {
            self.counters.failures += 1;
            return Err(PvdmaError::Fence(reason));
        }
        let mut failed = None;
        let mut taken = 0;
        for (stamp, (guest, number)) in victims {
            let Some(known) = self.guests.get_mut(&guest) else {
                continue;
            };
            let Some(block) = known.blocks.get_mut(&number) else {
                continue;
            };
            let address = number * BLOCK;
            match self.iommu.unmap(known.window.base + address, &block.pieces) {
                Ok(()) => {
                    self.pinning.unpin(guest, address);
                    known.blocks.remove(&number);
                    self.idle.remove(&stamp);
                    self.blocks -= 1;
                    taken += 1;
                }
                Err(reason) => {
                    block.is_broken = true;
                    self.counters.failures += 1;
                    failed = Some(PvdmaError::Unmap { address, reason });
                }
            }
        }
        self.counters.evicted += taken as u64;
        failed.map_or(Ok(taken), Err)
    }
}
