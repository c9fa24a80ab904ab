//! An entry of a translation completion.

use crate::iommu::{Leaf, PageSize, Permission};

/// Bit 0: the device may read.
const READ: u64 = 1;
/// Bit 1: the device may write.
const WRITE: u64 = 1 << 1;
/// Bit 11 (S): the page is larger than 4 KiB.
const LARGE: u64 = 1 << 11;
/// Bits of the address.
const ADDRESS: u64 = !0xfff;

/// A translation as it stands in a completion (PCIe base specification, section 10.2.3.1): address in bits 63:12, S in bit 11, W in bit 1, R in bit 0.
/// The bits N, Global, Priv, Exe and U are 0.
///
/// Of a page larger than 4 KiB, S is set, and the lowest address bit that is 0 says how large it is: bit 12 for 8 KiB, bit 20 for 2 MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TranslationEntry(u64);

impl TranslationEntry {
    /// Bytes of an entry.
    pub const BYTES: usize = 8;
    /// The entry of an address that is not mapped: it permits nothing.
    pub const NOTHING: Self = Self(0);

    /// The entry of a page of the IOMMU.
    pub(crate) fn of_leaf(leaf: Leaf) -> Self {
        let Permission { read, write } = leaf.permission;
        let size = match leaf.size.bytes() / PageSize::Size4KiB.bytes() {
            1 => 0,
            // All bits below the highest one that lies within the page are ones.
            pages => LARGE | (pages / 2 - 1) << 12,
        };
        Self(leaf.frame | size | u64::from(write) << 1 | u64::from(read))
    }

    /// From the bytes of a completion, in the order of the wire. `None` if there are not [`Self::BYTES`] of them.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Self(u64::from_be_bytes(bytes.try_into().ok()?)))
    }

    /// The bytes in a completion.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        self.0.to_be_bytes()
    }

    /// What the device may do there.
    pub const fn permission(self) -> Permission {
        Permission {
            read: self.0 & READ != 0,
            write: self.0 & WRITE != 0,
        }
    }

    /// Size of the page in bytes.
    pub const fn page_bytes(self) -> u64 {
        if self.0 & LARGE == 0 {
            return 1 << 12;
        }
        1 << (13 + (self.0 >> 12).trailing_ones())
    }

    /// First address of the page.
    pub const fn frame(self) -> u64 {
        self.0 & ADDRESS & !(self.page_bytes() - 1)
    }

    /// The page that holds `iova`, as a cache keeps it. Of a size that caches do not have, it is the 4 KiB around `iova`.
    pub(crate) fn leaf(self, iova: u64) -> Leaf {
        let bytes = self.page_bytes();
        let size = PageSize::ALL.into_iter().find(|size| size.bytes() == bytes);
        let size = size.unwrap_or(PageSize::Size4KiB);
        let offset = iova & (bytes - 1) & !(size.bytes() - 1);
        Leaf {
            frame: self.frame() | offset,
            size,
            permission: self.permission(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(frame: u64, size: PageSize, permission: Permission) -> Leaf {
        Leaf {
            frame,
            size,
            permission,
        }
    }

    #[test]
    fn the_bits_are_those_of_the_specification() {
        let small = leaf(0x12_3000, PageSize::Size4KiB, Permission::READ_ONLY);
        assert_eq!(TranslationEntry::of_leaf(small).0, 0x12_3001);
        let large = leaf(0x4000_0000, PageSize::Size2MiB, Permission::WRITE_ONLY);
        assert_eq!(TranslationEntry::of_leaf(large).0, 0x400f_f802);
        let bytes = TranslationEntry::of_leaf(small).to_bytes();
        assert_eq!(bytes, [0, 0, 0, 0, 0, 0x12, 0x30, 0x01]);
    }

    #[test]
    fn every_page_comes_back_as_it_was() {
        for size in PageSize::ALL {
            let page = leaf(3 << 30, size, Permission::READ_WRITE);
            let entry = TranslationEntry::of_leaf(page);
            let entry = TranslationEntry::from_bytes(&entry.to_bytes()).unwrap();
            assert_eq!(entry.page_bytes(), size.bytes());
            assert_eq!(entry.leaf(size.bytes() - 1), page);
        }
        assert_eq!(TranslationEntry::from_bytes(&[0; 4]), None);
    }

    #[test]
    fn of_a_page_of_64_kib_a_cache_keeps_the_part_around_the_address() {
        let entry = TranslationEntry(0x7_0000 | LARGE | 0x7000 | READ | WRITE);
        assert_eq!((entry.page_bytes(), entry.frame()), (0x1_0000, 0x7_0000));
        let part = entry.leaf(0xab_5678);
        assert_eq!((part.frame, part.size), (0x7_5000, PageSize::Size4KiB));
    }

    #[test]
    fn what_is_not_mapped_permits_nothing() {
        let permission = TranslationEntry::NOTHING.permission();
        assert!(!permission.read && !permission.write);
    }
}
