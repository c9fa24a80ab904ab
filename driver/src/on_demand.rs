//! Memory that is there from its first use on (verbs: on-demand paging).
//!
//! A region of such memory has room in the card's tables and no pages. What is sent from it, and what this side stores in it, brings the pages first.
//! What a peer writes meets pages that are not there: the card treats the packets as lost and reports the page, the driver brings it, and the
//! retransmission finds it. That takes MRC; over RC it is an access error.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use stellar_transport::rx::{EmttEntry, Owner, PageSize};

use crate::card::lock;
use crate::device::{DeviceError, DmaBuffer};
use crate::error::Error;
use crate::open::Shared;
use crate::region::{translation, Backing, MemoryRegion};

/// Bytes after a fault's address that the packet may have touched: the largest MTU.
const MOST_TOUCHED: u64 = 4096;

/// Shape of an on-demand region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnDemandShape {
    /// Bytes, more than 0. Addresses in the region begin at 0.
    pub length: u64,
    /// What comes at once, up to 2 MiB.
    pub page_size: PageSize,
}

impl OnDemandShape {
    /// Largest region, 2^47 bytes: the card's rows have room for no more.
    const MOST: u64 = 1 << 47;

    fn check(self) -> Result<(), Error> {
        if self.page_size == PageSize::Size1G {
            let reason = "pages of 1 GiB cannot come on demand; choose at most 2 MiB";
            return Err(Error::Region(reason.to_owned()));
        }
        if !(1..=Self::MOST).contains(&self.length) {
            let reason = format!("{:#x} bytes; choose 1 to {:#x}", self.length, Self::MOST);
            return Err(Error::Region(reason));
        }
        Ok(())
    }

    /// Pages when all are there.
    pub(crate) const fn pages(self) -> u64 {
        self.length.div_ceil(self.page_size.bytes())
    }
}

/// The pages of a region that are there.
#[derive(Default)]
struct Resident {
    /// Table index of the first page. Without one no page comes.
    first: Option<u32>,
    pages: BTreeMap<u64, DmaBuffer>,
}

/// An on-demand region, for what brings its pages.
pub(crate) struct OnDemand {
    shape: OnDemandShape,
    resident: Mutex<Resident>,
}

impl OnDemand {
    /// No pages, and none may come yet. The card has `translations` in all.
    ///
    /// # Errors
    /// [`Error::Region`], [`Error::Exhausted`].
    pub fn new(shape: OnDemandShape, translations: u32) -> Result<Self, Error> {
        shape.check()?;
        if shape.pages() > u64::from(translations) {
            return Err(Error::Exhausted {
                what: "page translations",
                have: translations,
            });
        }
        Ok(Self {
            shape,
            resident: Mutex::default(),
        })
    }

    pub const fn shape(&self) -> OnDemandShape {
        self.shape
    }

    /// Pages may come: the region is in the tables, its first page at `first`.
    pub fn open(&self, first: u32) {
        lock(&self.resident).first = Some(first);
    }

    /// Numbers of the pages that hold `length` bytes at `offset`, which lie in the region.
    fn span(&self, offset: u64, length: u64) -> std::ops::Range<u64> {
        let size = self.shape.page_size.bytes();
        offset / size..(offset + length).div_ceil(size)
    }

    /// Brings the pages that hold `length` bytes at `offset`, which lie in the region.
    pub fn page_in(&self, device: &Shared, offset: u64, length: u64) -> Result<(), DeviceError> {
        if length == 0 {
            return Ok(());
        }
        let mut resident = lock(&self.resident);
        let Some(first) = resident.first else {
            return Ok(());
        };
        let mut missing = self.span(offset, length).peekable();
        while let Some(page) = missing.next() {
            if resident.pages.contains_key(&page) {
                continue;
            }
            let mut run = vec![self.bring(device)?];
            while let Some(next) = missing.next_if(|next| !resident.pages.contains_key(next)) {
                debug_assert_eq!(next, page + run.len() as u64);
                run.push(self.bring(device)?);
            }
            let row = |memory: &DmaBuffer| translation(memory.address(), Owner::Host, 0);
            let rows: Vec<EmttEntry> = run.iter().map(row).collect();
            if let Err(error) = device.write_translations(first + page as u32, &rows) {
                // The card may have some all the same.
                std::mem::forget(run);
                return Err(error);
            }
            resident.pages.extend((page..).zip(run));
        }
        Ok(())
    }

