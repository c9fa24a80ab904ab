//! The translation table of STELLAR's NIC, as far as this model needs it.

use std::collections::BTreeMap;

use super::cache::{page_of, PAGE};
use stellar_wire::pcie::AddressType;

/// Owner of a page, which decides the address type of requests (STELLAR, section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A GPU: the table has the final address, and requests carry AT = 10.
    Gpu,
    /// The host: requests carry AT = 00 and the IO virtual address, which the IOMMU translates.
    Host,
}

/// Extended memory translation table: a page of 4 KiB an entry, all on the card. The hardware is `hdl/emtt`.
#[derive(Clone, Debug, Default)]
pub struct Emtt {
    pages: BTreeMap<u64, (u64, Owner)>,
}

impl Emtt {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers the page at `page` in the region's address space: its bus address and owner. It replaces an earlier entry.
    ///
    /// # Panics
    /// If an address is no multiple of 4 KiB.
    pub fn register(&mut self, page: u64, address: u64, owner: Owner) {
        let aligned = page.is_multiple_of(PAGE) && address.is_multiple_of(PAGE);
        assert!(aligned, "{page:#x} -> {address:#x}: pages are of 4 KiB");
        self.pages.insert(page, (address, owner));
    }

    /// Bus address of a byte and the address type for it; `None` if its page is not registered.
    pub fn look_up(&self, address: u64) -> Option<(u64, AddressType)> {
        let &(frame, owner) = self.pages.get(&page_of(address))?;
        let at = match owner {
            Owner::Gpu => AddressType::Translated,
            Owner::Host => AddressType::Untranslated,
        };
        Some((frame | address & (PAGE - 1), at))
    }
}
