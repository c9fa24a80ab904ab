//! Memory that is allocated on first use (verbs: on-demand paging).
//!
//! An on-demand region has entries in the card's tables, and no pages at first. Sending from the region or storing in it maps the pages first. If a
//! peer writes to an absent page, the card treats the packets as lost and reports the page. The driver then maps it, and the retransmission succeeds.
//! This needs MRC; over RC it is an access error.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use stellar_wire::rows::{EmttRow, Owner, PageSize};

use crate::card::lock;
use crate::device::{DeviceError, DmaBuffer};
use crate::error::Error;
use crate::open::Shared;
use crate::region::{translation, Backing, MemoryRegion};

/// Range of memory that packets may touch.
#[derive(Debug)]
pub(crate) struct Reach(AtomicU64);

impl Default for Reach {
    /// Returns the range for the default path MTU of queue pairs.
    fn default() -> Self {
        Self(AtomicU64::new(4096))
    }
}

impl Reach {
    /// Records that a queue pair may send packets of `bytes` bytes.
    pub fn grow(&self, bytes: u64) {
        self.0.fetch_max(bytes, Ordering::Relaxed);
    }

    /// Returns how many bytes after the address of a fault the packet may have touched. This is the largest MTU of the card's queue pairs, because
    /// the fault does not name its queue pair.
    fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Shape of an on-demand region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnDemandShape {
    /// Bytes, more than 0. Addresses in the region begin at 0.
    pub length: u64,
    /// Unit of allocation, up to 2 MiB.
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

    /// Number of its pages.
    pub(crate) const fn pages(self) -> u64 {
        self.length.div_ceil(self.page_size.bytes())
    }
}

/// The pages of a region that are mapped.
#[derive(Default)]
struct Resident {
    /// Table index of the first page. Without one no page is mapped.
    first: Option<u32>,
    pages: BTreeMap<u64, DmaBuffer>,
}

/// An on-demand region, shared by everything that maps its pages.
pub(crate) struct OnDemand {
    shape: OnDemandShape,
    resident: Mutex<Resident>,
}

impl OnDemand {
    /// A region without pages, closed. The card has `translations` entries in all.
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

    /// Opens it: the region is in the tables, its first page at `first`.
    pub fn open(&self, first: u32) {
        lock(&self.resident).first = Some(first);
    }

    /// Numbers of the pages that hold `length` bytes at `offset`, which lie in the region.
    fn span(&self, offset: u64, length: u64) -> std::ops::Range<u64> {
        let size = self.shape.page_size.bytes();
        offset / size..(offset + length).div_ceil(size)
    }

    /// Maps the pages that hold `length` bytes at `offset`, which lie in the region.
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
            let rows: Vec<EmttRow> = run.iter().map(row).collect();
            if let Err(error) = device.write_translations(first + page as u32, &rows) {
                // The card may have received some nevertheless.
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

    /// Maps the pages of a packet. `va` is the address of its first byte.
    pub fn serve(&self, device: &Shared, va: u64) -> Result<(), DeviceError> {
        match self.shape.length.checked_sub(va) {
            Some(left) => self.page_in(device, va, left.min(device.reach.bytes())),
            None => Ok(()),
        }
    }

    /// Removes pages from the card and frees them.
    fn discard(&self, device: &Shared, pages: std::ops::Range<u64>) -> Result<(), DeviceError> {
        let mut resident = lock(&self.resident);
        let there: Vec<u64> = resident.pages.range(pages).map(|(page, _)| *page).collect();
        let (Some((&low, &high)), Some(first)) = (there.first().zip(there.last()), resident.first)
        else {
            return Ok(());
        };
        // Rows between two mapped pages are invalid already.
        let none = vec![EmttRow::default(); (high - low + 1) as usize];
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

    /// Closes it: no page is mapped after this.
    pub fn close(&self) {
        lock(&self.resident).first = None;
    }

    /// Keeps the pages forever, because the card has not released them.
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
    /// Offset in the page of the first byte.
    in_page: usize,
    /// The bytes of the range that lie in this page.
    bytes: std::ops::Range<usize>,
}

impl MemoryRegion {
    fn on_demand(&self) -> Result<&Arc<OnDemand>, Error> {
        match &self.registered.backing {
            Backing::OnDemand(memory) => Ok(memory),
            _ => Err(Error::Region("it is not an on-demand region".to_owned())),
        }
    }

    /// Mapped bytes of an on-demand region, in whole pages; of any other region all its bytes.
    pub fn resident(&self) -> u64 {
        match &self.registered.backing {
            Backing::OnDemand(memory) => {
                let pages = lock(&memory.resident).pages.len() as u64;
                pages * memory.shape.page_size.bytes()
            }
            _ => self.length(),
        }
    }

    /// Maps pages of an on-demand region before they are used (verbs: `ibv_advise_mr`).
    ///
    /// # Errors
    /// [`Error::Region`] for another region or beyond its end, [`Error::Device`].
    pub fn prefetch(&self, offset: u64, length: u64) -> Result<(), Error> {
        let memory = self.on_demand()?;
        self.check_inside(offset, length)?;
        let device = &self.registered.domain.context.device;
        Ok(memory.page_in(device, offset, length)?)
    }

    /// Frees the pages of an on-demand region that lie inside `length` bytes at `offset`; their contents are lost, and they read as zeros.
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

    /// Copies bytes out of an on-demand region; absent pages read as zeros.
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

    /// Copies bytes into an on-demand region and maps its pages.
    ///
    /// # Errors
    /// The same as [`Self::load`], and [`Error::Device`].
    pub fn store(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        self.prefetch(offset, bytes.len() as u64)?;
        let memory = self.on_demand()?;
        let resident = lock(&memory.resident);
        for piece in memory.pieces(offset, bytes.len()) {
            // The page was mapped, and cannot be discarded while the region is borrowed.
            let page = &resident.pages[&piece.page];
            page.write(piece.in_page, &bytes[piece.bytes])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
