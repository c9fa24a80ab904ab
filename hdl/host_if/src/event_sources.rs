//! The sources of events, which take turns.

use hdl_macros::{clock_reset, hdl};
use hdl_primitives::{OfferSrc, PageFaultSnk, RoundRobinAhead, Snk, ThresholdSnk};
use rust_hdl::prelude::*;
use stellar_wire::host::EventKind;
use stellar_wire::hw::host_queues::EventEntry;
use stellar_wire::hw::read::FailedRead;
use stellar_wire::hw::QPN_BITS;

use crate::bundles::{OverrunSnk, QpFailureSnk, RefusedDoorbellSnk};

/// Makes the event of the source whose turn it is. Its phase is that of the ring, which is not known here. The turn is chosen a cycle ahead, because the sources are
/// behind long paths. LUT levels: 3 (turn, event).
#[derive(LogicBlock, Default)]
pub struct EventSources {
    pub clock: Signal<In, Clock>,
    /// The turn begins again with the first source.
    pub reset: Signal<In, Bit>,

    // A queue pair moved to the error state.
    pub qp_error: QpFailureSnk,
    // A completion queue lost its first completion.
    pub overrun: OverrunSnk,
    // An immediate counter reached its threshold.
    pub imm_threshold: ThresholdSnk,
    // A doorbell rang for a queue pair of another page.
    pub doorbell_refused: RefusedDoorbellSnk,
    // A page of an on-demand region is not there.
    pub page_fault: PageFaultSnk,
    // A read by PCIe failed.
    pub failed_read: Snk<FailedRead>,

    pub event: OfferSrc<EventEntry>,

    turns: RoundRobinAhead<6, 3>,
}

impl Logic for EventSources {
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, turns);

        // take_turns
        let takes = self.event.ready.val();
        let mut requests = bits::<6>(0);
        requests = requests.replace_bit(0, self.qp_error.valid.val());
        requests = requests.replace_bit(1, self.overrun.valid.val());
        requests = requests.replace_bit(2, self.imm_threshold.valid.val());
        requests = requests.replace_bit(3, self.doorbell_refused.valid.val());
        requests = requests.replace_bit(4, self.page_fault.valid.val());
        requests = requests.replace_bit(5, self.failed_read.valid.val());
        self.turns.request.next = requests;
        self.turns.accept.next = takes;
        let grant = self.turns.grant.val();
        self.qp_error.ready.next = takes & grant.get_bit(0);
        self.overrun.ready.next = takes & grant.get_bit(1);
        self.imm_threshold.ready.next = takes & grant.get_bit(2);
        self.doorbell_refused.ready.next = takes & grant.get_bit(3);
        self.page_fault.ready.next = takes & grant.get_bit(4);
        self.failed_read.ready.next = takes & grant.get_bit(5);

        // make_event
        let failed_read = self.failed_read.record.val();
        let turn = self.turns.index.val();
        let kind = if turn == 0 {
            bits::<8>(EventKind::QpError.code().into())
        } else if turn == 1 {
            bits::<8>(EventKind::CqOverrun.code().into())
        } else if turn == 2 {
            bits::<8>(EventKind::ImmThreshold.code().into())
        } else if turn == 3 {
            bits::<8>(EventKind::DoorbellRefused.code().into())
        } else if turn == 4 {
            bits::<8>(EventKind::PageFault.code().into())
        } else {
            failed_read.kind
        };
        let source = if turn == 0 {
            bit_cast::<24, QPN_BITS>(self.qp_error.qp.val())
        } else if turn == 1 {
            bit_cast::<24, QPN_BITS>(self.overrun.qp.val())
        } else if turn == 2 {
            bit_cast::<24, QPN_BITS>(self.imm_threshold.qp.val())
        } else if turn == 3 {
            bit_cast::<24, 16>(self.doorbell_refused.page.val())
        } else if turn == 4 {
            self.page_fault.region.val()
        } else {
            failed_read.source
        };
        let data = if turn == 0 {
            bit_cast::<64, 8>(self.qp_error.status.val())
        } else if turn == 1 {
            self.overrun.wr_id.val()
        } else if turn == 2 {
            bit_cast::<64, 32>(self.imm_threshold.count.val())
        } else if turn == 3 {
            bit_cast::<64, 24>(self.doorbell_refused.qp.val())
        } else if turn == 4 {
            self.page_fault.va.val()
        } else {
            failed_read.address
        };
        self.event.valid.next = self.turns.valid.val();
        self.event.record.next = EventEntry {
            kind,
            phase: false,
            reserved_flags: bits::<23>(0),
            source,
            reserved_source: bits::<8>(0),
            data,
        };
    }
}
