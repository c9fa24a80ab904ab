//! Where the writes were whose flush reads failed.

use hdl_macros::{clock, clock_reset, hdl};
use hdl_primitives::{FlowSnk, LutRam, Src, SyncFifo};
use rust_hdl::prelude::*;
use stellar_wire::host::EventKind;
use stellar_wire::hw::read::FailedRead;

use super::records::{BatchAddresses, FailedFlush, BATCH_BITS, READS};

/// log2 of the reports that wait: one for each flush read that can be on its way.
const FAULT_ADDRESS: usize = BATCH_BITS + 1;
const FAULT_COUNT: usize = FAULT_ADDRESS + 1;
const _: () = assert!(1 << FAULT_ADDRESS == READS << BATCH_BITS);

/// Keeps the addresses of the flush reads of each batch, and reports those that fail.
///
/// Nothing waits for a report, because the report itself leaves as a write that a batch may hold up: while 16 of them wait, further ones are
/// dropped. LUT levels: 2 (memory, select).
#[derive(LogicBlock, Default)]
pub struct FlushFaults {
    pub clock: Signal<In, Clock>,
    /// Discards reports.
    pub reset: Signal<In, Bit>,

    /// A batch is closed, or one of its reads is repeated for a command.
    pub asked: FlowSnk<BatchAddresses>,
    /// A flush read that was asked before has failed.
    pub failed: FlowSnk<FailedFlush>,

    /// The flush read that failed. Its source, the endpoint, is 0: who knows the endpoint puts it in.
    pub fault: Src<FailedRead>,
    /// One cycle: a report was dropped.
    pub dropped: Signal<Out, Bit>,

    of_host: LutRam<Bits<62>, BATCH_BITS>,
    of_peer: LutRam<Bits<62>, BATCH_BITS>,
    faults: SyncFifo<Bits<62>, FAULT_ADDRESS, FAULT_COUNT>,
}

impl Logic for FlushFaults {
    #[hdl]
    fn update(&mut self) {
        clock!(self, clock, of_host, of_peer);
        clock_reset!(self, faults);
        let asked = self.asked.record.val();
        self.of_host.write_enable.next = self.asked.valid.val() & asked.of_host;
        self.of_host.write_address.next = asked.batch;
        self.of_host.write_data.next = asked.host_dw;
        self.of_peer.write_enable.next = self.asked.valid.val() & asked.of_peer;
        self.of_peer.write_address.next = asked.batch;
        self.of_peer.write_data.next = asked.peer_dw;

        let failed = self.failed.record.val();
        self.of_host.read_address.next = failed.batch;
        self.of_peer.read_address.next = failed.batch;
        self.faults.in_.valid.next = self.failed.valid.val();
        self.faults.in_.data.next = if failed.of_peer {
            self.of_peer.read_data.val()
        } else {
            self.of_host.read_data.val()
        };
        self.dropped.next = self.failed.valid.val() & !self.faults.in_.ready.val();

        self.fault.valid.next = self.faults.out.valid.val();
        self.fault.record.next = FailedRead {
            kind: bits::<8>(EventKind::FlushReadFailed.code().into()),
            source: bits::<24>(0),
            address: bit_cast::<64, 62>(self.faults.out.data.val()) << 2,
        };
        self.faults.out.ready.next = self.fault.ready.val();
    }
}
