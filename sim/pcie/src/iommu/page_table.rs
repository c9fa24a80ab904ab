//! A four-level page table from 48-bit IO virtual addresses to host physical addresses.

use super::mapping::{MapError, PageSize, Permission, INDEX_BITS, IOVA_BITS};

const TOP_LEVEL: u32 = 3;

/// A translation found in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub frame: u64,
    pub size: PageSize,
    pub permission: Permission,
}

impl Leaf {
    /// A page of 4 KiB that holds `address` and leaves it as it is.
    pub fn unchanged(address: u64) -> Self {
        let size = PageSize::Size4KiB;
        Self {
            frame: address & !(size.bytes() - 1),
            size,
            permission: Permission::READ_WRITE,
        }
    }

    /// The address of a byte of the page.
    pub fn translate(&self, iova: u64) -> u64 {
        self.frame | iova & (self.size.bytes() - 1)
    }
}

enum Slot {
    Empty,
    Table(Box<Node>),
    Page(Leaf),
}

struct Node {
    slots: Vec<Slot>,
    used: usize,
}

impl Node {
    fn new() -> Self {
        Self {
            slots: std::iter::repeat_with(|| Slot::Empty)
                .take(1 << INDEX_BITS)
                .collect(),
            used: 0,
        }
    }

    /// Clears the page of `size` below this node, and removes tables that become empty. Returns false if there is no such page.
    fn remove(&mut self, level: u32, iova: u64, size: PageSize) -> bool {
        let slot = &mut self.slots[index(iova, level)];
        let now_empty = match slot {
            Slot::Page(leaf) if leaf.size == size => true,
            Slot::Table(child) if level > size.level() => {
                if !child.remove(level - 1, iova, size) {
                    return false;
                }
                child.used == 0
            }
            _ => return false,
        };
        if now_empty {
            *slot = Slot::Empty;
            self.used -= 1;
        }
        true
    }
}

fn index(iova: u64, level: u32) -> usize {
    (iova >> (12 + INDEX_BITS * level)) as usize % (1 << INDEX_BITS)
}

/// Page table of one domain.
pub(crate) struct PageTable {
    root: Node,
}

impl PageTable {
    pub fn new() -> Self {
        Self { root: Node::new() }
    }

    /// Maps one page.
    pub fn map(
        &mut self,
        iova: u64,
        frame: u64,
        size: PageSize,
        permission: Permission,
    ) -> Result<(), MapError> {
        check_page(iova, size)?;
        check_aligned(frame, size)?;
        let mut node = &mut self.root;
        for level in (size.level() + 1..=TOP_LEVEL).rev() {
            let slot = &mut node.slots[index(iova, level)];
            if let Slot::Empty = slot {
                *slot = Slot::Table(Box::new(Node::new()));
                node.used += 1;
            }
            node = match slot {
                Slot::Table(child) => child,
                _ => return Err(MapError::Overlap(iova)),
            };
        }
        let slot = &mut node.slots[index(iova, size.level())];
        if !matches!(slot, Slot::Empty) {
            return Err(MapError::Overlap(iova));
        }
        *slot = Slot::Page(Leaf {
            frame,
            size,
            permission,
        });
        node.used += 1;
        Ok(())
    }

    /// Removes one page, which must have been mapped with this size.
    pub fn unmap(&mut self, iova: u64, size: PageSize) -> Result<(), MapError> {
        check_page(iova, size)?;
        if self.root.remove(TOP_LEVEL, iova, size) {
            Ok(())
        } else {
            Err(MapError::NotMapped(iova))
        }
    }

    /// The page that holds `iova`.
    pub fn walk(&self, iova: u64) -> Option<Leaf> {
        if iova >> IOVA_BITS != 0 {
            return None;
        }
        let mut node = &self.root;
        for level in (0..=TOP_LEVEL).rev() {
            match &node.slots[index(iova, level)] {
                Slot::Empty => return None,
                Slot::Page(leaf) => return Some(*leaf),
                Slot::Table(child) => node = child,
            }
        }
        None
    }
}

fn check_aligned(address: u64, size: PageSize) -> Result<(), MapError> {
    if address.is_multiple_of(size.bytes()) {
        Ok(())
    } else {
        Err(MapError::Misaligned {
            address,
            page: size.bytes(),
        })
    }
}

