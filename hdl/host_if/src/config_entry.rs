//! Conversion of table numbers, as software writes them, to [`ConfigSelect`].

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::config::ConfigSelect;

/// Width of the number of a table.
pub const SELECT_BITS: usize = ConfigSelect::BITS;

/// The table with this number, which exists.
#[hdl_fn]
pub fn config_select(number: Bits<SELECT_BITS>) -> ConfigSelect {
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
        11 => ConfigSelect::Peer,
        12 => ConfigSelect::Responder,
        13 => ConfigSelect::CompletionQueue,
        14 => ConfigSelect::EventQueue,
        15 => ConfigSelect::Tenant,
        16 => ConfigSelect::PathUse,
        _ => ConfigSelect::Explicit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_has_its_number() {
        for number in 0..ConfigSelect::COUNT as u64 {
            let select: Bits<SELECT_BITS> = config_select(number.to_bits()).into();
            assert_eq!(select.to_u64(), number);
        }
        assert_eq!(SELECT_BITS, 5);
    }
}
