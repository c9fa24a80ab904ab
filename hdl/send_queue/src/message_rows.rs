//! The rows of the message table.

use hdl_macros::{clock, hdl};
use hdl_primitives::ram::{QuickRam, RowRam};
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::SendQueueConfig;
use stellar_wire::hw::Qpn;

use crate::records::QueueRow;

/// State and settings of 2^`Q` queue pairs. They come one cycle after their address. Levels: 1.
///
/// Counts through the rows to clear, as many as there are queue pairs, or blocks of the pool, of which there are 2^`B`.
#[derive(LogicBlock, Default)]
pub struct MessageRows<const Q: usize, const B: usize> {
    pub clock: Signal<In, Clock>,
    /// Begins to count anew.
    pub reset: Signal<In, Bit>,

    /// Clears row `clear_index`, and counts.
    pub clear: Signal<In, Bit>,
    pub clear_index: Signal<Out, Qpn>,
    /// It is the last one.
    pub clears_last: Signal<Out, Bit>,

    pub qp: Signal<In, Qpn>,
    pub row: Signal<Out, QueueRow>,
    pub settings: Signal<Out, SendQueueConfig>,

    pub written_qp: Signal<In, Qpn>,
    pub writes: Signal<In, Bit>,
    pub written: Signal<In, QueueRow>,
    pub configures: Signal<In, Bit>,
    pub configured: Signal<In, SendQueueConfig>,

    rows: QuickRam<QueueRow, Q>,
    queues: RowRam<SendQueueConfig, Q>,
    cleared: DFF<Qpn>,
}

impl<const Q: usize, const B: usize> Logic for MessageRows<Q, B> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, cleared);
        clock!(self, clock, rows, queues);
        let clear = self.clear.val();
        let cleared = self.cleared.q.val();
        if clear {
            self.cleared.d.next = cleared + 1;
        }
        self.clear_index.next = cleared;
        self.clears_last.next = cleared.get_bits::<Q>(0).all() & cleared.get_bits::<B>(0).all();

        // read
        let qp = self.qp.val().get_bits::<Q>(0);
        self.rows.read_address.next = qp;
        self.queues.read_address.next = qp;
        self.row.next = self.rows.read_data.val();
        self.settings.next = self.queues.read_data.val();

        // write
        let written_qp = if clear {
            cleared.get_bits::<Q>(0)
        } else {
            self.written_qp.val().get_bits::<Q>(0)
        };
        self.rows.write_enable.next = clear | self.writes.val();
        self.rows.write_address.next = written_qp;
        self.rows.write_data.next = if clear {
            QueueRow::default()
        } else {
            self.written.val()
        };
        self.queues.write_enable.next = self.configures.val();
        self.queues.write_address.next = written_qp;
        self.queues.write_data.next = self.configured.val();

        if self.reset.val() {
            self.cleared.d.next = bits(0);
        }
    }
}
