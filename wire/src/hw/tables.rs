//! Table entries, and the control word that writes them.

use rust_hdl::prelude::*;

pub use crate::rows::receive::{EmttEntry, MrEntry, QpContext};
pub use crate::rows::{Owner, PageSize, QpMode, QpState, EMTT_INDEX_BITS};

/// Tables of the lane that the table port writes.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum TableSelect {
    /// `QpContext`; also resets both tracking states of that QP to `initial_psn`.
    Qp,
    Mr,
    Emtt,
}

/// Bits of a table write's entry: the widest row, [`MrEntry`], and some to spare.
pub const TABLE_ENTRY_BITS: usize = 176;

const _: () = assert!(
    QpContext::BITS <= TABLE_ENTRY_BITS
        && MrEntry::BITS <= TABLE_ENTRY_BITS
        && EmttEntry::BITS <= TABLE_ENTRY_BITS
);

/// One table write: travels through the core pipeline in order with packets, so it never collides with a packet's own update.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TableWrite {
    pub select: TableSelect,
    pub index: Bits<EMTT_INDEX_BITS>,
    /// The entry, packed from bit 0 (`QpContext`, `MrEntry` or `EmttEntry`).
    pub entry: Bits<TABLE_ENTRY_BITS>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::hw::FromBits;

    proptest! {
        #[test]
        fn a_queue_pair_comes_back_out_of_its_bits(
            state in 0..4usize, mrc in any::<bool>(), pd in 0..1u64 << 20, pkey in any::<u16>(), mtu_log2 in 0..16u64,
            initial_psn in 0..1u64 << 24, remote_write in any::<bool>(), above in any::<u64>(),
        ) {
            let states = [QpState::Invalid, QpState::Init, QpState::Ready, QpState::Error];
            let context = QpContext {
                state: states[state],
                mode: if mrc { QpMode::Mrc } else { QpMode::Rc },
                pd: pd.to_bits(),
                pkey: pkey.to_bits(),
                mtu_log2: mtu_log2.to_bits(),
                initial_psn: initial_psn.to_bits(),
                remote_write,
            };
            let packed: Bits<{ QpContext::BITS }> = context.into();
            let entry = bit_cast::<TABLE_ENTRY_BITS, { QpContext::BITS }>(packed)
                | (bit_cast::<TABLE_ENTRY_BITS, 64>(above.to_bits()) << QpContext::BITS as u64);
            prop_assert_eq!(QpContext::from_bits(entry), context);
        }

        #[test]
        fn a_region_comes_back_out_of_its_bits(
            flags in any::<[bool; 5]>(), key in any::<u8>(), pd in 0..1u64 << 20, size in 0..4usize,
            base_va in any::<u64>(), length in 0..1u64 << 48, first_emtt in 0..1u64 << EMTT_INDEX_BITS,
        ) {
            let sizes = [PageSize::Size4K, PageSize::Size64K, PageSize::Size2M, PageSize::Size1G];
            let entry = MrEntry {
                valid: flags[0],
                key: key.to_bits(),
                pd: pd.to_bits(),
                remote_write: flags[1],
                remote_read: flags[2],
                remote_atomic: flags[3],
                page_size: sizes[size],
                base_va: base_va.to_bits(),
                length: length.to_bits(),
                first_emtt: first_emtt.to_bits(),
                on_demand: flags[4],
            };
            let packed: Bits<{ MrEntry::BITS }> = entry.into();
            prop_assert_eq!(MrEntry::from_bits(packed), entry);
        }

        #[test]
        fn an_emtt_entry_comes_back_out_of_its_bits(
            valid in any::<bool>(), gpu in any::<bool>(), device in 0..1u64 << 10, frame in 0..1u64 << 52,
        ) {
            let entry = EmttEntry {
                valid,
                owner: if gpu { Owner::Gpu } else { Owner::Host },
                device: device.to_bits(),
                frame: frame.to_bits(),
            };
            let packed: Bits<{ EmttEntry::BITS }> = entry.into();
            prop_assert_eq!(EmttEntry::from_bits(packed), entry);
        }
    }
}
