//! What the properties see of the translation.

use hdl_emtt::emtt_banks::ReadOrder;
use hdl_emtt::page_lookup::{PageCount, PageRequest, PageSplit, PageWrite};
use hdl_macros::bundle;
use rust_hdl::prelude::*;
use stellar_wire::hw::tables::EmttEntry;

/// Registers and memories of a translation with a table of 8 entries.
#[bundle]
pub struct LookupInsideSrc {
    pub writing: [Signal<Out, PageWrite>; 2],
    pub passing: [Signal<Out, PageRequest>; 6],
    pub count: Signal<Out, PageCount>,
    pub page_index: Signal<Out, Bits<38>>,
    pub split: [Signal<Out, PageSplit>; 5],

    pub banks_rows: [Signal<Out, Bits<1>>; 4],
    pub banks_write_banks: Signal<Out, Bits<4>>,
    pub banks_write_row: Signal<Out, Bits<1>>,
    pub banks_writing: Signal<Out, EmttEntry>,
    pub banks_order: [Signal<Out, ReadOrder>; 3],
    pub banks_first_read: Signal<Out, EmttEntry>,
    pub banks_second_read: Signal<Out, EmttEntry>,
    pub banks_third_read: Signal<Out, EmttEntry>,

    pub banks_banks_0_memory: [Signal<Out, EmttEntry>; 2],
    pub banks_banks_1_memory: [Signal<Out, EmttEntry>; 2],
    pub banks_banks_2_memory: [Signal<Out, EmttEntry>; 2],
    pub banks_banks_3_memory: [Signal<Out, EmttEntry>; 2],
    pub banks_banks_0_read: Signal<Out, EmttEntry>,
    pub banks_banks_1_read: Signal<Out, EmttEntry>,
    pub banks_banks_2_read: Signal<Out, EmttEntry>,
    pub banks_banks_3_read: Signal<Out, EmttEntry>,
    pub banks_banks_0_read_data: Signal<Out, EmttEntry>,
    pub banks_banks_1_read_data: Signal<Out, EmttEntry>,
    pub banks_banks_2_read_data: Signal<Out, EmttEntry>,
    pub banks_banks_3_read_data: Signal<Out, EmttEntry>,
}

/// An entry of each bank.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct OfBanks {
    pub zero: EmttEntry,
    pub one: EmttEntry,
    pub two: EmttEntry,
    pub three: EmttEntry,
}
