//! The sequencer and its four functional units.

use hdl_congestion::NsccEngine;
use hdl_macros::hdl;
use hdl_send_queue::MessageTable;
use hdl_spray_engine::SprayEngine;
use hdl_tx_window::TxWindow;
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::{CongestionSample, NsccConfig};
use stellar_wire::hw::messages::{Completion, SendQueueConfig, WqeFetch, WqeFetched};
use stellar_wire::hw::requester::{
    ControlPacket, RequesterConfig, TranslateRequest, TranslateResponse, TxRequest,
};
use stellar_wire::hw::spray::{EntropyProfileEntry, SprayConfig, SprayPolicy};
use stellar_wire::hw::{Qpn, SqIndex};

use crate::records::{ConfigureKind, StatPulses};
use crate::sequencer::Sequencer;

/// Does in hardware what `Requester` of the reference does, for 2^`Q` queue pairs with 2^`M` outstanding messages each. `S` = `Q` + 8, `A` = `Q` + `M` and
/// `E` = `Q` + 4 are address widths of memories.
#[derive(LogicBlock, Default)]
pub struct RequesterCore<
    const Q: usize,
    const S: usize,
    const M: usize,
    const A: usize,
    const E: usize,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Ticks of 8 ns.
    pub now: Signal<In, Bits<32>>,
    /// Bit p: port p is up.
    pub plane_up: Signal<In, Bits<2>>,

    // Configuration. The settings of the kind and all other inputs are stable until ready.
    pub configure_valid: Signal<In, Bit>,
    pub configure: Signal<In, ConfigureKind>,
    pub configure_qp: Signal<In, Qpn>,
    pub requester_settings: Signal<In, RequesterConfig>,
    pub queue_settings: Signal<In, SendQueueConfig>,
    pub spray_settings: Signal<In, SprayConfig>,
    pub nscc_settings: Signal<In, NsccConfig>,
    pub configure_ready: Signal<Out, Bit>,
    /// Entropy profiles are always accepted.
    pub profile_valid: Signal<In, Bit>,
    pub profile_index: Signal<In, Bits<3>>,
    pub profile: Signal<In, EntropyProfileEntry>,

    // Ports of the sequencer.
    pub hold: Signal<In, Bit>,
    pub control_valid: Signal<In, Bit>,
    pub control: Signal<In, ControlPacket>,
    pub control_ready: Signal<Out, Bit>,
    pub control_almost_full: Signal<In, Bit>,
    pub doorbell_valid: Signal<In, Bit>,
    pub doorbell_qp: Signal<In, Qpn>,
    pub doorbell_producer: Signal<In, SqIndex>,
    /// The doorbell carries the send queue entry before `doorbell_producer`.
    pub doorbell_pushed: Signal<In, Bit>,
    pub doorbell_entry: Signal<In, Bits<512>>,
    pub doorbell_ready: Signal<Out, Bit>,
    pub fault_valid: Signal<In, Bit>,
    pub fault_qp: Signal<In, Qpn>,
    pub fault_slot: Signal<In, SqIndex>,
    pub fault_ready: Signal<Out, Bit>,
    pub flush_valid: Signal<In, Bit>,
    pub flush_qp: Signal<In, Qpn>,
    pub flush_ready: Signal<Out, Bit>,
    pub wake_valid: Signal<In, Bit>,
    pub wake_qp: Signal<In, Qpn>,
    pub wake_ready: Signal<Out, Bit>,
    pub head_valid: Signal<In, Bits<2>>,
    pub head0_qp: Signal<In, Qpn>,
    pub head1_qp: Signal<In, Qpn>,
    pub rotate: Signal<Out, Bits<2>>,
    pub deactivate: Signal<Out, Bits<2>>,
    pub schedule_valid: Signal<Out, Bit>,
    pub schedule_page: Signal<Out, Bits<16>>,
    pub schedule_qp: Signal<Out, Qpn>,
    pub schedule_ready: Signal<In, Bit>,
    pub due_valid: Signal<In, Bit>,
    pub due_qp: Signal<In, Qpn>,
    pub due_ready: Signal<Out, Bit>,
    pub deadline_valid: Signal<Out, Bit>,
    pub deadline_qp: Signal<Out, Qpn>,
    pub deadline_armed: Signal<Out, Bit>,
    pub deadline: Signal<Out, Bits<32>>,
    pub tx_space: Signal<In, Bits<2>>,
    pub tx_valid: Signal<Out, Bit>,
    pub tx: Signal<Out, TxRequest>,
    pub reverse_ev_valid: Signal<Out, Bit>,
    pub reverse_ev_qp: Signal<Out, Qpn>,
    pub reverse_ev_plane: Signal<Out, Bit>,
    pub reverse_ev_entropy: Signal<Out, Bits<32>>,
    pub failed: Signal<Out, Bit>,
    pub event_qp: Signal<Out, Qpn>,
    pub failed_status: Signal<Out, Bits<8>>,
    pub refused: Signal<Out, Bit>,
    pub stats: Signal<Out, StatPulses>,
    /// Effect of a SACK on the congestion window.
    pub sampled: Signal<Out, CongestionSample>,

    // Local translation.
    pub xlate_req_valid: Signal<Out, Bit>,
    pub xlate_req: Signal<Out, TranslateRequest>,
    pub xlate_req_ready: Signal<In, Bit>,
    pub xlate_rsp_valid: Signal<In, Bit>,
    pub xlate_rsp: Signal<In, TranslateResponse>,

    // Ports of the message table.
    pub fetch_valid: Signal<Out, Bit>,
    pub fetch: Signal<Out, WqeFetch>,
    pub fetch_ready: Signal<In, Bit>,
    pub fetched_valid: Signal<In, Bit>,
    pub fetched: Signal<In, WqeFetched>,
    pub fetched_ready: Signal<Out, Bit>,
    /// High for one cycle when a send queue entry of this queue pair has arrived.
    pub entry_arrived: Signal<Out, Bit>,
    pub entry_arrived_qp: Signal<Out, Qpn>,
    pub cqe_valid: Signal<Out, Bit>,
    pub cqe: Signal<Out, Completion>,
    pub cqe_ready: Signal<In, Bit>,

    sequencer: Sequencer<Q>,
    spray: SprayEngine<Q>,
    nscc: NsccEngine<Q>,
    window: TxWindow<Q, S>,
    messages: MessageTable<Q, M, A, E>,
}

