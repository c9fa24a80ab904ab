//! Outputs payload in the order of its frames, from the DMA or from the work request.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{BlockFifo, FlowSnk, PayloadFaultSrc, ReadDataSnk, SyncFifo};
use rust_hdl::prelude::*;
use stellar_wire::hw::payload::{read_user, PayloadSource, READ_ADDRESS};
use stellar_wire::hw::{Qpn, QPN_BITS};

use crate::tx_frame_builder::REQUEST_ADDRESS;

/// log2 of the number of frames whose payload has not passed yet. It is that of the FIFO of their headers, which leave later, so this one is never full.
const SOURCE_ADDRESS: usize = REQUEST_ADDRESS;
const SOURCE_COUNT: usize = SOURCE_ADDRESS + 1;
/// log2 of the number of reports of failed reads that are stored.
const FAULT_ADDRESS: usize = 5;
const FAULT_COUNT: usize = FAULT_ADDRESS + 1;

/// A payload that could not be read.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PayloadFault {
    pub qp: Qpn,
    pub slot: Bits<16>,
    pub address: Bits<64>,
}

/// Inserts inline payload between payload of the DMA, in the order of the frames. It passes one beat of `W` bits per cycle, without a gap between
/// frames.
///
/// A failed read becomes a beat with `payload_error`, which makes [`crate::TxFrameBuilder`] drop the frame, and a report. Reports never delay payload: if 32
/// of them are pending, further ones are dropped. The frames of dropped reports are lost, and are reported when they are retransmitted. So the
/// receiver of the reports may itself wait for the packet builder without a deadlock. LUT levels: 3 (source, select, ready).
///
/// The source of the payload that passes is a register, because it selects all bits of a beat: a placer can replicate a register, but not the output of a block RAM.
#[derive(LogicBlock, Default)]
pub struct PayloadMux<const W: usize> {
    pub clock: Signal<In, Clock>,
    /// Forgets sources and reports.
    pub reset: Signal<In, Bit>,

    /// One for each frame with payload, in order.
    pub source: FlowSnk<PayloadSource>,

    // Payload from the DMA, in order, of the frames that take it from memory.
    pub read: ReadDataSnk<W>,

    // To TxFrameBuilder.
    pub payload_valid: Signal<Out, Bit>,
    pub payload_data: Signal<Out, Bits<W>>,
    pub payload_last: Signal<Out, Bit>,
    pub payload_error: Signal<Out, Bit>,
    pub payload_ready: Signal<In, Bit>,

    // Payload that could not be read: the queue pair, the send queue index of the message, and where the payload is.
    pub fault: PayloadFaultSrc,
    /// High for one cycle: a report was dropped.
    pub fault_lost: Signal<Out, Bit>,

    sources: BlockFifo<PayloadSource, SOURCE_ADDRESS, SOURCE_COUNT>,
    waiting: DFF<Bit>,
    current: DFF<PayloadSource>,
    faults: SyncFifo<PayloadFault, FAULT_ADDRESS, FAULT_COUNT>,
}

impl<const W: usize> Logic for PayloadMux<W> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, waiting, current);
        clock_reset!(self, sources, faults);
        join!(
            self,
            source.valid => sources.in_.valid,
            source.record => sources.in_.data,
        );
        assert!(
            !self.source.valid.val() | self.sources.in_.ready.val(),
            "source FIFO overflow"
        );

        // choose
        let waiting = self.waiting.q.val();
        let source = self.current.q.val();
        let beat = self.read.beat.val();
        let from_memory = waiting & !source.inline;
        let offered = waiting & (source.inline | self.read.valid.val());
        let moves = offered & self.payload_ready.val();
        let last = source.inline | beat.last;
        self.payload_valid.next = offered;
        self.payload_data.next = if source.inline {
            bit_cast::<W, 512>(source.inline_data)
        } else {
            self.read.data.val()
        };
        self.payload_last.next = last;
        self.payload_error.next = !source.inline & beat.error;
        self.read.ready.next = from_memory & self.payload_ready.val();
        let loads = !waiting | (moves & last);
        self.sources.out.ready.next = loads;
        if loads {
            self.waiting.d.next = self.sources.out.valid.val();
            self.current.d.next = self.sources.out.data.val();
        }

        // report
        let failed = moves & !source.inline & beat.error;
        self.faults.in_.valid.next = failed;
        self.faults.in_.data.next = PayloadFault {
            qp: beat.user.get_bits::<QPN_BITS>(read_user::QP),
            slot: beat.user.get_bits::<16>(read_user::SLOT),
            address: source.inline_data.get_bits::<64>(READ_ADDRESS),
        };
        self.fault_lost.next = failed & !self.faults.in_.ready.val();
        let fault = self.faults.out.data.val();
        self.fault.valid.next = self.faults.out.valid.val();
        self.fault.qp.next = fault.qp;
        self.fault.slot.next = fault.slot;
        self.fault.address.next = fault.address;
        self.faults.out.ready.next = self.fault.ready.val();
        if self.reset.val() {
            self.waiting.d.next = false;
        }
    }
}
