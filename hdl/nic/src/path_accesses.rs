//! What is done to the counts of paths, and in which order.

use hdl_macros::{clock_reset, hdl};
use hdl_primitives::{FlowSnk, SyncFifo};
use rust_hdl::prelude::*;
use stellar_wire::hw::Qpn;

/// log2 of the marks, and of the losses, that wait while packets leave in every cycle: at most 32 in a row, those of a burst. An engine takes 62 cycles for a burst, so 30 are left for what waits. It needs at
/// least 10 cycles for a SACK, and two operations of the window for a packet that is lost, so about 6 come in this time.
const WAITING_BITS: usize = 5;

/// A path of a queue pair.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct QpPath {
    /// Number of the queue pair in its engine.
    pub qp: Qpn,
    /// Index of the entropy value.
    pub index: Bits<8>,
}

/// Kind of an [`Access`].
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum AccessKind {
    Nothing,
    Sent,
    Marked,
    Lost,
    /// Reads and clears.
    Read,
}

/// What is done to the counts of a path.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Access {
    pub kind: AccessKind,
    pub path: QpPath,
}

/// Takes a packet sent in every cycle. Marks and losses wait for a cycle without one, and a read waits for a cycle without any of these. Levels: 3.
#[derive(LogicBlock, Default)]
pub struct PathAccesses {
    pub clock: Signal<In, Clock>,
    /// Discards what waits.
    pub reset: Signal<In, Bit>,

    pub sent: FlowSnk<QpPath>,
    pub marked: FlowSnk<QpPath>,
    pub lost: FlowSnk<QpPath>,

    /// A read. It stays until it is done.
    pub read_valid: Signal<In, Bit>,
    pub read_path: Signal<In, QpPath>,
    pub read_done: Signal<In, Bit>,

    /// What was taken in the cycle before.
    pub taken: Signal<Out, Access>,

    marks: SyncFifo<QpPath, WAITING_BITS, { WAITING_BITS + 1 }>,
    losses: SyncFifo<QpPath, WAITING_BITS, { WAITING_BITS + 1 }>,
    /// A read is on its way.
    reading: DFF<Bit>,
    taken_held: DFF<Access>,
}

impl Logic for PathAccesses {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, reading, taken_held);
        clock_reset!(self, marks, losses);

        // marks and losses wait
        self.marks.in_.valid.next = self.marked.valid.val();
        self.marks.in_.data.next = self.marked.record.val();
        self.losses.in_.valid.next = self.lost.valid.val();
        self.losses.in_.data.next = self.lost.record.val();
        assert!(
            !self.marked.valid.val() | self.marks.in_.ready.val(),
            "a mark finds no space"
        );
        assert!(
            !self.lost.valid.val() | self.losses.in_.ready.val(),
            "a loss finds no space"
        );

        // take
        let sends = self.sent.valid.val();
        let has_mark = self.marks.out.valid.val();
        let has_loss = self.losses.out.valid.val();
        let reads = self.read_valid.val() & !self.reading.q.val() & !sends & !has_mark & !has_loss;
        self.marks.out.ready.next = !sends;
        self.losses.out.ready.next = !sends & !has_mark;
        if sends {
            self.taken_held.d.next.kind = AccessKind::Sent;
            self.taken_held.d.next.path = self.sent.record.val();
        } else if has_mark {
            self.taken_held.d.next.kind = AccessKind::Marked;
            self.taken_held.d.next.path = self.marks.out.data.val();
        } else if has_loss {
            self.taken_held.d.next.kind = AccessKind::Lost;
            self.taken_held.d.next.path = self.losses.out.data.val();
        } else if reads {
            self.taken_held.d.next.kind = AccessKind::Read;
            self.taken_held.d.next.path = self.read_path.val();
        } else {
            self.taken_held.d.next.kind = AccessKind::Nothing;
        }
        if reads {
            self.reading.d.next = true;
        } else if self.read_done.val() {
            self.reading.d.next = false;
        }
        self.taken.next = self.taken_held.q.val();

        if self.reset.val() {
            self.taken_held.d.next.kind = AccessKind::Nothing;
            self.reading.d.next = false;
        }
    }
}