fn check_page(iova: u64, size: PageSize) -> Result<(), MapError> {
    check_aligned(iova, size)?;
    if iova >> IOVA_BITS == 0 {
        Ok(())
    } else {
        Err(MapError::OutOfRange(iova))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const RW: Permission = Permission::READ_WRITE;

    #[test]
    fn pages_of_all_sizes_live_side_by_side() {
        let mut table = PageTable::new();
        table
            .map(0x4000_0000, 0x8000_0000, PageSize::Size1GiB, RW)
            .unwrap();
        table
            .map(0x0020_0000, 0x0060_0000, PageSize::Size2MiB, RW)
            .unwrap();
        table.map(0x1000, 0x5000, PageSize::Size4KiB, RW).unwrap();
        assert_eq!(table.walk(0x7fff_ffff).unwrap().frame, 0x8000_0000);
        assert_eq!(table.walk(0x003f_ffff).unwrap().frame, 0x0060_0000);
        assert_eq!(table.walk(0x1fff).unwrap().frame, 0x5000);
        assert_eq!(table.walk(0x2000), None);
        assert_eq!(table.walk(0x8000_0000), None);
        assert_eq!(table.walk(1 << IOVA_BITS | 0x1000), None);
    }

    #[test]
    fn overlaps_are_refused_in_both_directions() {
        let mut table = PageTable::new();
        table.map(0x1000, 0, PageSize::Size4KiB, RW).unwrap();
        assert_eq!(
            table.map(0, 0, PageSize::Size2MiB, RW),
            Err(MapError::Overlap(0))
        );
        table.map(0x20_0000, 0, PageSize::Size2MiB, RW).unwrap();
        assert_eq!(
            table.map(0x20_1000, 0, PageSize::Size4KiB, RW),
            Err(MapError::Overlap(0x20_1000))
        );
    }

    #[test]
    fn emptied_tables_make_room_for_a_large_page() {
        let mut table = PageTable::new();
        table.map(0x1000, 0, PageSize::Size4KiB, RW).unwrap();
        table.unmap(0x1000, PageSize::Size4KiB).unwrap();
        table.map(0, 0, PageSize::Size1GiB, RW).unwrap();
    }

    #[test]
    fn bad_arguments_are_named() {
        let mut table = PageTable::new();
        let misaligned = MapError::Misaligned {
            address: 0x1000,
            page: 0x20_0000,
        };
        assert_eq!(
            table.map(0x1000, 0, PageSize::Size2MiB, RW),
            Err(misaligned.clone())
        );
        assert_eq!(
            table.map(0, 0x1000, PageSize::Size2MiB, RW),
            Err(misaligned)
        );
        assert_eq!(
            table.map(1 << 48, 0, PageSize::Size4KiB, RW),
            Err(MapError::OutOfRange(1 << 48))
        );
        table.map(0, 0, PageSize::Size2MiB, RW).unwrap();
        assert_eq!(
            table.unmap(0, PageSize::Size4KiB),
            Err(MapError::NotMapped(0))
        );
    }

    proptest! {
        #[test]
        fn behaves_like_a_flat_map(ops in proptest::collection::vec((any::<bool>(), 0u64..24, 0usize..3), 1..60)) {
            // Three neighbouring slots of each size around 1 GiB keep collisions frequent.
            let mut table = PageTable::new();
            let mut flat: BTreeMap<u64, (PageSize, u64)> = BTreeMap::new();
            for (n, (map, slot, size)) in ops.into_iter().enumerate() {
                let size = PageSize::ALL[size];
                let iova = slot * size.bytes();
                if map {
                    let frame = (n as u64 + 1) << 30;
                    let free = flat.iter().all(|(base, (s, _))| base + s.bytes() <= iova || iova + size.bytes() <= *base);
                    prop_assert_eq!(table.map(iova, frame, size, RW).is_ok(), free);
                    if free { flat.insert(iova, (size, frame)); }
                } else {
                    let there = flat.get(&iova).is_some_and(|(s, _)| *s == size);
                    prop_assert_eq!(table.unmap(iova, size).is_ok(), there);
                    if there { flat.remove(&iova); }
                }
                for probe in (0..24).flat_map(|i| PageSize::ALL.map(|s| i * s.bytes() + 0x123)) {
                    let expect = flat.range(..=probe).next_back().filter(|(b, (s, _))| probe - **b < s.bytes());
                    prop_assert_eq!(table.walk(probe).map(|leaf| leaf.frame), expect.map(|(_, (_, f))| *f));
                }
            }
        }
    }
}
