//! The states of queue pairs, and the state that is written while another one is read.

use hdl_macros::{clock, hdl};
use hdl_primitives::RowRam;
use rust_hdl::prelude::*;

use crate::records::ReceiveState;

/// Stores a state for each of 2^`Q` queue pairs. A state comes one cycle after its row, as it is after the writes of that cycle: `written_state` if the row
/// `was_written` then, and otherwise `stored`.
///
/// Unlike a `BypassRam`, it leaves the choice to the user: what is stored comes late, from the memory, so the user compares both first. No logic behind the memory.
#[derive(LogicBlock, Default)]
pub struct StateRows<const Q: usize> {
    pub clock: Signal<In, Clock>,

    pub read_row: Signal<In, Bits<Q>>,
    pub stored: Signal<Out, ReceiveState>,
    pub was_written: Signal<Out, Bit>,
    pub written_state: Signal<Out, ReceiveState>,

    pub writes: Signal<In, Bit>,
    pub write_row: Signal<In, Bits<Q>>,
    pub written: Signal<In, ReceiveState>,

    rows: RowRam<ReceiveState, Q>,
    same: DFF<Bit>,
    last: DFF<ReceiveState>,
}

impl<const Q: usize> Logic for StateRows<Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, same, last);
        clock!(self, clock, rows);
        let read_row = self.read_row.val();
        let write_row = self.write_row.val();
        let writes = self.writes.val();
        let written = self.written.val();
        self.rows.read_address.next = read_row;
        self.rows.write_enable.next = writes;
        self.rows.write_address.next = write_row;
        self.rows.write_data.next = written;
        self.same.d.next = writes & (write_row == read_row);
        // Without a write the register rests.
        if writes {
            self.last.d.next = written;
        }

        self.stored.next = self.rows.read_data.val();
        self.was_written.next = self.same.q.val();
        self.written_state.next = self.last.q.val();
    }
}
