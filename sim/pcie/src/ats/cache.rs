//! The Address Translation Cache of a device.

use super::TranslationEntry;
use crate::iommu::Leaf;
use crate::translation_cache::{Index, TranslationCache};

/// Unit in which translations are requested (Smallest Translation Unit 0).
pub(super) const PAGE: u64 = 4096;

/// Size of an ATC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtcConfig {
    /// Sets. The bits of a page's number, folded to the width of the index, choose its set.
    pub sets: usize,
    /// Entries of a set. The least recently used one leaves when another is needed.
    pub ways: usize,
    /// Translation requests that may wait for their answer, at most 1,024: each takes a tag.
    pub outstanding: usize,
}

impl AtcConfig {
    /// Entries of the cache.
    pub const fn entries(&self) -> usize {
        self.sets * self.ways
    }
}

/// Events of an ATC since its construction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtcCounters {
    /// Requests to memory whose translation was there. Each TLP is one.
    pub hits: u64,
    /// Translation requests.
    pub requests: u64,
    /// Entries that left for others.
    pub evictions: u64,
    /// Answers that were discarded, because their range became invalid while they were on their way.
    pub discarded: u64,
    /// Answers that permit no write, and requests that the root complex refused.
    pub denied: u64,
}

/// State of an address in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Its final address.
    Hit(u64),
    /// Its translation is on its way.
    Pending,
    Miss,
}

/// Result of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answered {
    Cached,
    /// The range became invalid in between. The translation has to be requested again.
    Discarded,
    /// The page at this address may not be written.
    Denied(u64),
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    page: u64,
    /// The range became invalid after the request.
    is_stale: bool,
}

/// Translations of one function, and the requests for more.
///
/// Only entries that permit writes are cached, since [`super::WriteNic`] only writes: an address that may not be written yet is asked for again.
pub struct Atc {
    cache: TranslationCache<()>,
    /// By tag.
    pending: Vec<Option<Pending>>,
    counters: AtcCounters,
}

impl Atc {
    /// An empty cache.
    ///
    /// # Panics
    /// If a number of the configuration is 0, or there are more requests than tags.
    pub fn new(config: AtcConfig) -> Self {
        assert!(
            config.entries() > 0 && (1..=1024).contains(&config.outstanding),
            "an ATC has an entry or more, and 1 to 1,024 requests: {config:?}"
        );
        Self {
            cache: TranslationCache::new(config.sets, config.ways, Index::Folded),
            pending: vec![None; config.outstanding],
            counters: AtcCounters::default(),
        }
    }

    /// Counters since construction.
    pub const fn counters(&self) -> AtcCounters {
        self.counters
    }

    /// State of an address. The entry becomes the most recently used of its set.
    pub(super) fn find(&mut self, iova: u64) -> Found {
        if let Some(leaf) = self.cache.lookup((), iova) {
            return Found::Hit(leaf.translate(iova));
        }
        let page = page_of(iova);
        let mut pending = self.pending.iter().flatten();
        if pending.any(|pending| pending.page == page && !pending.is_stale) {
            return Found::Pending;
        }
        Found::Miss
    }

    /// Counts a request to memory that used a translation.
    pub(super) fn count_hit(&mut self) {
        self.counters.hits += 1;
    }

    /// Whether another translation may be requested.
    pub(super) fn may_request(&self) -> bool {
        self.pending.iter().any(Option::is_none)
    }

    /// Takes note of a request for the translation of `iova`, and returns its tag.
    pub(super) fn request(&mut self, iova: u64) -> Option<u16> {
        let tag = self.pending.iter().position(Option::is_none)?;
        self.pending[tag] = Some(Pending {
            page: page_of(iova),
            is_stale: false,
        });
        self.counters.requests += 1;
        Some(tag as u16)
    }

    /// The answer to the request with `tag`: an entry, or `None` if the root complex refused it. Returns `None` if there is no such request.
    pub(super) fn answer(&mut self, tag: u16, entry: Option<TranslationEntry>) -> Option<Answered> {
        let Pending { page, is_stale } = self.pending.get_mut(usize::from(tag))?.take()?;
        if is_stale {
            self.counters.discarded += 1;
            return Some(Answered::Discarded);
        }
        let leaf = entry.map(|entry| entry.leaf(page));
        let Some(leaf) = leaf.filter(|leaf: &Leaf| leaf.permission.write) else {
            self.counters.denied += 1;
            return Some(Answered::Denied(page));
        };
        // Another part of the same large page may have been answered before.
        if self.cache.lookup((), page).is_none() {
            let evicts = self.cache.insert((), page, leaf);
            self.counters.evictions += u64::from(evicts);
        }
        Some(Answered::Cached)
    }

    /// Forgets what overlaps `len` bytes at `iova`, and will discard answers to requests that are under way.
    pub(super) fn invalidate(&mut self, iova: u64, len: u64) {
        let end = iova.saturating_add(len);
        self.cache
            .invalidate(|(), base, size| base < end && iova < base + size);
        for pending in self.pending.iter_mut().flatten() {
            pending.is_stale |= pending.page < end && iova < pending.page + PAGE;
        }
    }
}

/// First address of the page.
pub(super) const fn page_of(iova: u64) -> u64 {
    iova & !(PAGE - 1)
}