impl<const Q: usize, const S: usize, const M: usize, const A: usize, const E: usize> Logic
    for RequesterCore<Q, S, M, A, E>
{
    #[hdl]
    fn update(&mut self) {
        clock!(self, clock, sequencer, spray, nscc, window, messages);
        self.sequencer.reset.next = self.reset.val();
        self.spray.reset.next = self.reset.val();
        self.nscc.reset.next = self.reset.val();
        self.window.reset.next = self.reset.val();
        self.messages.reset.next = self.reset.val();
        self.sequencer.now.next = self.now.val();
        self.spray.plane_up.next = self.plane_up.val();
        self.sequencer.hold.next = self.hold.val();
        self.sequencer.configure_valid.next = self.configure_valid.val();
        self.sequencer.configure.next = self.configure.val();
        self.sequencer.configure_qp.next = self.configure_qp.val();
        self.sequencer.control_valid.next = self.control_valid.val();
        self.sequencer.control.next = self.control.val();
        self.sequencer.control_almost_full.next = self.control_almost_full.val();
        self.sequencer.doorbell_valid.next = self.doorbell_valid.val();
        self.sequencer.doorbell_qp.next = self.doorbell_qp.val();
        self.sequencer.doorbell_producer.next = self.doorbell_producer.val();
        self.sequencer.fault_valid.next = self.fault_valid.val();
        self.sequencer.fault_qp.next = self.fault_qp.val();
        self.sequencer.fault_slot.next = self.fault_slot.val();
        self.sequencer.flush_valid.next = self.flush_valid.val();
        self.sequencer.flush_qp.next = self.flush_qp.val();
        self.sequencer.wake_valid.next = self.wake_valid.val();
        self.sequencer.wake_qp.next = self.wake_qp.val();
        self.sequencer.head_valid.next = self.head_valid.val();
        self.sequencer.head0_qp.next = self.head0_qp.val();
        self.sequencer.head1_qp.next = self.head1_qp.val();
        self.sequencer.schedule_ready.next = self.schedule_ready.val();
        self.sequencer.due_valid.next = self.due_valid.val();
        self.sequencer.due_qp.next = self.due_qp.val();
        self.sequencer.tx_space.next = self.tx_space.val();
        self.configure_ready.next = self.sequencer.configure_ready.val();
        self.control_ready.next = self.sequencer.control_ready.val();
        self.doorbell_ready.next = self.sequencer.doorbell_ready.val();
        self.fault_ready.next = self.sequencer.fault_ready.val();
        self.flush_ready.next = self.sequencer.flush_ready.val();
        self.wake_ready.next = self.sequencer.wake_ready.val();
        self.rotate.next = self.sequencer.rotate.val();
        self.deactivate.next = self.sequencer.deactivate.val();
        self.schedule_valid.next = self.sequencer.schedule_valid.val();
        self.schedule_page.next = self.sequencer.schedule_page.val();
        self.schedule_qp.next = self.sequencer.schedule_qp.val();
        self.due_ready.next = self.sequencer.due_ready.val();
        self.deadline_valid.next = self.sequencer.deadline_valid.val();
        self.deadline_qp.next = self.sequencer.deadline_qp.val();
        self.deadline_armed.next = self.sequencer.deadline_armed.val();
        self.deadline.next = self.sequencer.deadline.val();
        self.tx_valid.next = self.sequencer.tx_valid.val();
        self.tx.next = self.sequencer.tx.val();
        self.spray.reflected_valid.next = self.sequencer.reverse_ev_valid.val();
        self.spray.reflected.next = self.sequencer.reverse_ev.val();
        self.reverse_ev_valid.next = self.spray.known.val();
        self.reverse_ev_qp.next = self.spray.known_value.val().qp;
        self.reverse_ev_plane.next = self.spray.known_plane.val();
        self.reverse_ev_entropy.next = self.spray.known_value.val().entropy;
        self.failed.next = self.sequencer.failed.val();
        self.event_qp.next = self.sequencer.event_qp.val();
        self.failed_status.next = self.sequencer.failed_status.val();
        self.refused.next = self.sequencer.refused.val();
        self.stats.next = self.sequencer.stats.val();
        self.sampled.next = self.nscc.sampled.val();

        // configure
        self.sequencer.settings.next = self.requester_settings.val();
        self.sequencer.may_probe.next = self.spray_settings.val().policy == SprayPolicy::EvState;
        self.messages.settings.next = self.queue_settings.val();
        self.spray.settings.next = self.spray_settings.val();
        self.nscc.settings.next = self.nscc_settings.val();
        self.spray.profile_valid.next = self.profile_valid.val();
        self.spray.profile_index.next = self.profile_index.val();
        self.spray.profile.next = self.profile.val();

        // connect the functional units
        self.spray.request_valid.next = self.sequencer.spray_request_valid.val();
        self.spray.request.next = self.sequencer.spray_request.val();
        self.sequencer.spray_request_ready.next = self.spray.request_ready.val();
        self.sequencer.spray_response_valid.next = self.spray.response_valid.val();
        self.sequencer.spray_response.next = self.spray.response.val();
        self.nscc.request_valid.next = self.sequencer.nscc_request_valid.val();
        self.nscc.request.next = self.sequencer.nscc_request.val();
        self.sequencer.nscc_request_ready.next = self.nscc.request_ready.val();
        self.sequencer.nscc_response_valid.next = self.nscc.response_valid.val();
        self.sequencer.nscc_response.next = self.nscc.response.val();
        self.window.request_valid.next = self.sequencer.window_request_valid.val();
        self.window.request.next = self.sequencer.window_request.val();
        self.sequencer.window_request_ready.next = self.window.request_ready.val();
        self.sequencer.window_response_valid.next = self.window.response_valid.val();
        self.sequencer.window_response.next = self.window.response.val();
        self.window.sent_packet_valid.next = self.sequencer.sent_packet_valid.val();
        self.window.sent_packet.next = self.sequencer.sent_packet.val();
        self.messages.request_valid.next = self.sequencer.messages_request_valid.val();
        self.messages.request.next = self.sequencer.messages_request.val();
        self.sequencer.messages_request_ready.next = self.messages.request_ready.val();
        self.sequencer.messages_response_valid.next = self.messages.response_valid.val();
        self.sequencer.messages_response.next = self.messages.response.val();
        self.xlate_req_valid.next = self.sequencer.xlate_req_valid.val();
        self.xlate_req.next = self.sequencer.xlate_req.val();
        self.sequencer.xlate_req_ready.next = self.xlate_req_ready.val();
        self.sequencer.xlate_rsp_valid.next = self.xlate_rsp_valid.val();
        self.sequencer.xlate_rsp.next = self.xlate_rsp.val();

        // fetch entries, complete messages
        self.fetch_valid.next = self.messages.fetch_valid.val();
        self.fetch.next = self.messages.fetch.val();
        self.messages.fetch_ready.next = self.fetch_ready.val();
        self.messages.pushed_valid.next = self.doorbell_valid.val()
            & self.sequencer.doorbell_ready.val()
            & self.doorbell_pushed.val();
        self.messages.pushed.next = WqeFetched {
            qp: self.doorbell_qp.val(),
            error: false,
            entry: self.doorbell_entry.val(),
        };
        self.messages.pushed_producer.next = self.doorbell_producer.val();
        self.messages.fetched_valid.next = self.fetched_valid.val();
        self.messages.fetched.next = self.fetched.val();
        self.fetched_ready.next = self.messages.fetched_ready.val();
        self.entry_arrived.next = self.messages.wake_valid.val();
        self.entry_arrived_qp.next = self.messages.wake_qp.val();
        self.cqe_valid.next = self.messages.cqe_valid.val();
        self.cqe.next = self.messages.cqe.val();
        self.messages.cqe_ready.next = self.cqe_ready.val();
    }
}
