//! A ring in host memory that the card fills: completion queues and event queues.

use std::sync::Arc;

use stellar_wire::host::{Cqe, Eqe};
use stellar_wire::WireError;

use crate::device::{DeviceError, DmaBuffer, PciFunction};
use crate::error::Error;

/// Indices count entries modulo 2^24.
pub const INDEX_MODULUS: u32 = 1 << 24;

/// An entry of a ring.
pub trait Entry: Sized {
    /// The entry's bytes.
    type Bytes: Default + AsMut<[u8]>;
    /// Length of an entry in bytes.
    const LENGTH: usize;
    /// Bit of the phase in its first eight bytes.
    const PHASE_BIT: usize;

    /// The entry these bytes hold.
    fn parse(bytes: &Self::Bytes) -> Result<Self, WireError>;
}

impl Entry for Cqe {
    type Bytes = [u8; Cqe::LEN];
    const LENGTH: usize = Cqe::LEN;
    const PHASE_BIT: usize = Cqe::PHASE_BIT;

    fn parse(bytes: &Self::Bytes) -> Result<Self, WireError> {
        Self::from_bytes(bytes)
    }
}

impl Entry for Eqe {
    type Bytes = [u8; Eqe::LEN];
    const LENGTH: usize = Eqe::LEN;
    const PHASE_BIT: usize = Eqe::PHASE_BIT;

    fn parse(bytes: &Self::Bytes) -> Result<Self, WireError> {
        Self::from_bytes(bytes)
    }
}

/// The reader's side of a ring.
pub struct Ring {
    memory: DmaBuffer,
    log2_entries: u8,
    /// Number of entries that were read, modulo 2^24.
    taken: u32,
}

impl Ring {
    /// Makes a ring with zeroed memory. Its entries have phase 0, which differs from the phase of the first round.
    pub fn new<E: Entry>(
        function: &Arc<dyn PciFunction>,
        log2_entries: u8,
    ) -> Result<Self, DeviceError> {
        Ok(Self {
            memory: DmaBuffer::new(function, E::LENGTH << log2_entries)?,
            log2_entries,
            taken: 0,
        })
    }

    /// Returns the memory of the ring.
    pub const fn memory(&self) -> &DmaBuffer {
        &self.memory
    }

    /// Returns the log2 of the number of entries.
    pub const fn log2_entries(&self) -> u8 {
        self.log2_entries
    }

    /// Returns the consumer index for the card, which is the number of entries that were taken.
    pub const fn taken(&self) -> u32 {
        self.taken
    }

    const fn place<E: Entry>(&self) -> usize {
        (self.taken % (1 << self.log2_entries)) as usize * E::LENGTH
    }

    /// Returns whether the card has written the next entry.
    pub fn has_entry<E: Entry>(&self) -> Result<bool, Error> {
        let phase = u64::from((self.taken >> self.log2_entries).is_multiple_of(2));
        let word = self.memory.read_word(self.place::<E>())?;
        Ok(word >> E::PHASE_BIT & 1 == phase)
    }

    /// Takes the next entry, if the card has written it. An entry that cannot be parsed is consumed too.
    pub fn take<E: Entry>(&mut self) -> Result<Option<E>, Error> {
        if !self.has_entry::<E>()? {
            return Ok(None);
        }
        let at = self.place::<E>();
        let mut bytes = E::Bytes::default();
        self.memory.read(at, bytes.as_mut())?;
        self.taken = (self.taken + 1) % INDEX_MODULUS;
        Ok(Some(E::parse(&bytes)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeCard;
    use proptest::prelude::*;
    use stellar_wire::host::EventKind;

    fn event(number: u64, phase: bool) -> Eqe {
        Eqe {
            kind: EventKind::QpError,
            phase,
            source: 7,
            data: number,
        }
    }

    proptest! {
        /// The writer never overruns, and the reader reads at random times. Every entry is read once, in order, over any number of rounds.
        #[test]
        fn every_entry_is_read_once_in_order(
            log2_entries in 0u8..5,
            start in prop::sample::select(vec![0u32, INDEX_MODULUS - 40]),
            steps in prop::collection::vec((any::<bool>(), 1u64..9), 1..60),
        ) {
            let function: Arc<dyn PciFunction> = FakeCard::new();
            let mut ring = Ring::new::<Eqe>(&function, log2_entries).unwrap();
            let entries = 1u64 << log2_entries;
            ring.taken = start;
            let phase = |index: u64| (index / entries).is_multiple_of(2);
            // A ring that has been in use. Every place contains the entry that was last written there, and all entries have been read.
            let read_so_far = u64::from(start) + 4 * entries;
            for index in read_so_far - entries..read_so_far {
                let place = (index % entries) as usize * Eqe::LEN;
                ring.memory.write(place, &event(u64::MAX, phase(index)).to_bytes()).unwrap();
            }
            let (mut written, mut read) = (u64::from(start), u64::from(start));
            for (writes, count) in steps {
                for _ in 0..count {
                    if writes && written - read < entries {
                        let place = (written % entries) as usize * Eqe::LEN;
                        let bytes = event(written, phase(written)).to_bytes();
                        ring.memory.write(place, &bytes).unwrap();
                        written += 1;
                    } else if !writes {
                        let taken = ring.take::<Eqe>().unwrap();
                        let expected = (read < written).then(|| event(read, phase(read)));
                        prop_assert_eq!(taken, expected);
                        read += u64::from(taken.is_some());
                        prop_assert_eq!(u64::from(ring.taken()), read % u64::from(INDEX_MODULUS));
                    }
                }
            }
        }
    }
}
