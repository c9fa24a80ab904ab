//! A ring in host memory that the card fills and a reader empties: place, phase, free space and arming.
//!
//! The same ring as the reference's `PhaseRing`, except that the reader there takes entries one by one; here it writes the number of entries that it
//! has taken.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::WriteTlpHeader;

/// Bits of an index: twice the longest ring, of 2^20 entries, and more.
pub const INDEX_BITS: usize = 24;

/// State of a ring. The initial state is zero.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Ring {
    /// Entries written, modulo 2^24.
    pub produced: Bits<24>,
    /// Number of entries that the reader has consumed, modulo 2^24.
    pub consumer: Bits<24>,
    /// The next entry raises an interrupt.
    pub armed: Bit,
}

/// Consumer index as the reader writes it ([`stellar_wire::host::ConsumerIndex`]).
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ConsumerUpdate {
    pub index: Bits<24>,
    pub arm: Bit,
}

/// The effect of a consumer index on a ring.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Consumed {
    /// The index lies between the last one and the number of entries written; otherwise nothing changes.
    pub accepted: Bit,
    pub ring: Ring,
    /// The reader armed, and there are entries that it has not read: the interrupt is due now. This closes the race between an entry written after the
    /// reader's last poll and its arming; that entry would otherwise raise no interrupt.
    pub raise: Bit,
}

/// The index bits that are the place in the ring. 1 level.
#[hdl_fn]
pub fn place_mask(log2_entries: Bits<5>) -> Bits<24> {
    let mut mask = bits::<24>(0);
    for bit in 0..INDEX_BITS {
        mask = mask.replace_bit(bit, log2_entries > (bit as u64));
    }
    mask
}

/// Whether the ring has no free place. A subtraction and 3 levels.
#[hdl_fn]
pub fn is_full(ring: Ring, mask: Bits<24>) -> Bit {
    ((ring.produced - ring.consumer) & !mask).any()
}

/// Phase of the next entry: 1 in the first round, then alternating.
#[hdl_fn]
pub fn phase(ring: Ring, mask: Bits<24>) -> Bit {
    let round_bit = ((mask << 1) | bits::<24>(1)) & !mask;
    !(ring.produced & round_bit).any()
}

/// The ring after one more entry.
#[hdl_fn]
pub fn produced(ring: Ring) -> Ring {
    Ring {
        produced: ring.produced + 1,
        consumer: ring.consumer,
        armed: false,
    }
}

/// Returns `ring` after `update`. `interrupts` says whether the reader of the ring uses interrupts. Two subtractions and a comparison.
#[hdl_fn]
pub fn consume(ring: Ring, update: ConsumerUpdate, interrupts: Bit) -> Consumed {
    let accepted = (ring.produced - update.index) <= (ring.produced - ring.consumer);
    let arms = accepted & update.arm & interrupts;
    let unknown = ring.produced != update.index;
    let consumer = if accepted {
        update.index
    } else {
        ring.consumer
    };
    Consumed {
        accepted,
        ring: Ring {
            produced: ring.produced,
            consumer,
            armed: (arms & !unknown) | (ring.armed & !arms),
        },
        raise: arms & unknown,
    }
}

/// Returns the header of a write of whole double words in one TLP. `address` must be a multiple of 4, and the write must not cross a 4 KiB boundary.
#[hdl_fn]
pub fn write_header(address: Bits<64>, length_dw: Bits<11>) -> WriteTlpHeader {
    let last_be = if length_dw == 1 {
        bits::<4>(0)
    } else {
        bits::<4>(15)
    };
    WriteTlpHeader {
        address_dw: address.get_bits::<62>(2),
        at: bits::<2>(0),
        length_dw,
        first_be: bits::<4>(15),
        last_be,
        ends: false,
        flush: false,
        device: bits(0),
        of_host_queue: true,
        message: false,
        vector: bits(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MODULUS: u64 = 1 << INDEX_BITS;

    fn index(count: u64) -> Bits<24> {
        (count % MODULUS).to_bits()
    }

    proptest! {
        /// Indices are counts modulo 2^24: the ring behaves as with counts that never wrap.
        #[test]
        fn a_ring_does_not_notice_that_indices_wrap(
            log2_entries in 0u64..=20, before in prop_oneof![0..MODULUS, Just(MODULUS - 3), Just(MODULUS)], fill: prop::sample::Index,
            step in 0u64..10, arm: bool, interrupts: bool,
        ) {
            let waiting = fill.index((1 << log2_entries) + 1) as u64;
            let ring = Ring {
                produced: index(before + waiting),
                consumer: index(before),
                armed: false,
            };
            let mask = place_mask(log2_entries.to_bits());
            prop_assert_eq!(mask.to_u64(), (1 << log2_entries) - 1);
            prop_assert_eq!(is_full(ring, mask), waiting == 1 << log2_entries);
            prop_assert_eq!(phase(ring, mask), ((before + waiting) >> log2_entries).is_multiple_of(2));
            let update = ConsumerUpdate { index: index(before + step), arm };
            let consumed = consume(ring, update, interrupts);
            let accepted = step <= waiting;
            let unknown = step < waiting;
            prop_assert_eq!(consumed.accepted, accepted);
            prop_assert_eq!(consumed.raise, accepted && arm && interrupts && unknown);
            prop_assert_eq!(consumed.ring.armed, accepted && arm && interrupts && !unknown);
            let consumer = if accepted { index(before + step) } else { ring.consumer };
            prop_assert_eq!(consumed.ring.consumer, consumer);
            prop_assert_eq!(consumed.ring.produced, ring.produced);
        }
    }
}
