//! The sequencer and its four servers.

use hdl_congestion::NsccEngine;
use hdl_macros::hdl;
use hdl_send_queue::MessageTable;
use hdl_spray_engine::SprayEngine;
use hdl_tx_window::TxWindow;
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::{CongestionSample, NsccConfig};
use stellar_wire::hw::messages::{Completion, SendQueueConfig, WqeFetch, WqeFetched};
use stellar_wire::hw::requester::{
    ControlPacket, LocateRequest, LocateResponse, RequesterConfig, TxRequest,
};
use stellar_wire::hw::spray::{EntropyProfileEntry, SprayConfig, SprayPolicy};

use crate::records::{ConfigureKind, Counted};
use crate::sequencer::Sequencer;

/// What `Requester` of the reference is, for 2^`Q` queue pairs with 2^`M` messages under way each. `S` = `Q` + 8, `A` = `Q` + `M` and
/// `E` = `Q` + 4 are address bits of memories.
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

    // Configuration; the record of the kind and the rest stay until ready.
    pub configure_valid: Signal<In, Bit>,
    pub configure: Signal<In, ConfigureKind>,
    pub configure_qp: Signal<In, Bits<10>>,
    pub requester_settings: Signal<In, RequesterConfig>,
    pub queue_settings: Signal<In, SendQueueConfig>,
    pub spray_settings: Signal<In, SprayConfig>,
    pub nscc_settings: Signal<In, NsccConfig>,
    pub configure_ready: Signal<Out, Bit>,
    /// Entropy profiles: always taken.
    pub profile_valid: Signal<In, Bit>,
    pub profile_index: Signal<In, Bits<3>>,
    pub profile: Signal<In, EntropyProfileEntry>,

    // As of the sequencer.
    pub hold: Signal<In, Bit>,
    pub control_valid: Signal<In, Bit>,
    pub control: Signal<In, ControlPacket>,
    pub control_ready: Signal<Out, Bit>,
    pub control_presses: Signal<In, Bit>,
    pub doorbell_valid: Signal<In, Bit>,
    pub doorbell_qp: Signal<In, Bits<10>>,
    pub doorbell_producer: Signal<In, Bits<16>>,
    /// The entry before `doorbell_producer` came with it.
    pub doorbell_pushed: Signal<In, Bit>,
    pub doorbell_entry: Signal<In, Bits<512>>,
    pub doorbell_ready: Signal<Out, Bit>,
    pub fault_valid: Signal<In, Bit>,
    pub fault_qp: Signal<In, Bits<10>>,
    pub fault_slot: Signal<In, Bits<16>>,
    pub fault_ready: Signal<Out, Bit>,
    pub flush_valid: Signal<In, Bit>,
    pub flush_qp: Signal<In, Bits<10>>,
    pub flush_ready: Signal<Out, Bit>,
    pub wake_valid: Signal<In, Bit>,
    pub wake_qp: Signal<In, Bits<10>>,
    pub wake_ready: Signal<Out, Bit>,
    pub front_valid: Signal<In, Bits<2>>,
    pub front0_qp: Signal<In, Bits<10>>,
    pub front1_qp: Signal<In, Bits<10>>,
    pub served: Signal<Out, Bits<2>>,
    pub parked: Signal<Out, Bits<2>>,
    pub schedule_valid: Signal<Out, Bit>,
    pub schedule_page: Signal<Out, Bits<16>>,
    pub schedule_qp: Signal<Out, Bits<10>>,
    pub schedule_ready: Signal<In, Bit>,
    pub due_valid: Signal<In, Bit>,
    pub due_qp: Signal<In, Bits<10>>,
    pub due_ready: Signal<Out, Bit>,
    pub deadline_valid: Signal<Out, Bit>,
    pub deadline_qp: Signal<Out, Bits<10>>,
    pub deadline_armed: Signal<Out, Bit>,
    pub deadline: Signal<Out, Bits<32>>,
    pub tx_room: Signal<In, Bits<2>>,
    pub tx_valid: Signal<Out, Bit>,
    pub tx: Signal<Out, TxRequest>,
    pub good_valid: Signal<Out, Bit>,
    pub good_qp: Signal<Out, Bits<10>>,
    pub good_plane: Signal<Out, Bit>,
    pub good_entropy: Signal<Out, Bits<32>>,
    pub failed: Signal<Out, Bit>,
    pub event_qp: Signal<Out, Bits<10>>,
    pub failed_status: Signal<Out, Bits<8>>,
    pub refused: Signal<Out, Bit>,
    pub counted: Signal<Out, Counted>,
    /// What SACKs made of windows.
    pub sampled: Signal<Out, CongestionSample>,

    // Payload location.
    pub locate_valid: Signal<Out, Bit>,
    pub locate: Signal<Out, LocateRequest>,
    pub locate_ready: Signal<In, Bit>,
    pub located_valid: Signal<In, Bit>,
    pub located: Signal<In, LocateResponse>,

    // As of the message table.
    pub fetch_valid: Signal<Out, Bit>,
    pub fetch: Signal<Out, WqeFetch>,
    pub fetch_ready: Signal<In, Bit>,
    pub fetched_valid: Signal<In, Bit>,
    pub fetched: Signal<In, WqeFetched>,
    pub fetched_ready: Signal<Out, Bit>,
    /// Pulse: an entry of this queue pair's send queue has come.
    pub arrived: Signal<Out, Bit>,
    pub arrived_qp: Signal<Out, Bits<10>>,
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
        self.sequencer.control_presses.next = self.control_presses.val();
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
        self.sequencer.front_valid.next = self.front_valid.val();
        self.sequencer.front0_qp.next = self.front0_qp.val();
        self.sequencer.front1_qp.next = self.front1_qp.val();
        self.sequencer.schedule_ready.next = self.schedule_ready.val();
        self.sequencer.due_valid.next = self.due_valid.val();
        self.sequencer.due_qp.next = self.due_qp.val();
        self.sequencer.tx_room.next = self.tx_room.val();
        self.configure_ready.next = self.sequencer.configure_ready.val();
        self.control_ready.next = self.sequencer.control_ready.val();
        self.doorbell_ready.next = self.sequencer.doorbell_ready.val();
        self.fault_ready.next = self.sequencer.fault_ready.val();
        self.flush_ready.next = self.sequencer.flush_ready.val();
        self.wake_ready.next = self.sequencer.wake_ready.val();
        self.served.next = self.sequencer.served.val();
        self.parked.next = self.sequencer.parked.val();
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
        self.spray.reflected_valid.next = self.sequencer.good_valid.val();
        self.spray.reflected.next = self.sequencer.good.val();
        self.good_valid.next = self.spray.known.val();
        self.good_qp.next = self.spray.known_value.val().qp;
        self.good_plane.next = self.spray.known_plane.val();
        self.good_entropy.next = self.spray.known_value.val().entropy;
        self.failed.next = self.sequencer.failed.val();
        self.event_qp.next = self.sequencer.event_qp.val();
        self.failed_status.next = self.sequencer.failed_status.val();
        self.refused.next = self.sequencer.refused.val();
        self.counted.next = self.sequencer.counted.val();
        self.sampled.next = self.nscc.sampled.val();

        // configuration
        self.sequencer.settings.next = self.requester_settings.val();
        self.sequencer.may_probe.next = self.spray_settings.val().policy == SprayPolicy::EvState;
        self.messages.settings.next = self.queue_settings.val();
        self.spray.settings.next = self.spray_settings.val();
        self.nscc.settings.next = self.nscc_settings.val();
        self.spray.profile_valid.next = self.profile_valid.val();
        self.spray.profile_index.next = self.profile_index.val();
        self.spray.profile.next = self.profile.val();

        // calls
        self.spray.request_valid.next = self.sequencer.spray_valid.val();
        self.spray.request.next = self.sequencer.spray_request.val();
        self.sequencer.spray_ready.next = self.spray.request_ready.val();
        self.sequencer.sprayed_valid.next = self.spray.response_valid.val();
        self.sequencer.sprayed.next = self.spray.response.val();
        self.nscc.request_valid.next = self.sequencer.nscc_valid.val();
        self.nscc.request.next = self.sequencer.nscc_request.val();
        self.sequencer.nscc_ready.next = self.nscc.request_ready.val();
        self.sequencer.nscc_answer_valid.next = self.nscc.response_valid.val();
        self.sequencer.nscc_answer.next = self.nscc.response.val();
        self.window.request_valid.next = self.sequencer.window_valid.val();
        self.window.request.next = self.sequencer.window_request.val();
        self.sequencer.window_ready.next = self.window.request_ready.val();
        self.sequencer.window_answer_valid.next = self.window.response_valid.val();
        self.sequencer.window_answer.next = self.window.response.val();
        self.window.push_valid.next = self.sequencer.push_valid.val();
        self.window.push.next = self.sequencer.push.val();
        self.messages.request_valid.next = self.sequencer.messages_valid.val();
        self.messages.request.next = self.sequencer.messages_request.val();
        self.sequencer.messages_ready.next = self.messages.request_ready.val();
        self.sequencer.messages_answer_valid.next = self.messages.response_valid.val();
        self.sequencer.messages_answer.next = self.messages.response.val();
        self.locate_valid.next = self.sequencer.locate_valid.val();
        self.locate.next = self.sequencer.locate_request.val();
        self.sequencer.locate_ready.next = self.locate_ready.val();
        self.sequencer.located_valid.next = self.located_valid.val();
        self.sequencer.located.next = self.located.val();

        // messages
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
        self.arrived.next = self.messages.wake_valid.val();
        self.arrived_qp.next = self.messages.wake_qp.val();
        self.cqe_valid.next = self.messages.cqe_valid.val();
        self.cqe.next = self.messages.cqe.val();
        self.messages.cqe_ready.next = self.cqe_ready.val();
    }
}
