//! Queue pairs whose rings are in memory of another owner, such as a guest, which posts and polls.

use std::sync::Arc;

use stellar_wire::host::{Cqe, Wqe, WqeSize};
use stellar_wire::rows::{ConfigSelect, RingRow};

use super::core::{Completions, Core};
use super::{send_ring, Modify, QpState, QueuePairConfig, Shared, Transport};
use crate::connect::Connection;
use crate::context::Opened;
use crate::cq::take_ring;
use crate::device::DeviceError;
use crate::error::Error;
use crate::limits::MOST_ENTRIES;
use crate::paths::PathTraffic;
use crate::pd::Domain;
use crate::region::Hold;

/// Rings that the driver neither writes nor reads, by their bus addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignRings {
    /// Send queue of entries of 64 bytes, a multiple of 64.
    pub send: u64,
    /// Its entries, a power of two from 2 to 2^15.
    pub send_entries: u32,
    /// Ring of completions, a multiple of 32; zeroed.
    pub completions: u64,
    /// Its entries, a power of two up to 2^20.
    pub completion_entries: u32,
}

impl ForeignRings {
    /// Bytes of the send queue.
    pub const fn send_bytes(&self) -> u64 {
        self.send_entries as u64 * Wqe::LEN as u64
    }

    /// Bytes of the ring of completions.
    pub const fn completion_bytes(&self) -> u64 {
        self.completion_entries as u64 * Cqe::LEN as u64
    }

    /// Checks sizes and alignment.
    ///
    /// # Errors
    /// [`Error::QueueSize`], [`Error::Region`].
    pub fn check(&self) -> Result<(), Error> {
        send_ring(self.send, self.send_entries, WqeSize::Bytes64)?;
        let entries = self.completion_entries;
        if !entries.is_power_of_two() || entries > MOST_ENTRIES {
            return Err(Error::QueueSize {
                queue: "completion",
                entries,
                least: 1,
                most: MOST_ENTRIES,
            });
        }
        for (field, at, align) in [
            ("send ring", self.send, Wqe::LEN as u64),
            ("completion ring", self.completions, Cqe::LEN as u64),
        ] {
            if at % align != 0 {
                let reason = format!("{field} at {at:#x} is no multiple of {align} bytes");
                return Err(Error::Region(reason));
            }
        }
        Ok(())
    }
}

/// The ring the card completes to.
struct ForeignCompletions {
    context: Arc<Opened>,
    row: RingRow,
}

impl Completions for ForeignCompletions {
    const OF_DRIVER: bool = false;

    fn attach(&self, shared: &Arc<Shared>) -> Result<(), Error> {
        let card = &self.context.device.card;
        Ok(card.write_row(ConfigSelect::CompletionQueue, shared.number, &self.row)?)
    }

    /// Does nothing, because the owner of the ring writes its consumer index.
    fn set_live(&self, _qp: u32, _live: bool) {}

    /// Does nothing, because the owner keeps its own list of posted work requests.
    fn ended(&self, _shared: &Shared) -> Result<(), Error> {
        Ok(())
    }

    fn detach(&self, qp: u32) -> Result<(), DeviceError> {
        take_ring(&self.context.device.card, qp)
    }
}

/// A queue pair of MRC for which the driver only writes the rows. The owner of the rings posts work requests, rings doorbells and polls. The owner
/// has the doorbell page ([`crate::Context::doorbells`]).
pub struct MediatedQueuePair {
    core: Core<ForeignCompletions>,
    hold: Hold,
}

impl MediatedQueuePair {
    pub(crate) fn new(domain: Arc<Domain>, rings: ForeignRings, hold: Hold) -> Result<Self, Error> {
        rings.check()?;
        let ring = send_ring(rings.send, rings.send_entries, WqeSize::Bytes64)?;
        let row = RingRow {
            valid: true,
            log2_entries: rings.completion_entries.ilog2() as u8,
            base: rings.completions,
            event_queue: domain.context.events.number,
            ..RingRow::default()
        };
        let context = Arc::clone(&domain.context);
        let completions = Arc::new(ForeignCompletions { context, row });
        let config = QueuePairConfig {
            send_entries: rings.send_entries,
            transport: Transport::Mrc,
            ..QueuePairConfig::default()
        };
        let core = Core::new(domain, completions, ring, config)?;
        Ok(Self { core, hold })
    }

    /// The queue pair's number.
    pub fn number(&self) -> u32 {
        self.core.shared.number
    }

    /// The queue pair's state. The card's own changes are seen when events are polled.
    pub fn state(&self) -> QpState {
        self.core.shared.state()
    }

