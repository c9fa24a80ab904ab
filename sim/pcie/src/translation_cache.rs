//! Set-associative cache of translations with least-recently-used replacement: the IOTLB of the root complex, and the ATC of a device.

use crate::iommu::{Leaf, PageSize};

/// How a page's number chooses its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Index {
    /// By its low bits.
    LowBits,
    /// By the exclusive or of all its parts of as many bits as the index has. So pages at the same place of several buffers fall into different sets,
    /// also if the buffers are as far apart as a power of two.
    Folded,
}

struct Line<S> {
    space: S,
    base: u64,
    leaf: Leaf,
}

/// Cached translations. `S` tells address spaces apart: domains in an IOTLB. Each set is ordered from least to most recently used.
pub(crate) struct TranslationCache<S> {
    sets: Vec<Vec<Line<S>>>,
    ways: usize,
    index: Index,
}

impl<S: Copy + PartialEq> TranslationCache<S> {
    pub fn new(sets: usize, ways: usize, index: Index) -> Self {
        Self {
            sets: (0..sets).map(|_| Vec::with_capacity(ways)).collect(),
            ways,
            index,
        }
    }

    /// The cached translation of `iova`, made the most recently used of its set.
    pub fn lookup(&mut self, space: S, iova: u64) -> Option<Leaf> {
        for size in PageSize::ALL {
            let base = iova & !(size.bytes() - 1);
            let index = self.set_of(base, size);
            let set = &mut self.sets[index];
            let found = set.iter().position(|line| {
                line.base == base && line.leaf.size == size && line.space == space
            });
            if let Some(way) = found {
                set[way..].rotate_left(1);
                return set.last().map(|line| line.leaf);
            }
        }
        None
    }

    /// Caches the page that holds `iova`, in place of the least recently used line if its set is full. Returns whether a line was replaced.
    pub fn insert(&mut self, space: S, iova: u64, leaf: Leaf) -> bool {
        let base = iova & !(leaf.size.bytes() - 1);
        let index = self.set_of(base, leaf.size);
        let set = &mut self.sets[index];
        let is_full = set.len() == self.ways;
        if is_full {
            set.remove(0);
        }
        set.push(Line { space, base, leaf });
        is_full
    }

    /// Drops every line for which `stale` holds, given its address space, first IO virtual address and size in bytes.
    pub fn invalidate(&mut self, stale: impl Fn(S, u64, u64) -> bool) {
        for set in &mut self.sets {
            set.retain(|line| !stale(line.space, line.base, line.leaf.size.bytes()));
        }
    }

    fn set_of(&self, base: u64, size: PageSize) -> usize {
        let sets = self.sets.len() as u64;
        let page = base >> size.shift();
        let number = match self.index {
            Index::LowBits => page,
            Index::Folded => {
                let bits = sets.next_power_of_two().trailing_zeros().max(1);
                let parts = (0..u64::BITS).step_by(bits as usize);
                let mask = (1 << bits) - 1;
                parts.fold(0, |folded, shift| folded ^ page >> shift & mask)
            }
        };
        (number % sets) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::iommu::{DomainId, Permission};

    const DOMAIN: DomainId = DomainId(0);

    fn page(frame: u64) -> Leaf {
        Leaf {
            frame,
            size: PageSize::Size4KiB,
            permission: Permission::READ_WRITE,
        }
    }

    #[test]
    fn the_least_recently_used_line_of_a_full_set_goes() {
        let mut tlb = TranslationCache::new(1, 2, Index::LowBits);
        tlb.insert(DOMAIN, 0x1000, page(0xa000));
        tlb.insert(DOMAIN, 0x2000, page(0xb000));
        assert!(tlb.lookup(DOMAIN, 0x1000).is_some());
        tlb.insert(DOMAIN, 0x3000, page(0xc000));
        assert!(tlb.lookup(DOMAIN, 0x2000).is_none());
        assert_eq!(tlb.lookup(DOMAIN, 0x1fff).unwrap().frame, 0xa000);
        assert_eq!(tlb.lookup(DOMAIN, 0x3000).unwrap().frame, 0xc000);
    }

    #[test]
    fn neighbouring_pages_fall_into_different_sets() {
        let mut tlb = TranslationCache::new(4, 1, Index::LowBits);
        for n in 0..4 {
            tlb.insert(DOMAIN, n << 12, page(n << 20));
        }
        for n in 0..4 {
            assert_eq!(tlb.lookup(DOMAIN, n << 12).unwrap().frame, n << 20);
        }
        tlb.insert(DOMAIN, 4 << 12, page(0));
        assert!(tlb.lookup(DOMAIN, 0).is_none());
    }

    #[test]
    fn folded_pages_of_distant_buffers_fall_into_different_sets() {
        let mut cache = TranslationCache::new(16, 1, Index::Folded);
        let buffers = (0..16).map(|n| n << 32);
        for base in buffers.clone() {
            assert!(!cache.insert(DOMAIN, base, page(base)));
        }
        for base in buffers {
            assert_eq!(cache.lookup(DOMAIN, base).unwrap().frame, base);
        }
    }

    #[test]
    fn domains_do_not_see_each_other() {
        let mut tlb = TranslationCache::new(1, 4, Index::LowBits);
        tlb.insert(DOMAIN, 0x1000, page(0xa000));
        assert!(tlb.lookup(DomainId(1), 0x1000).is_none());
        tlb.insert(DomainId(1), 0x1000, page(0xb000));
        tlb.invalidate(|domain, _, _| domain == DOMAIN);
        assert!(tlb.lookup(DOMAIN, 0x1000).is_none());
        assert_eq!(tlb.lookup(DomainId(1), 0x1000).unwrap().frame, 0xb000);
    }
}
