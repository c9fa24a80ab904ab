//! The shared-memory region of a virtual device, as its guest has it mapped.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use stellar_driver::DoorbellPage;
use thiserror::Error;

struct Mapping {
    /// `None` when the device is gone.
    page: RwLock<Option<DoorbellPage>>,
    faults: AtomicU64,
}

/// What a guest stores to its doorbells through. The device's own page is behind the first 4 KiB, and nothing behind the rest. Clones are the same
/// mapping.
#[derive(Clone)]
pub struct DoorbellWindow(Arc<Mapping>);

/// A store that met no doorbell page, as a processor's that meets no mapping.
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

    /// Takes the page out of the guest: when this returns, no store reaches it any more.
    pub(crate) fn revoke(&self) {
        let mut page = self.0.page.write().unwrap_or_else(PoisonError::into_inner);
        *page = None;
    }
}
