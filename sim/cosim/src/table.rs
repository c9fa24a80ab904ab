//! Table writes of the reference as words for the lane's table port.

use rust_hdl::prelude::{Bits, ToBits};
use stellar_transport::rx::TableWrite;
use stellar_wire::hw::pack::to_words;
use stellar_wire::hw::tables::{self, TableSelect};
use stellar_wire::rows::Row;

/// The packed hardware record of `write`.
pub fn pack(write: &TableWrite) -> Vec<u32> {
    let (select, index, entry) = match write {
        TableWrite::Qp { index, context } => (TableSelect::Qp, index, context.pack()),
        TableWrite::Mr { index, entry } => (TableSelect::Mr, index, entry.pack()),
        TableWrite::Emtt { index, entry } => (TableSelect::Emtt, index, entry.pack()),
    };
    let mut packed = Bits::<176>::default();
    for (i, word) in entry.iter().enumerate() {
        for bit in (0..32).filter(|bit| word >> bit & 1 == 1) {
            packed = packed.replace_bit(i * 32 + bit, true);
        }
    }
    to_words(tables::TableWrite {
        select,
        index: u64::from(*index).to_bits(),
        entry: packed,
    })
}
