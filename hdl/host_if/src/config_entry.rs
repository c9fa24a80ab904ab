//! Entries of this crate's tables out of the bits of a [`stellar_wire::hw::config::ConfigWrite`].
//!
//! rust-hdl turns a record into bits but not back. The offsets follow the order and widths of the fields in
//! `stellar_wire::hw::host_queues`; the tests below hold every field against the record's own packing.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::config::ConfigSelect;
use stellar_wire::hw::host_queues::{InterruptEntry, RingConfig};

/// Offsets of the fields of [`RingConfig`]: each is the one before plus that one's width.
mod ring {
    pub const INTERRUPTS: usize = 1;
    pub const VECTOR: usize = INTERRUPTS + 1;
    pub const LOG2_ENTRIES: usize = VECTOR + 6;
    pub const BASE: usize = LOG2_ENTRIES + 5;
}

/// Offsets of the fields of [`InterruptEntry`].
mod interrupt {
    pub const DATA: usize = 1;
    pub const ADDRESS: usize = DATA + 32;
}

/// The ring of a completion queue or of the event queue.
#[hdl_fn]
pub fn ring_config(packed: Bits<1024>) -> RingConfig {
    RingConfig {
        valid: packed.get_bit(0),
        interrupts: packed.get_bit(ring::INTERRUPTS),
        vector: packed.get_bits::<6>(ring::VECTOR),
        log2_entries: packed.get_bits::<5>(ring::LOG2_ENTRIES),
        base: packed.get_bits::<64>(ring::BASE),
    }
}

/// A vector of the MSI-X table.
#[hdl_fn]
pub fn interrupt_entry(packed: Bits<1024>) -> InterruptEntry {
    InterruptEntry {
        masked: packed.get_bit(0),
        data: packed.get_bits::<32>(interrupt::DATA),
        address: packed.get_bits::<64>(interrupt::ADDRESS),
    }
}

/// The table with this number.
#[hdl_fn]
pub fn config_select(number: Bits<4>) -> ConfigSelect {
    match number.to_u8() {
        0 => ConfigSelect::Qp,
        1 => ConfigSelect::Mr,
        2 => ConfigSelect::Emtt,
        3 => ConfigSelect::Requester,
        4 => ConfigSelect::SendQueue,
        5 => ConfigSelect::Spray,
        6 => ConfigSelect::Profile,
        7 => ConfigSelect::Nscc,
        8 => ConfigSelect::Address0,
        9 => ConfigSelect::Address1,
        10 => ConfigSelect::Port,
        11 => ConfigSelect::ControlPeer,
        12 => ConfigSelect::Responder,
        13 => ConfigSelect::CompletionQueue,
        14 => ConfigSelect::EventQueue,
        _ => ConfigSelect::Interrupt,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_table_has_its_number() {
        for number in 0..16u64 {
            let select: Bits<4> = config_select(number.to_bits()).into();
            assert_eq!(select.to_u64(), number);
        }
        assert_eq!(ConfigSelect::BITS, 4);
    }

    proptest! {
        #[test]
        fn a_ring_comes_back_out_of_its_bits(
            valid: bool, interrupts: bool, vector in 0u64..64, log2_entries in 0u64..32, base: u64,
        ) {
            let entry = RingConfig {
                valid,
                interrupts,
                vector: vector.to_bits(),
                log2_entries: log2_entries.to_bits(),
                base: base.to_bits(),
            };
            let packed: Bits<{ RingConfig::BITS }> = entry.into();
            prop_assert_eq!(ring_config(bit_cast(packed)), entry);
        }

        #[test]
        fn a_vector_comes_back_out_of_its_bits(masked: bool, data: u32, address: u64) {
            let entry = InterruptEntry {
                masked,
                data: u64::from(data).to_bits(),
                address: address.to_bits(),
            };
            let packed: Bits<{ InterruptEntry::BITS }> = entry.into();
            prop_assert_eq!(interrupt_entry(bit_cast(packed)), entry);
        }
    }
}
