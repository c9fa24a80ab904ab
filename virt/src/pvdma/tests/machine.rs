//! A mock machine that records its calls, checks the contract of the traits, and fails on demand.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::{Fence, GuestId, IoMap, Piece, Pinning, PlatformError, Window, BLOCK};
use super::BLOCKS;

/// The calls for a block since the last check, to verify their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Fence,
    Unmap(u64),
    Unpin(u64),
}

/// A mock machine that records its calls, checks the contract, and fails on demand.
#[derive(Default)]
pub struct Notes {
    pub pinned: BTreeSet<(GuestId, u64)>,
    pub mapped: BTreeSet<u64>,
    steps: Vec<Step>,
    /// The block that was pinned and whose mapping failed. It is unpinned without a fence.
    unmappable: Option<u64>,
    /// The next call of this kind fails: pin, map, unmap, fence.
    pub failing: [bool; 4],
}

#[derive(Clone, Default)]
pub struct Machine(Arc<Mutex<Notes>>);

pub fn window(guest: GuestId) -> Window {
    Window {
        base: u64::from(guest.0 + 1) << 40,
        length: BLOCKS * BLOCK,
    }
}

impl Machine {
    pub fn notes(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fails(&self, kind: usize) -> Result<(), PlatformError> {
        if std::mem::take(&mut self.notes().failing[kind]) {
            Err(PlatformError("told to fail".to_owned()))
        } else {
            Ok(())
        }
    }
}

impl Pinning for Machine {
    fn pin(&mut self, guest: GuestId, address: u64) -> Result<Vec<Piece>, PlatformError> {
        self.fails(0)?;
        assert!(self.notes().pinned.insert((guest, address)), "pinned twice");
        let host = window(guest).base / 2 + address;
        Ok(vec![Piece {
            offset: 0,
            length: BLOCK,
            host,
        }])
    }

    fn unpin(&mut self, guest: GuestId, address: u64) {
        let iova = window(guest).base + address;
        let mut notes = self.notes();
        assert!(!notes.mapped.contains(&iova), "unpinned while mapped");
        assert!(notes.pinned.remove(&(guest, address)), "unpinned twice");
        if notes.unmappable.take() != Some(iova) {
            notes.steps.push(Step::Unpin(iova));
        }
    }
}

impl IoMap for Machine {
    fn map(&mut self, iova: u64, pieces: &[Piece]) -> Result<(), PlatformError> {
        self.fails(1)
            .inspect_err(|_| self.notes().unmappable = Some(iova))?;
        assert_eq!(pieces.len(), 1);
        assert!(self.notes().mapped.insert(iova), "mapped twice");
        Ok(())
    }

    fn unmap(&mut self, iova: u64, _pieces: &[Piece]) -> Result<(), PlatformError> {
        self.fails(2)?;
        let mut notes = self.notes();
        assert!(notes.mapped.remove(&iova), "unmapped twice");
        notes.steps.push(Step::Unmap(iova));
        Ok(())
    }
}

impl Fence for Machine {
    fn fence(&mut self) -> Result<(), PlatformError> {
        self.fails(3)?;
        self.notes().steps.push(Step::Fence);
        Ok(())
    }
}

/// Every eviction followed a fence, and unmapped the block before it unpinned it.
pub fn check_order(machine: &Machine) {
    let mut fenced = false;
    let mut unmapped = None;
    for step in std::mem::take(&mut machine.notes().steps) {
        match step {
            Step::Fence => fenced = true,
            Step::Unmap(iova) => {
                assert!(fenced, "{iova:#x} was unmapped without a fence");
                unmapped = Some(iova);
            }
            Step::Unpin(iova) => assert_eq!(unmapped.take(), Some(iova)),
        }
    }
}