    fn bring(&self, device: &Shared) -> Result<DmaBuffer, DeviceError> {
        let bytes = self.shape.page_size.bytes() as usize;
        DmaBuffer::new(device.card.function(), bytes)
    }

    /// Brings what a packet lacked whose first byte has this address.
    pub fn serve(&self, device: &Shared, va: u64) -> Result<(), DeviceError> {
        match self.shape.length.checked_sub(va) {
            Some(left) => self.page_in(device, va, left.min(MOST_TOUCHED)),
            None => Ok(()),
        }
    }

    /// Takes pages from the card and frees them.
    fn discard(&self, device: &Shared, pages: std::ops::Range<u64>) -> Result<(), DeviceError> {
        let mut resident = lock(&self.resident);
        let there: Vec<u64> = resident.pages.range(pages).map(|(page, _)| *page).collect();
        let (Some((&low, &high)), Some(first)) = (there.first().zip(there.last()), resident.first)
        else {
            return Ok(());
        };
        // Rows between two pages that are there are none already.
        let none = vec![EmttEntry::default(); (high - low + 1) as usize];
        let taken = device
            .write_translations(first + low as u32, &none)
            .and_then(|()| device.card.fence());
        for page in there {
            let memory = resident.pages.remove(&page);
            if taken.is_err() {
                std::mem::forget(memory);
            }
        }
        taken
    }

    /// No page comes after this.
    pub fn close(&self) {
        lock(&self.resident).first = None;
    }

    /// The card has not let go of the pages: they are never freed.
    pub fn abandon(&self) {
        std::mem::forget(std::mem::take(&mut lock(&self.resident).pages));
    }

    /// How `length` bytes at `offset` lie over the pages.
    fn pieces(&self, offset: u64, length: usize) -> impl Iterator<Item = Piece> {
        let size = self.shape.page_size.bytes();
        let mut done = 0;
        std::iter::from_fn(move || {
            let at = offset + done as u64;
            let in_page = (at % size) as usize;
            let bytes = (length - done).min(size as usize - in_page);
            let bytes = done..done + bytes;
            done = bytes.end;
            let page = at / size;
            (!bytes.is_empty()).then_some(Piece {
                page,
                in_page,
                bytes,
            })
        })
    }
}

/// Part of a range of bytes that lies in one page.
struct Piece {
    page: u64,
    /// Its first byte in the page.
    in_page: usize,
    /// Of the range.
    bytes: std::ops::Range<usize>,
}

impl MemoryRegion {
    fn on_demand(&self) -> Result<&Arc<OnDemand>, Error> {
        match &self.registered.backing {
            Backing::OnDemand(memory) => Ok(memory),
            _ => Err(Error::Region("it is not an on-demand region".to_owned())),
        }
    }

    /// Bytes of an on-demand region that are there, whole pages; of any other all.
    pub fn resident(&self) -> u64 {
        match &self.registered.backing {
            Backing::OnDemand(memory) => {
                let pages = lock(&memory.resident).pages.len() as u64;
                pages * memory.shape.page_size.bytes()
            }
            _ => self.length(),
        }
    }

    /// Brings pages of an on-demand region before they are used (verbs: `ibv_advise_mr`).
    ///
    /// # Errors
    /// [`Error::Region`] for another region or beyond its end, [`Error::Device`].
    pub fn prefetch(&self, offset: u64, length: u64) -> Result<(), Error> {
        let memory = self.on_demand()?;
        self.check_inside(offset, length)?;
        let device = &self.registered.domain.context.device;
        Ok(memory.page_in(device, offset, length)?)
    }

