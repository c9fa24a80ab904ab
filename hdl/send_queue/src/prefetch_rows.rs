//! The rows of the prefetch, and what the message table sees of them.

use hdl_macros::{clock, hdl};
use hdl_primitives::ram::{BlockRam, QuickRam};
use rust_hdl::prelude::*;
use stellar_wire::hw::Qpn;

use crate::prefetch_state::PrefetchState;
use crate::records::Look;

/// Rows of 2^`Q` queue pairs. A row comes one cycle after its address. Levels: 1.
#[derive(LogicBlock, Default)]
pub struct PrefetchRows<const Q: usize> {
    pub clock: Signal<In, Clock>,

    /// Resets the row of queue pair `clear_qp`.
    pub clear: Signal<In, Bit>,
    pub clear_qp: Signal<In, Qpn>,
    /// The row of `qp` is read, and written.
    pub qp: Signal<In, Qpn>,
    pub row: Signal<Out, PrefetchState>,
    pub writes: Signal<In, Bit>,
    pub written: Signal<In, PrefetchState>,

    pub look_qp: Signal<In, Bits<Q>>,
    pub look: Signal<Out, Look>,

    rows: QuickRam<PrefetchState, Q>,
    looks: BlockRam<Look, Q>,
}

impl<const Q: usize> Logic for PrefetchRows<Q> {
    #[hdl]
    fn update(&mut self) {
        clock!(self, clock, rows, looks);
        let clear = self.clear.val();
        let own_qp = self.qp.val().get_bits::<Q>(0);
        self.rows.read_address.next = own_qp;
        self.row.next = self.rows.read_data.val();
        let written_qp = if clear {
            self.clear_qp.val().get_bits::<Q>(0)
        } else {
            own_qp
        };
        let written = if clear {
            PrefetchState::default()
        } else {
            self.written.val()
        };
        let writes = clear | self.writes.val();
        self.rows.write_enable.next = writes;
        self.rows.write_address.next = written_qp;
        self.rows.write_data.next = written;
        self.looks.write_enable.next = writes;
        self.looks.write_address.next = written_qp;
        self.looks.write_data.next = Look {
            arriving: written.arriving,
            first: written.first,
            chain: written.chain,
        };
        self.looks.read_address.next = self.look_qp.val();
        self.look.next = self.looks.read_data.val();
    }
}
