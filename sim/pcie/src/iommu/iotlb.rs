//! Set-associative cache of translations with least-recently-used replacement.

use super::mapping::PageSize;
use super::page_table::Leaf;
use super::DomainId;

struct Line {
    domain: DomainId,
    base: u64,
    leaf: Leaf,
}

/// IOTLB. Each set is ordered from least to most recently used.
pub(crate) struct Iotlb {
    sets: Vec<Vec<Line>>,
    ways: usize,
}

impl Iotlb {
    pub fn new(sets: usize, ways: usize) -> Self {
        Self {
            sets: (0..sets).map(|_| Vec::with_capacity(ways)).collect(),
            ways,
        }
    }

    /// The cached translation of `iova`, made the most recently used of its set.
    pub fn lookup(&mut self, domain: DomainId, iova: u64) -> Option<Leaf> {
        for size in PageSize::ALL {
            let base = iova & !(size.bytes() - 1);
            let index = self.set_of(base, size);
            let set = &mut self.sets[index];
            let found = set.iter().position(|line| {
                line.domain == domain && line.base == base && line.leaf.size == size
            });
            if let Some(way) = found {
                set[way..].rotate_left(1);
                return set.last().map(|line| line.leaf);
            }
        }
        None
    }

    /// Caches the page that holds `iova`, in place of the least recently used line if its set is full.
    pub fn insert(&mut self, domain: DomainId, iova: u64, leaf: Leaf) {
        let base = iova & !(leaf.size.bytes() - 1);
        let index = self.set_of(base, leaf.size);
        let set = &mut self.sets[index];
        if set.len() == self.ways {
            set.remove(0);
        }
        set.push(Line { domain, base, leaf });
    }

    /// Drops every line for which `stale` holds, given its domain, first IO virtual address and size in bytes.
    pub fn invalidate(&mut self, stale: impl Fn(DomainId, u64, u64) -> bool) {
        for set in &mut self.sets {
            set.retain(|line| !stale(line.domain, line.base, line.leaf.size.bytes()));
        }
    }

    fn set_of(&self, base: u64, size: PageSize) -> usize {
        ((base >> size.shift()) % self.sets.len() as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::super::mapping::Permission;
    use super::*;

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
        let mut tlb = Iotlb::new(1, 2);
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
        let mut tlb = Iotlb::new(4, 1);
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
    fn domains_do_not_see_each_other() {
        let mut tlb = Iotlb::new(1, 4);
        tlb.insert(DOMAIN, 0x1000, page(0xa000));
        assert!(tlb.lookup(DomainId(1), 0x1000).is_none());
        tlb.insert(DomainId(1), 0x1000, page(0xb000));
        tlb.invalidate(|domain, _, _| domain == DOMAIN);
        assert!(tlb.lookup(DOMAIN, 0x1000).is_none());
        assert_eq!(tlb.lookup(DomainId(1), 0x1000).unwrap().frame, 0xb000);
    }
}