    /// The queue pair's parameters for the peer, if it sends from `psn` on.
    pub fn connection(&self, psn: u32) -> Connection {
        self.core.connection(psn)
    }

    /// Moves it to another state.
    ///
    /// # Errors
    /// The same as [`crate::QueuePair::modify`].
    pub fn modify(&self, step: Modify) -> Result<(), Error> {
        self.core.modify(step)
    }

    /// Denies it a path.
    ///
    /// # Errors
    /// The same as [`crate::QueuePair::deny_path`].
    pub fn deny_path(&self, index: u8) -> Result<(), Error> {
        self.core.use_path(index, true)
    }

    /// Allows a path again.
    ///
    /// # Errors
    /// The same as [`crate::QueuePair::allow_path`].
    pub fn allow_path(&self, index: u8) -> Result<(), Error> {
        self.core.use_path(index, false)
    }

    /// Number of paths that are counted, backups included.
    ///
    /// # Errors
    /// [`Error::NoPaths`] if the queue pair is not in RTS.
    pub fn counted_paths(&self) -> Result<usize, Error> {
        Ok(self.core.path_indices()?.len())
    }

    /// As [`crate::QueuePair::path_counts`], of at most `most` paths from place `first` on. The first read of each path returns zeros, so the owner of the rings
    /// does not see what was counted for an earlier owner of the number.
    ///
    /// # Errors
    /// The same as [`crate::QueuePair::path_counts`].
    pub fn path_counts(&self, first: usize, most: usize) -> Result<Vec<PathTraffic>, Error> {
        self.core.path_counts(first, most)
    }
}

impl Drop for MediatedQueuePair {
    /// If the card does not release the queue pair, the holder of its rings is never dropped.
    fn drop(&mut self) {
        if !self.core.remove() {
            std::mem::forget(Arc::clone(&self.hold));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{open, FakeCard};
    use crate::{AccessFlags, InitAttributes, PageSize, Pages};
    use stellar_wire::host::registers::{status, TABLE_COMMAND};

    const RINGS: ForeignRings = ForeignRings {
        send: 0x10_0000,
        send_entries: 16,
        completions: 0x20_0000,
        completion_entries: 32,
    };

    /// A queue pair in INIT and a region, held by `hold`, are made and dropped; the card answers all the time, or not when they are dropped.
    #[allow(unsafe_code)]
    fn make_and_drop(hold: &Arc<()>, card_answers: bool) {
        let function = FakeCard::new();
        let pd = open(function.clone()).alloc_pd().unwrap();
        let pages = Pages {
            size: PageSize::Size4K,
            addresses: vec![0x5000, 0x9000],
            base: 0x7000,
            device: 0,
        };
        // SAFETY: no card is there that could touch anything.
        let (region, qp) = unsafe {
            let region = pd.register_mapped(pages, AccessFlags::default(), hold.clone());
            (region.unwrap(), pd.create_mediated_qp(RINGS, hold.clone()))
        };
        let qp = qp.unwrap();
        qp.modify(Modify::Init(InitAttributes::default())).unwrap();
        assert_eq!((region.length(), Arc::strong_count(hold)), (8192, 3));
        if !card_answers {
            function.set_register(TABLE_COMMAND, 1 << status::BUSY_BIT);
        }
    }

    #[test]
    fn memory_is_let_go_only_when_the_card_has() {
        let hold = Arc::new(());
        make_and_drop(&hold, true);
        assert_eq!(Arc::strong_count(&hold), 1);
        make_and_drop(&hold, false);
        assert_eq!(
            Arc::strong_count(&hold),
            3,
            "nobody knows what the card does"
        );
    }

    #[test]
    fn rings_that_cannot_be_are_refused() {
        assert!(RINGS.check().is_ok());
        assert_eq!((RINGS.send_bytes(), RINGS.completion_bytes()), (1024, 1024));
        for (rings, named) in [
            (ForeignRings { send: 32, ..RINGS }, "send ring at 0x20"),
            (
                ForeignRings {
                    completions: 16,
                    ..RINGS
                },
                "completion ring at 0x10",
            ),
            (
                ForeignRings {
                    send_entries: 1,
                    ..RINGS
                },
                "send queue of 1 entries",
            ),
            (
                ForeignRings {
                    completion_entries: 0,
                    ..RINGS
                },
                "completion queue of 0 entries",
            ),
            (
                ForeignRings {
                    completion_entries: 1 << 21,
                    ..RINGS
                },
                "completion queue of 2097152",
            ),
        ] {
            let said = rings.check().unwrap_err().to_string();
            assert!(said.contains(named), "{said}");
        }
    }
}
