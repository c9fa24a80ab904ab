//! The extended memory translation table in four banks, read three neighbours at a time.
//!
//! Entry `i` is in bank `i mod 4`, at row `i / 4`. So the entries `n` to `n + 2`, the most that a packet can need, are in different banks and are read
//! in the same cycle (`docs/decisions/0003-emtt-in-banks.md`).
//!
//! Stages, with planned LUT6 levels:
//! 1. `choose_rows`: row of each bank, which is one more for the banks before the bank of the first entry (1 + carry of 17 bits); range checks of the
//!    index (4); write decode (2).
//! 2. and 3. are the memories.
//! 4. `order_entries`: each entry from its bank (4:1, 1), blank those beyond the table (1).

use hdl_macros::{hdl, hdl_fn};
use hdl_primitives::{Checked, Parameters, UltraRam};
use rust_hdl::prelude::*;
use stellar_wire::hw::tables::{EmttEntry, EMTT_INDEX_BITS};

/// Cycles from `page_index` to `first`, `second` and `third`.
pub const LATENCY: usize = 1 + MEMORY_LATENCY + 1;

/// Banks of the table.
pub const BANKS: usize = 1 << BANKS_LOG2;
/// Bits of an index that select the bank.
const BANKS_LOG2: usize = 2;

/// Cycles from a row to the bank's entry.
const MEMORY_LATENCY: usize = UltraRam::<EmttEntry, 1>::LATENCY;

/// How the entries of the banks are ordered after a read.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ReadOrder {
    /// Bank of the first entry.
    pub bank: Bits<2>,
    pub first_beyond: Bit,
    pub second_beyond: Bit,
    pub third_beyond: Bit,
}

/// The entry of a bank.
#[hdl_fn]
fn of_bank(
    bank: Bits<2>,
    zero: EmttEntry,
    one: EmttEntry,
    two: EmttEntry,
    three: EmttEntry,
    beyond: Bit,
) -> EmttEntry {
    let found = match bank.to_u8() {
        0 => zero,
        1 => one,
        2 => two,
        _ => three,
    };
    let mut entry = found;
    entry.valid = found.valid & !beyond;
    entry
}

/// eMTT memory of 2^(`BANK` + 2) entries. `BANK` (1 to 18) is the number of address bits of a bank.
#[derive(LogicBlock, Default)]
pub struct EmttBanks<const BANK: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// Writes `write_entry` at `write_index`. Reads of later cycles return it. A write beyond the table is ignored.
    pub write_enable: Signal<In, Bit>,
    pub write_index: Signal<In, Bits<EMTT_INDEX_BITS>>,
    pub write_entry: Signal<In, EmttEntry>,
    /// Index of the first of three entries to read. Entries beyond the table read as invalid; the index does not wrap.
    pub page_index: Signal<In, Bits<38>>,
    /// Entry `page_index`, [`LATENCY`] cycles later.
    pub first: Signal<Out, EmttEntry>,
    /// Entry `page_index + 1`.
    pub second: Signal<Out, EmttEntry>,
    /// Entry `page_index + 2`.
    pub third: Signal<Out, EmttEntry>,
    banks: [UltraRam<EmttEntry, BANK>; BANKS],
    rows: [DFF<Bits<BANK>>; BANKS],
    write_banks: DFF<Bits<BANKS>>,
    write_row: DFF<Bits<BANK>>,
    writing: DFF<EmttEntry>,
    order: [DFF<ReadOrder>; 1 + MEMORY_LATENCY],
    first_read: DFF<EmttEntry>,
    second_read: DFF<EmttEntry>,
    third_read: DFF<EmttEntry>,
}

impl<const BANK: usize> Parameters for EmttBanks<BANK> {
    fn check() {
        assert!(
            (1..=EMTT_INDEX_BITS - BANKS_LOG2).contains(&BANK),
            "EmttBanks: a bank has {BANK} address bits; choose 1 to {} (17: 524,288 entries in four banks)",
            EMTT_INDEX_BITS - BANKS_LOG2
        );
    }
}

impl<const BANK: usize> Logic for EmttBanks<BANK> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            write_banks,
            write_row,
            writing,
            first_read,
            second_read,
            third_read
        );

        // choose_rows: a bank below that of the first entry is read one row further on.
        let index = self.page_index.val();
        let bank = index.get_bits::<2>(0);
        let row = index.get_bits::<BANK>(2);
        let write_index = self.write_index.val();
        let write_beyond = write_index >> (BANK as u64 + 2);
        let write = self.write_enable.val() & !write_beyond.any();
        let mut write_banks = bits::<BANKS>(0);
        for i in 0..BANKS {
            let in_bank = write_index.get_bits::<2>(0) == (i as u64);
            write_banks = write_banks.replace_bit(i, write & in_bank);
            self.rows[i].clock.next = self.clock.val();
            // There is no bank after the last one.
            self.rows[i].d.next = if i == BANKS - 1 {
                row
            } else if bank > (i as u64) {
                row + 1
            } else {
                row
            };
            self.banks[i].clock.next = self.clock.val();
            self.banks[i].write_enable.next = self.write_banks.q.val().get_bit(i);
            self.banks[i].write_address.next = self.write_row.q.val();
            self.banks[i].write_data.next = self.writing.q.val();
            self.banks[i].read_address.next = self.rows[i].q.val();
        }
        self.write_banks.d.next = write_banks;
        self.write_row.d.next = write_index.get_bits::<BANK>(2);
        self.writing.d.next = self.write_entry.val();
        let above = index >> (BANK as u64 + 2);
        let last_row = row.all();
        let asked = ReadOrder {
            bank,
            first_beyond: above.any(),
            second_beyond: above.any() | (last_row & bank.all()),
            third_beyond: above.any() | (last_row & bank.get_bit(1)),
        };
        for i in 0..self.order.len() {
            self.order[i].clock.next = self.clock.val();
            self.order[i].d.next = if i == 0 {
                asked
            } else {
                self.order[i - 1].q.val()
            };
        }

        // order_entries
        let order = self.order[MEMORY_LATENCY].q.val();
        let zero = self.banks[0].read_data.val();
        let one = self.banks[1].read_data.val();
        let two = self.banks[2].read_data.val();
        let three = self.banks[3].read_data.val();
        let bank = order.bank;
        self.first_read.d.next = of_bank(bank, zero, one, two, three, order.first_beyond);
        self.second_read.d.next = of_bank(bank, one, two, three, zero, order.second_beyond);
        self.third_read.d.next = of_bank(bank, two, three, zero, one, order.third_beyond);
        self.first.next = self.first_read.q.val();
        self.second.next = self.second_read.q.val();
        self.third.next = self.third_read.q.val();
    }
}
