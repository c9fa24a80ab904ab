//! Memory regions.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use stellar_wire::rows::{ConfigSelect, EmttRow, MrRow, Owner, PageSize};
use thiserror::Error as ThisError;

use crate::card::lock;
use crate::connect::RemoteRegion;
use crate::device::{DeviceError, DmaBuffer};
use crate::error::Error;
use crate::on_demand::OnDemand;
use crate::pd::Domain;
use crate::qp::Source;

/// Access to a region besides sending from it (verbs: `ibv_access_flags`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessFlags {
    /// The peer may write.
    pub remote_write: bool,
    /// The peer may read.
    pub remote_read: bool,
    /// The peer may do atomic operations.
    pub remote_atomic: bool,
}

/// Memory as final addresses of pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pages {
    /// Size of each.
    pub size: PageSize,
    /// Their addresses in order, multiples of the size.
    pub addresses: Vec<u64>,
    /// Address of the first page in work requests, a multiple of the size.
    pub base: u64,
    /// Index of the device, for reports, 10 bits.
    pub device: u16,
}

/// An object that keeps memory mapped. It is dropped when the card no longer uses the memory, and never if the card does not release it.
pub type Hold = Arc<dyn Any + Send + Sync>;

/// The memory of a region.
pub(crate) enum Backing {
    Host(DmaBuffer),
    Translated(Pages),
    Mapped(Pages, Hold),
    OnDemand(Arc<OnDemand>),
}

/// A region in the tables of the card.
pub(crate) struct Registered {
    pub domain: Arc<Domain>,
    pub backing: Backing,
    index: u32,
    key: u8,
    first_translation: u32,
    translations: u32,
    address: u64,
    length: u64,
}

/// Contents for the tables.
struct Plan {
    size: PageSize,
    translations: Vec<EmttRow>,
    address: u64,
    length: u64,
    on_demand: bool,
}

/// The translation of a page at this address.
pub(crate) fn translation(address: u64, owner: Owner, device: u16) -> EmttRow {
    EmttRow {
        valid: true,
        owner,
        device,
        frame: address >> PageSize::Size4K.shift(),
    }
}

/// Largest page that buffer and address allow.
fn page_size(address: u64, length: u64) -> PageSize {
    let fits = |size: &PageSize| address.is_multiple_of(size.bytes()) && size.bytes() <= length;
    let largest = PageSize::ALL.into_iter().rev().find(fits);
    largest.unwrap_or(PageSize::Size4K)
}

impl Plan {
    fn new(backing: &Backing) -> Result<Self, Error> {
        match backing {
            Backing::Host(memory) => {
                let (address, length) = (memory.address(), memory.length() as u64);
                let size = page_size(address, length);
                let page = |n| translation(address + n * size.bytes(), Owner::Host, 0);
                Ok(Self {
                    size,
                    translations: (0..length.div_ceil(size.bytes())).map(page).collect(),
                    address,
                    length,
                    on_demand: false,
                })
            }
            Backing::Translated(pages) => Self::of_pages(pages, Owner::Gpu),
            Backing::Mapped(pages, _) => Self::of_pages(pages, Owner::Host),
            Backing::OnDemand(memory) => Ok(Self {
                size: memory.shape().page_size,
                // Entries of an earlier region must not remain.
                translations: vec![EmttRow::default(); memory.shape().pages() as usize],
                address: 0,
                length: memory.shape().length,
                on_demand: true,
            }),
        }
    }

    fn of_pages(pages: &Pages, owner: Owner) -> Result<Self, Error> {
        let bytes = pages.size.bytes();
        let odd = |at: &&u64| !(**at).is_multiple_of(bytes);
        if let Some(odd) = pages.addresses.iter().chain([&pages.base]).find(odd) {
            let reason = format!("{odd:#x} is no multiple of the page size, {bytes:#x}");
            return Err(Error::Region(reason));
        }
        if pages.addresses.is_empty() || pages.device >> 10 != 0 {
            let reason = "give at least one page, and a device below 1024";
            return Err(Error::Region(reason.to_owned()));
        }
        Ok(Self {
            size: pages.size,
            translations: pages
                .addresses
                .iter()
                .map(|page| translation(*page, owner, pages.device))
                .collect(),
            address: pages.base,
            length: bytes * pages.addresses.len() as u64,
            on_demand: false,
        })
    }
}

impl Registered {
    /// Maps the pages to send, if the region is on-demand.
    pub fn prepare(&self, offset: u64, length: u32) -> Result<(), DeviceError> {
        match &self.backing {
            Backing::OnDemand(memory) => {
                memory.page_in(&self.domain.context.device, offset, length.into())
            }
            _ => Ok(()),
        }
    }

    fn new(domain: Arc<Domain>, backing: Backing, access: AccessFlags) -> Result<Self, Error> {
        let plan = Plan::new(&backing)?;
        let (index, key, first_translation) = {
            let mut pools = lock(&domain.context.device.pools);
            let index = pools.regions.take()?;
            match pools.translations.take(plan.translations.len() as u32) {
                Ok(first) => {
                    let key = &mut pools.keys[index as usize];
                    *key = key.wrapping_add(1);
                    (index, *key, first)
                }
                Err(error) => {
                    pools.regions.give_back(index);
                    return Err(error);
                }
            }
        };
        // From here on, dropping `registered` releases everything.
        let registered = Self {
            backing,
            index,
            key,
            first_translation,
            translations: plan.translations.len() as u32,
            address: plan.address,
            length: plan.length,
            domain,
        };
        registered.write_rows(&plan, access)?;
        if let Backing::OnDemand(memory) = &registered.backing {
            memory.open(first_translation);
            lock(&registered.domain.context.device.events).add_region(index, memory);
        }
        Ok(registered)
    }

