//! Table entries out of the bits of a table write.
//!
//! rust-hdl turns a record into bits but not back. The offsets follow the order and widths of the fields in
//! `stellar_wire::hw::tables`; the tests below hold every field against the record's own packing.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::tables::{EmttEntry, MrEntry, Owner, PageSize, EMTT_INDEX_BITS};

/// Offsets of the fields of [`MrEntry`]: each is the one before plus that one's width.
mod mr {
    use stellar_wire::hw::tables::EMTT_INDEX_BITS;

    pub const KEY: usize = 1;
    pub const PD: usize = KEY + 8;
    pub const REMOTE_WRITE: usize = PD + 20;
    pub const REMOTE_READ: usize = REMOTE_WRITE + 1;
    pub const REMOTE_ATOMIC: usize = REMOTE_READ + 1;
    pub const PAGE_SIZE: usize = REMOTE_ATOMIC + 1;
    pub const BASE_VA: usize = PAGE_SIZE + 2;
    pub const LENGTH: usize = BASE_VA + 64;
    pub const FIRST_EMTT: usize = LENGTH + 48;
    pub const ON_DEMAND: usize = FIRST_EMTT + EMTT_INDEX_BITS;
}

/// Offsets of the fields of [`EmttEntry`].
mod emtt {
    pub const OWNER: usize = 1;
    pub const DEVICE: usize = OWNER + 1;
    pub const FRAME: usize = DEVICE + 10;
}

/// The memory region in the low bits of a table write.
#[hdl_fn]
pub fn mr_entry(packed: Bits<176>) -> MrEntry {
    let page_size = match packed.get_bits::<2>(mr::PAGE_SIZE).to_u8() {
        0 => PageSize::Size4K,
        1 => PageSize::Size64K,
        2 => PageSize::Size2M,
        _ => PageSize::Size1G,
    };
    MrEntry {
        valid: packed.get_bit(0),
        key: packed.get_bits::<8>(mr::KEY),
        pd: packed.get_bits::<20>(mr::PD),
        remote_write: packed.get_bit(mr::REMOTE_WRITE),
        remote_read: packed.get_bit(mr::REMOTE_READ),
        remote_atomic: packed.get_bit(mr::REMOTE_ATOMIC),
        page_size,
        base_va: packed.get_bits::<64>(mr::BASE_VA),
        length: packed.get_bits::<48>(mr::LENGTH),
        first_emtt: packed.get_bits::<EMTT_INDEX_BITS>(mr::FIRST_EMTT),
        on_demand: packed.get_bit(mr::ON_DEMAND),
    }
}

/// The eMTT entry in the low bits of a table write.
#[hdl_fn]
pub fn emtt_entry(packed: Bits<176>) -> EmttEntry {
    let owner = if packed.get_bit(emtt::OWNER) {
        Owner::Gpu
    } else {
        Owner::Host
    };
    EmttEntry {
        valid: packed.get_bit(0),
        owner,
        device: packed.get_bits::<10>(emtt::DEVICE),
        frame: packed.get_bits::<52>(emtt::FRAME),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
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
            prop_assert_eq!(mr_entry(bit_cast(packed)), entry);
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
            prop_assert_eq!(emtt_entry(bit_cast(packed)), entry);
        }
    }
}
