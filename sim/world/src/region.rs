//! Registered memory regions.

use stellar_transport::rx::{MrRow, Owner, PageSize, TableWrite};

/// Protection domain of memory and queue pairs that name none.
pub(crate) const PD: u32 = 1;

/// Memory to register.
#[derive(Clone, Copy, Debug)]
pub struct RegionSpec {
    /// The region's owner.
    pub owner: Owner,
    /// Bytes.
    pub length: u64,
    /// Page size.
    pub page_size: PageSize,
    /// Offset of its first byte in its first page, in bytes.
    pub skew: u64,
}

/// A registered memory region.
#[derive(Clone, Debug)]
pub struct Region {
    /// The region's owner.
    pub owner: Owner,
    /// L_Key and R_Key.
    pub key: u32,
    /// Virtual address of its first byte.
    pub va: u64,
    /// Bytes.
    pub length: u64,
    pub(crate) pd: u32,
    pub(crate) page_size: PageSize,
    /// Bus address of each page, in random order, as an operating system allocates them.
    pub(crate) pages: Vec<u64>,
    pub(crate) first_emtt: u32,
}

impl Region {
    /// Bus address of the byte at `offset`, and the number of bytes from there to the end of the page.
    pub fn locate(&self, offset: u64) -> (u64, u64) {
        let size = self.page_size.bytes();
        let at = self.va % size + offset;
        (
            self.pages[(at / size) as usize] + at % size,
            size - at % size,
        )
    }

    /// Bus address and length of each part of the `length` bytes at `offset`, page by page.
    pub fn parts(&self, offset: u64, length: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let mut done = 0;
        std::iter::from_fn(move || {
            let (address, left) = (done < length).then(|| self.locate(offset + done))?;
            let count = left.min(length - done);
            done += count;
            Some((address, count))
        })
    }
}

/// Number of a region of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionId(pub(crate) usize);

/// The table write that adds a region to the NIC, or removes it.
pub(crate) fn region_write(region: &Region, valid: bool) -> TableWrite {
    TableWrite::Mr {
        index: region.key >> 8,
        entry: MrRow {
            valid,
            key: region.key as u8,
            pd: region.pd,
            remote_write: true,
            remote_read: false,
            remote_atomic: false,
            page_size: region.page_size,
            base_va: region.va,
            length: region.length,
            first_emtt: region.first_emtt,
            on_demand: false,
        },
    }
}