    fn write_rows(&self, plan: &Plan, access: AccessFlags) -> Result<(), DeviceError> {
        let device = &self.domain.context.device;
        device.write_translations(self.first_translation, &plan.translations)?;
        let row = MrRow {
            valid: true,
            key: self.key,
            pd: self.domain.number,
            remote_write: access.remote_write,
            remote_read: access.remote_read,
            remote_atomic: access.remote_atomic,
            page_size: plan.size,
            base_va: self.address,
            length: self.length,
            first_emtt: self.first_translation,
            on_demand: plan.on_demand,
        };
        let card = &device.card;
        card.write_row(ConfigSelect::Mr, self.index, &row)
    }

    /// Removes the region from the card. When this returns, no packet that used it is in flight, and no read of it.
    fn invalidate(&self) -> Result<(), DeviceError> {
        let device = &self.domain.context.device;
        let none = MrRow::default();
        device.card.write_row(ConfigSelect::Mr, self.index, &none)?;
        let none = vec![EmttRow::default(); self.translations as usize];
        device.write_translations(self.first_translation, &none)?;
        device.card.fence()
    }

    /// The region's key, for both sides.
    pub fn rkey(&self) -> u32 {
        self.index << 8 | u32::from(self.key)
    }
}

impl Drop for Registered {
    /// If the card does not release the region, its memory and its numbers are never used again.
    fn drop(&mut self) {
        if let Backing::OnDemand(memory) = &self.backing {
            memory.close();
            lock(&self.domain.context.device.events).remove_region(self.index);
        }
        if self.invalidate().is_ok() {
            let mut pools = lock(&self.domain.context.device.pools);
            let (first, count) = (self.first_translation, self.translations);
            pools.translations.give_back(first, count);
            pools.regions.give_back(self.index);
        } else {
            match &self.backing {
                Backing::Host(memory) => std::mem::forget(memory.clone()),
                Backing::Mapped(_, hold) => std::mem::forget(Arc::clone(hold)),
                Backing::OnDemand(memory) => memory.abandon(),
                Backing::Translated(_) => {}
            }
        }
    }
}

/// A memory region: memory the card may use for its protection domain's queue pairs. It owns the memory.
///
/// Dropped while it is posted, it stays registered until the work request has completed.
pub struct MemoryRegion {
    pub(crate) registered: Arc<Registered>,
}

/// A region that cannot be deregistered.
#[derive(ThisError)]
#[error("{posted} posted work requests use the region: poll their completions first")]
pub struct DeregisterError {
    /// The region, as it was.
    pub region: MemoryRegion,
    /// Number of posted work requests that still use the region.
    pub posted: usize,
}

impl fmt::Debug for DeregisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl MemoryRegion {
    pub(crate) fn new(
        domain: Arc<Domain>,
        backing: Backing,
        access: AccessFlags,
    ) -> Result<Self, Error> {
        let registered = Arc::new(Registered::new(domain, backing, access)?);
        Ok(Self { registered })
    }

    /// Address of its first byte in work requests, here and at the peer.
    pub fn address(&self) -> u64 {
        self.registered.address
    }

    /// Length in bytes.
    pub fn length(&self) -> u64 {
        self.registered.length
    }

    /// The region's key in local work requests.
    pub fn lkey(&self) -> u32 {
        self.registered.rkey()
    }

    /// The region's key in requests of the peer.
    pub fn rkey(&self) -> u32 {
        self.registered.rkey()
    }

    /// The region's parameters for the peer.
    pub fn remote(&self) -> RemoteRegion {
        RemoteRegion {
            address: self.address(),
            rkey: self.rkey(),
            length: self.length(),
        }
    }

    /// The region's memory; `None` if it is not host memory of this driver, or comes on demand.
    pub fn memory(&self) -> Option<&DmaBuffer> {
        match &self.registered.backing {
            Backing::Host(memory) => Some(memory),
            Backing::Translated(_) | Backing::Mapped(..) | Backing::OnDemand(_) => None,
        }
    }

    pub(crate) fn check_inside(&self, offset: u64, length: u64) -> Result<(), Error> {
        let have = self.length();
        match offset.checked_add(length) {
            Some(end) if end <= have => Ok(()),
            _ => Err(Error::Region(format!(
                "{length} bytes at {offset:#x} do not lie in {have:#x} bytes"
            ))),
        }
    }

    /// Selects bytes of the region to be sent.
    ///
    /// # Errors
    /// [`Error::Region`] if the bytes extend beyond the end of the region.
    pub fn slice(&self, offset: u64, length: u32) -> Result<Source<'_>, Error> {
        self.check_inside(offset, length.into())?;
        Ok(Source::Region {
            region: self,
            offset,
            length,
        })
    }

    /// Removes it from the card and frees its memory.
    ///
    /// # Errors
    /// [`DeregisterError`], with the region, if work requests that use it have not completed.
    pub fn deregister(self) -> Result<(), DeregisterError> {
        match Arc::try_unwrap(self.registered) {
            Ok(registered) => {
                drop(registered);
                Ok(())
            }
            Err(registered) => Err(DeregisterError {
                posted: Arc::strong_count(&registered) - 1,
                region: Self { registered },
            }),
        }
    }
}
