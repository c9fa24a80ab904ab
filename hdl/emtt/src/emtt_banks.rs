//! The extended memory translation table in two banks, read two neighbours at a time.
//!
//! Entry `i` is in the even or odd bank, at `i / 2`. So entries `n` and `n + 1`, all a packet can touch, are one read of each bank, in the
//! same clock (`docs/decisions/0003-emtt-in-two-banks.md`).
//!
//! Stages, with planned LUT6 levels:
//! 1. `choose_rows`: row of each bank, one incremented (1 + carry of 18 bits); range checks of the index (4); write decode (2).
//! 2. and 3. the memories.
//! 4. `order_entries`: swap the banks' entries if the first is odd, blank those beyond the table (1).

use hdl_macros::hdl;
use hdl_primitives::UltraRam;
use rust_hdl::prelude::*;
use stellar_wire::hw::tables::{EmttEntry, EMTT_INDEX_BITS};

/// Clocks from `page_index` to `first` and `second`.
pub const LATENCY: usize = 1 + MEMORY_LATENCY + 1;

/// Clocks from a row to the bank's entry.
const MEMORY_LATENCY: usize = UltraRam::<EmttEntry, 1>::LATENCY;

/// How the two banks' entries answer a read.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct ReadOrder {
    /// The first entry is in the odd bank.
    first_is_odd: Bit,
    first_beyond: Bit,
    second_beyond: Bit,
}

/// eMTT memory of 2^(`BANK` + 1) entries; `BANK` (1 to 19) is the address bits of a bank.
#[derive(LogicBlock)]
pub struct EmttBanks<const BANK: usize> {
    pub clock: Signal<In, Clock>,
    /// Writes `write_entry` at `write_index`; ignored beyond the table. Reads of later clocks see it.
    pub write_enable: Signal<In, Bit>,
    pub write_index: Signal<In, Bits<EMTT_INDEX_BITS>>,
    pub write_entry: Signal<In, EmttEntry>,
    /// Entry to read with its successor. An index beyond the table, which never wraps, reads as an invalid entry.
    pub page_index: Signal<In, Bits<38>>,
    /// Entry `page_index`, [`LATENCY`] clocks later.
    pub first: Signal<Out, EmttEntry>,
    /// Entry `page_index + 1`.
    pub second: Signal<Out, EmttEntry>,
    even: UltraRam<EmttEntry, BANK>,
    odd: UltraRam<EmttEntry, BANK>,
    even_row: DFF<Bits<BANK>>,
    odd_row: DFF<Bits<BANK>>,
    write_even: DFF<Bit>,
    write_odd: DFF<Bit>,
    write_row: DFF<Bits<BANK>>,
    writing: DFF<EmttEntry>,
    order: [DFF<ReadOrder>; 1 + MEMORY_LATENCY],
    first_read: DFF<EmttEntry>,
    second_read: DFF<EmttEntry>,
}

impl<const BANK: usize> Default for EmttBanks<BANK> {
    /// # Panics
    /// If `BANK` is not 1 to 19: table writes carry indices of [`EMTT_INDEX_BITS`] bits.
    fn default() -> Self {
        assert!(
            (1..EMTT_INDEX_BITS).contains(&BANK),
            "EmttBanks: a bank has {BANK} address bits; choose 1 to {} (18: 524,288 entries in two banks)",
            EMTT_INDEX_BITS - 1
        );
        Self {
            clock: Default::default(),
            write_enable: Default::default(),
            write_index: Default::default(),
            write_entry: Default::default(),
            page_index: Default::default(),
            first: Default::default(),
            second: Default::default(),
            even: Default::default(),
            odd: Default::default(),
            even_row: Default::default(),
            odd_row: Default::default(),
            write_even: Default::default(),
            write_odd: Default::default(),
            write_row: Default::default(),
            writing: Default::default(),
            order: Default::default(),
            first_read: Default::default(),
            second_read: Default::default(),
        }
    }
}

impl<const BANK: usize> Logic for EmttBanks<BANK> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            even_row,
            odd_row,
            write_even,
            write_odd,
            write_row,
            writing,
            first_read,
            second_read
        );
        self.even.clock.next = self.clock.val();
        self.odd.clock.next = self.clock.val();

        // choose_rows
        let index = self.page_index.val();
        let first_is_odd = index.get_bit(0);
        let row = index.get_bits::<BANK>(1);
        self.odd_row.d.next = row;
        self.even_row.d.next = row + bit_cast::<BANK, 1>(index.get_bits::<1>(0));
        let above = index >> (BANK as u64 + 1);
        let last_of_table = first_is_odd & row.all();
        let asked = ReadOrder {
            first_is_odd,
            first_beyond: above.any(),
            second_beyond: above.any() | last_of_table,
        };
        for i in 0..self.order.len() {
            self.order[i].clock.next = self.clock.val();
            self.order[i].d.next = if i == 0 {
                asked
            } else {
                self.order[i - 1].q.val()
            };
        }
        let write_index = self.write_index.val();
        let write_beyond = write_index >> (BANK as u64 + 1);
        let write = self.write_enable.val() & !write_beyond.any();
        self.write_even.d.next = write & !write_index.get_bit(0);
        self.write_odd.d.next = write & write_index.get_bit(0);
        self.write_row.d.next = write_index.get_bits::<BANK>(1);
        self.writing.d.next = self.write_entry.val();

        self.even.write_enable.next = self.write_even.q.val();
        self.even.write_address.next = self.write_row.q.val();
        self.even.write_data.next = self.writing.q.val();
        self.even.read_address.next = self.even_row.q.val();
        self.odd.write_enable.next = self.write_odd.q.val();
        self.odd.write_address.next = self.write_row.q.val();
        self.odd.write_data.next = self.writing.q.val();
        self.odd.read_address.next = self.odd_row.q.val();

        // order_entries
        let order = self.order[MEMORY_LATENCY].q.val();
        let even = self.even.read_data.val();
        let odd = self.odd.read_data.val();
        let mut first = if order.first_is_odd { odd } else { even };
        let mut second = if order.first_is_odd { even } else { odd };
        first.valid = first.valid & !order.first_beyond;
        second.valid = second.valid & !order.second_beyond;
        self.first_read.d.next = first;
        self.second_read.d.next = second;
        self.first.next = self.first_read.q.val();
        self.second.next = self.second_read.q.val();
    }
}