    /// Frees the pages of an on-demand region that lie inside `length` bytes at `offset`; what was in them is gone, and they read as zeros.
    ///
    /// # Errors
    /// [`Error::Region`] for another region, beyond its end, or while posted work requests use it; [`Error::Device`].
    pub fn discard(&mut self, offset: u64, length: u64) -> Result<(), Error> {
        let memory = self.on_demand()?;
        self.check_inside(offset, length)?;
        let posted = Arc::strong_count(&self.registered) - 1;
        if posted > 0 {
            let reason = format!("{posted} posted work requests use it: poll their completions");
            return Err(Error::Region(reason));
        }
        let size = memory.shape.page_size.bytes();
        let end = offset + length;
        // The last page may reach beyond the region.
        let last = if end == self.length() {
            end.div_ceil(size)
        } else {
            end / size
        };
        let device = &self.registered.domain.context.device;
        Ok(memory.discard(device, offset.div_ceil(size)..last)?)
    }

    /// Copies bytes out of an on-demand region; of pages that are not there, zeros.
    ///
    /// # Errors
    /// [`Error::Region`] for another region or beyond its end.
    pub fn load(&self, offset: u64, into: &mut [u8]) -> Result<(), Error> {
        let memory = self.on_demand()?;
        self.check_inside(offset, into.len() as u64)?;
        let resident = lock(&memory.resident);
        for piece in memory.pieces(offset, into.len()) {
            let into = &mut into[piece.bytes];
            match resident.pages.get(&piece.page) {
                Some(page) => page.read(piece.in_page, into)?,
                None => into.fill(0),
            }
        }
        Ok(())
    }

