//! The guest's mapping of a virtual device's shared-memory region.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use stellar_driver::DoorbellPage;
use thiserror::Error;

struct Mapping {
    /// `None` when the device has been removed.
    page: RwLock<Option<DoorbellPage>>,
    faults: AtomicU64,
}

/// The mapping through which a guest stores to its doorbells. The first 4 KiB are the device's own page; the rest is not mapped. Clones are the same
/// mapping.
#[derive(Clone)]
pub struct DoorbellWindow(Arc<Mapping>);

/// A store outside of the doorbell page. On a processor it would be a page fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("nothing is mapped at offset {0:#x} of the shared-memory region for a store of eight bytes; the doorbell page is at its start while the device exists")]
pub struct WindowFault(pub u64);

impl DoorbellWindow {
    pub(crate) fn new(page: DoorbellPage) -> Self {
        Self(Arc::new(Mapping {
            page: RwLock::new(Some(page)),
            faults: AtomicU64::new(0),
        }))
    }

    /// Stores eight bytes.
    ///
    /// # Errors
    /// [`WindowFault`], counted.
    pub fn store(&self, offset: u64, word: u64) -> Result<(), WindowFault> {
        let page = self.0.page.read().unwrap_or_else(PoisonError::into_inner);
        let stored = page.as_ref().map(|page| page.store(offset, word));
        if let Some(Ok(())) = stored {
            return Ok(());
        }
        self.0.faults.fetch_add(1, Ordering::Relaxed);
        Err(WindowFault(offset))
    }

    /// Stores that failed.
    pub fn faults(&self) -> u64 {
        self.0.faults.load(Ordering::Relaxed)
    }

    /// Unmaps the page from the guest. After this function returns, no store reaches the page.
    pub(crate) fn revoke(&self) {
        let mut page = self.0.page.write().unwrap_or_else(PoisonError::into_inner);
        *page = None;
    }
}
