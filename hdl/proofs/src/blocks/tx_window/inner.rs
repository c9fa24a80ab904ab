//! What the properties see of the transmit window.

use hdl_macros::bundle;
use hdl_tx_window::blocks::{Block, BlockSlots, Place};
use hdl_tx_window::row::WindowRow;
use hdl_tx_window::sack::SackSpan;
use hdl_tx_window::step::Step;
use hdl_tx_window::visit::Visit;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{WindowRequest, WindowResponse};
use stellar_wire::hw::QPN_BITS;

use super::pool::{Number, BLOCKS};

/// Registers and memories of a window of 2 queue pairs and [`BLOCKS`] blocks.
#[bundle]
pub struct WindowInsideSrc {
    pub step: Signal<Out, Step>,
    pub swept: Signal<Out, Bits<QPN_BITS>>,
    pub asked: Signal<Out, WindowRequest>,
    pub row: Signal<Out, WindowRow>,
    pub inside: Signal<Out, Bit>,
    pub in_newest: Signal<Out, Bit>,
    pub is_empty: Signal<Out, Bit>,
    pub held: Signal<Out, Bits<8>>,
    pub last_place: Signal<Out, Place>,
    pub span: Signal<Out, SackSpan>,
    pub walk_here_held: Signal<Out, Block>,
    pub walk_place_held: Signal<Out, Place>,
    pub walk_index_held: Signal<Out, Bits<8>>,
    pub visits_visit_held: Signal<Out, Visit>,
    pub visits_last_held: Signal<Out, Bit>,
    pub visits_changed_held: Signal<Out, Bit>,
    pub visits_una_found_held: Signal<Out, Bit>,
    pub released_count_held: Signal<Out, Bits<8>>,
    pub released_first_held: Signal<Out, Block>,
    pub released_last_held: Signal<Out, Block>,
    pub walk_cursor_valid: Signal<Out, Bit>,
    pub walk_cursor_qp: Signal<Out, Bits<1>>,
    pub walk_cursor_place: Signal<Out, Place>,
    pub walk_cursor_block: Signal<Out, Block>,
    pub walk_cursor_own: Signal<Out, Bit>,
    pub range_end: Signal<Out, Bits<32>>,
    pub result: Signal<Out, WindowResponse>,

    pub rows_memory: [Signal<Out, WindowRow>; 2],
    pub rows_read_data: Signal<Out, WindowRow>,

    pub blocks_states_memory: [Signal<Out, BlockSlots>; BLOCKS],
    pub blocks_slots: Signal<Out, BlockSlots>,
    pub blocks_links_memory: [Signal<Out, Number>; BLOCKS],
    pub blocks_link: Signal<Out, Block>,

    pub sent_memory_banks_0_left: Signal<Out, Bits<8>>,
    pub sent_memory_banks_1_left: Signal<Out, Bits<8>>,
    pub sent_memory_banks_2_left: Signal<Out, Bits<8>>,
    pub sent_memory_banks_3_left: Signal<Out, Bits<8>>,
    pub sent_memory_banks_0_read: Signal<Out, Bit>,
    pub sent_memory_banks_1_read: Signal<Out, Bit>,
    pub sent_memory_banks_2_read: Signal<Out, Bit>,
    pub sent_memory_banks_3_read: Signal<Out, Bit>,
    pub visits_loads: Signal<Out, Bit>,
    pub sent_record_read: Signal<Out, Bit>,
    pub sent_record_comes: Signal<Out, Bit>,

    pub free_links_memory: [Signal<Out, Number>; BLOCKS],
    pub free_links_read_data: Signal<Out, Number>,
    pub free_head: Signal<Out, Number>,
    pub free_tail: Signal<Out, Number>,
    pub free_free: Signal<Out, Bits<11>>,
    pub free_take: Signal<Out, Bit>,
    pub free_put: Signal<Out, Bit>,
    pub free_put_count: Signal<Out, Bits<8>>,
}