    /// Copies bytes into an on-demand region, which brings the pages.
    ///
    /// # Errors
    /// As [`Self::load`], and [`Error::Device`].
    pub fn store(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        self.prefetch(offset, bytes.len() as u64)?;
        let memory = self.on_demand()?;
        let resident = lock(&memory.resident);
        for piece in memory.pieces(offset, bytes.len()) {
            // It was brought, and nobody else can discard it while the region is borrowed.
            let page = &resident.pages[&piece.page];
            page.write(piece.in_page, &bytes[piece.bytes])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use stellar_wire::hw::config::ConfigSelect;

    use super::*;
    use crate::fake::{open, FakeCard};
    use crate::{AccessFlags, Context, ProtectionDomain};

    fn card() -> (Arc<FakeCard>, Context, ProtectionDomain) {
        let function = FakeCard::new();
        let context = open(Arc::clone(&function) as _);
        let pd = context.alloc_pd().unwrap();
        (function, context, pd)
    }

    fn region(
        pd: &ProtectionDomain,
        length: u64,
        page_size: PageSize,
    ) -> Result<MemoryRegion, Error> {
        let shape = OnDemandShape { length, page_size };
        pd.register_on_demand(shape, AccessFlags::default())
    }

    /// Frames in the card's table, 0 without a valid translation.
    fn frames(card: &FakeCard, pages: std::ops::Range<u32>) -> Vec<u64> {
        let frame = |index| {
            let row = card
                .row(ConfigSelect::Emtt as u8, index)
                .unwrap_or_default();
            let row = row.first().copied().unwrap_or(0);
            if row & 1 == 1 {
                row >> 12
            } else {
                0
            }
        };
        pages.map(frame).collect()
    }

    #[test]
    fn rows_of_earlier_regions_are_gone_before_any_page_comes() {
        let (card, context, pd) = card();
        let stale = EmttEntry {
            valid: true,
            frame: 7,
            ..EmttEntry::default()
        };
        let device = &context.0.device;
        device.write_translations(0, &[stale; 3]).unwrap();
        assert_eq!(frames(&card, 0..3), [7; 3]);
        let region = region(&pd, 3 * 4096, PageSize::Size4K).unwrap();
        assert_eq!(frames(&card, 0..3), [0; 3]);
        region.store(4095, &[1, 2]).unwrap();
        let there = frames(&card, 0..3);
        assert!(
            there[0] != 0 && there[1] != 0 && there[2] == 0,
            "{there:x?}"
        );
        region.deregister().unwrap();
        assert_eq!(frames(&card, 0..3), [0; 3]);
    }

    #[test]
    fn bytes_are_those_stored_and_zeros_elsewhere() {
        let (card, _context, pd) = card();
        let mut region = region(&pd, 40_000, PageSize::Size4K).unwrap();
        let stored: Vec<u8> = (0..9_000).map(|i| i as u8 | 1).collect();
        region.store(3_000, &stored).unwrap();
        region.store(39_999, &[9]).unwrap();
        assert_eq!(region.resident(), 4 * 4096);
        let mut expected = vec![0; 40_000];
        expected[3_000..12_000].copy_from_slice(&stored);
        expected[39_999] = 9;
        let mut found = vec![0xff; 40_000];
        region.load(0, &mut found).unwrap();
        assert!(found == expected);
        // Only whole pages go; the last one ends with the region.
        region.discard(4_095, 4_097).unwrap();
        region.discard(36_864, 40_000 - 36_864).unwrap();
        expected[4_096..8_192].fill(0);
        expected[39_999] = 0;
        region.load(0, &mut found).unwrap();
        assert!(found == expected);
        assert_eq!(frames(&card, 1..2), [0]);
        // Nothing is there, and nothing is asked of the card.
        let before = card.stores();
        region.discard(20_000, 10_000).unwrap();
        assert_eq!(card.stores(), before);
    }

    #[test]
    fn a_fault_brings_what_a_packet_may_have_touched_and_nothing_beyond() {
        let (card, context, pd) = card();
        let region = region(&pd, 5 * 4096, PageSize::Size4K).unwrap();
        let device = &context.0.device;
        let Backing::OnDemand(memory) = &region.registered.backing else {
            panic!("another backing");
        };
        for (va, pages) in [
            (4096, 1),
            (4097, 2),
            (5 * 4096 - 1, 3),
            (5 * 4096, 3),
            (u64::MAX, 3),
        ] {
            memory.serve(device, va).unwrap();
            assert_eq!(region.resident(), pages * 4096, "{va:#x}");
        }
        let memory = Arc::clone(memory);
        region.deregister().unwrap();
        memory.serve(device, 0).unwrap();
        assert_eq!(frames(&card, 0..5), [0; 5], "a fault that came too late");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let (_card, context, pd) = card();
        for (length, size) in [
            (0, PageSize::Size4K),
            (1 << 48, PageSize::Size2M),
            (1, PageSize::Size1G),
        ] {
            assert!(matches!(region(&pd, length, size), Err(Error::Region(_))));
        }
        let too_many = region(&pd, 1 << 47, PageSize::Size4K);
        assert!(matches!(too_many, Err(Error::Exhausted { .. })));
        let mut region = region(&pd, 10_000, PageSize::Size64K).unwrap();
        assert!(matches!(region.prefetch(9_999, 2), Err(Error::Region(_))));
        assert!(matches!(
            region.store(u64::MAX, &[0]),
            Err(Error::Region(_))
        ));
        assert!(matches!(
            region.load(10_000, &mut [0]),
            Err(Error::Region(_))
        ));
        assert!(matches!(region.discard(1, 10_000), Err(Error::Region(_))));
        region.prefetch(0, 0).unwrap();
        assert_eq!(region.resident(), 0);
        assert!(region.memory().is_none());
        let memory = context.alloc(4096).unwrap();
        let mut fixed = pd.register(memory, AccessFlags::default()).unwrap();
        assert!(matches!(fixed.prefetch(0, 1), Err(Error::Region(_))));
        assert!(matches!(fixed.discard(0, 1), Err(Error::Region(_))));
        assert_eq!(fixed.resident(), 4096);
    }

    #[test]
    fn pages_that_posted_work_requests_read_are_not_discarded() {
        let (_card, _context, pd) = card();
        let mut region = region(&pd, 3 * 4096, PageSize::Size4K).unwrap();
        region.registered.prepare(4096, 100).unwrap();
        let posted = Arc::clone(&region.registered);
        assert_eq!(region.resident(), 4096);
        match region.discard(0, 4096) {
            Err(Error::Region(reason)) => assert!(reason.contains("1 posted"), "{reason}"),
            other => panic!("{other:?}"),
        }
        drop(posted);
        region.discard(0, 3 * 4096).unwrap();
        assert_eq!(region.resident(), 0);
    }
}
