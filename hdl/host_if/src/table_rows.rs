//! The rows of a card's tables.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::config::{counted_bits, receive_window, WINDOW};
use stellar_wire::host::registers::{DataPath, Features};
use stellar_wire::host::vector_table::VECTORS;
use stellar_wire::hw::config::ConfigSelect;
use stellar_wire::hw::host_queues::EVENT_QUEUE_BITS;
use stellar_wire::hw::spray::{EXPLICIT_BITS, PROFILE_BITS};
use stellar_wire::hw::tables::EMTT_INDEX_BITS;

/// Number of tables: the variants of [`ConfigSelect`].
pub const TABLES: u64 = ConfigSelect::ALL.len() as u64;

/// Value of `FEATURES` of a card of 2^`queue_pair_bits` queue pairs, 2^`region_bits` memory regions, 2^`emtt_bits` translations and `ports` ports.
pub const fn features(
    queue_pair_bits: usize,
    region_bits: usize,
    emtt_bits: usize,
    ports: usize,
) -> Features {
    assert!(region_bits <= EMTT_INDEX_BITS && emtt_bits <= EMTT_INDEX_BITS);
    Features {
        log2_queue_pairs: queue_pair_bits as u8,
        ports: ports as u8,
        vectors: VECTORS as u8,
        log2_regions: region_bits as u8,
        log2_translations: emtt_bits as u8,
        log2_event_queues: EVENT_QUEUE_BITS as u8,
        log2_send_window: WINDOW.ilog2() as u8,
        log2_receive_window: receive_window(queue_pair_bits).ilog2() as u8,
    }
}

/// Value of `DATA_PATH` of a card of `ports` ports with an endpoint each, beats of `width` bits, and 2^`queue_pair_bits` queue pairs.
pub const fn data_path(ports: usize, width: usize, queue_pair_bits: usize) -> DataPath {
    DataPath {
        endpoints: ports as u8,
        width: width as u16,
        profiles: 1 << PROFILE_BITS,
        explicit_profiles: 1 << EXPLICIT_BITS,
        rc_paths: true,
        log2_counted: counted_bits(queue_pair_bits) as u8,
    }
}

/// log2 of the rows of the table with this number.
fn row_bits(features: Features, table: u64) -> u64 {
    features.row_bits(ConfigSelect::ALL[table as usize]).into()
}

/// Whether the card has the table with this number.
fn has_table(features: Features, table: u64) -> bool {
    features.has_table(ConfigSelect::ALL[table as usize])
}

/// One if this table has the number, and the row is one of its 2^`log2` rows.
#[hdl_fn]
fn is_row_of(number: Bits<8>, row: Bits<EMTT_INDEX_BITS>, table: u64, log2: u64) -> Bits<1> {
    let above = row >> log2;
    if (number == table) & !above.any() {
        bits::<1>(1)
    } else {
        bits::<1>(0)
    }
}

/// Whether a table has this number and this row. `Q`, `M` and `E` are log2 of queue pairs, memory regions and translations, `P` is the number of ports. 4 levels.
#[hdl_fn]
pub fn has_row<const Q: usize, const M: usize, const E: usize, const P: usize>(
    number: Bits<8>,
    row: Bits<EMTT_INDEX_BITS>,
) -> Bit {
    let mut has = bits::<1>(0);
    for table in 0..TABLES {
        let log2 = row_bits(features(Q, M, E, P), table);
        if has_table(features(Q, M, E, P), table) {
            has = has | is_row_of(number, row, table, log2);
        }
    }
    has.any()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: [u32; 14] = [
        0,
        1,
        2,
        3,
        7,
        8,
        15,
        16,
        63,
        64,
        255,
        256,
        1 << 19,
        (1 << 20) - 1,
    ];

    fn check<const P: usize>() {
        let features = features(4, 6, 8, P);
        for (number, row) in (0..=255u8).flat_map(|number| ROWS.map(|row| (number, row))) {
            let has = has_row::<4, 6, 8, P>(u64::from(number).to_bits(), u64::from(row).to_bits());
            assert_eq!(
                has,
                features.has_row(number, row),
                "{P} ports, table {number}, row {row}"
            );
        }
    }

    #[test]
    fn each_table_has_its_rows_and_no_more() {
        check::<1>();
        check::<2>();
    }
}
