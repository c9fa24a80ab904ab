//! The page in which peers see the clock of the cards.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{fence, Ordering};
use std::time::Duration;

use rustix::fs::{fcntl_add_seals, memfd_create, MemfdFlags, SealFlags};
use stellar_wire::host::simulation::{LENGTH, NOW, STILL};
use vm_memory::{Bytes, FileOffset, MmapRegion, VolatileMemory};

/// A memory file that only this process can write.
pub struct ClockPage {
    file: File,
    page: MmapRegion,
}

impl ClockPage {
    /// A page that shows time zero.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn new() -> io::Result<Self> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = File::from(memfd_create(c"stellar-clock", flags)?);
        file.set_len(LENGTH)?;
        let offset = FileOffset::new(file.try_clone()?, 0);
        let page = MmapRegion::from_file(offset, LENGTH as usize).map_err(io::Error::other)?;
        // From here on the file cannot be mapped for writing or written by other processes.
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::FUTURE_WRITE | SealFlags::SEAL;
        fcntl_add_seals(&file, seals)?;
        Ok(Self { file, page })
    }

    /// Shows a time.
    pub fn show(&self, now: Duration) {
        let word = (now.as_nanos() as u64).to_le();
        self.page
            .as_volatile_slice()
            .store(word, NOW as usize, Ordering::Release)
            .expect("the word lies in the page");
    }

    /// Shows whether the clock is stopped. A full barrier follows. So if a driver stores a doorbell, executes a barrier and does not see this change,
    /// the server sees that doorbell when it polls after this call.
    pub fn show_still(&self, is_still: bool) {
        self.page
            .as_volatile_slice()
            .store(
                u64::from(is_still).to_le(),
                STILL as usize,
                Ordering::SeqCst,
            )
            .expect("the word lies in the page");
        fence(Ordering::SeqCst);
    }

    /// The time that it shows.
    pub fn now(&self) -> u64 {
        let word = self
            .page
            .as_volatile_slice()
            .load::<u64>(NOW as usize, Ordering::Acquire);
        u64::from_le(word.expect("the word lies in the page"))
    }

    /// The file, for peers.
    pub fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_read_the_page_and_cannot_write_it() {
        let page = ClockPage::new().unwrap();
        page.show(Duration::from_nanos(0x1234));
        assert_eq!(page.now(), 0x1234);
        let theirs = || FileOffset::new(page.file.try_clone().unwrap(), 0);
        assert!(MmapRegion::<()>::from_file(theirs(), LENGTH as usize).is_err());
        use std::os::unix::fs::FileExt;
        assert!(page.file.write_at(&[1], 0).is_err());
        assert!(page.file.set_len(0).is_err());
        assert_eq!(page.now(), 0x1234);
    }
}
