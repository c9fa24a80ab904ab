//! The sequencer and its four functional units.

use hdl_congestion::NsccEngine;
use hdl_macros::{clock, clock_reset, hdl, join};
use hdl_primitives::bundles::{DoorbellSnk, QpSnk, ReadFaultSnk, ReverseEvSrc};
use hdl_primitives::{FlowSnk, FlowSrc, OfferSrc, Snk, Src};
use hdl_send_queue::MessageTable;
use hdl_spray_engine::entropy_lookup::Reflected;
use hdl_spray_engine::policy::{has_one_path, has_states, hears_all, probes};
use hdl_spray_engine::profile::{ExplicitSnk, ProfileSnk};
use hdl_spray_engine::SprayEngine;
use hdl_tx_window::TxWindow;
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::CongestionSample;
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::messages::{Completion, WqeFetch, WqeFetched};
use stellar_wire::hw::requester::{ControlPacket, TranslateRequest, TranslateResponse, TxRequest};
use stellar_wire::hw::tenant::COST_BITS;
use stellar_wire::hw::window::Departure;
use stellar_wire::hw::{Qpn, SqIndex};

use crate::bundles::{
    ConfigureSnk, DeadlineSrc, DueSnk, EngineSettingsSnk, ScheduleSrc, ServingSrc,
};
use crate::records::{PathPolicy, StatPulses};
use crate::sequencer::Sequencer;

/// Does in hardware what `Requester` of the reference does, for 2^`Q` queue pairs. Their transmit windows share 2^`W` blocks of 32 packets, their send queues
/// 2^`B` blocks of 8 entries and messages. `S` = `W` + 3 and `E` = `B` + 3 are address widths of memories.
#[derive(LogicBlock, Default)]
pub struct RequesterCore<
    const Q: usize,
    const W: usize,
    const S: usize,
    const B: usize,
    const E: usize,
    const F: usize = 10,
    const D: usize = 11,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Ticks of 8 ns.
    pub now: Signal<In, Bits<32>>,
    /// Bit p: port p is up.
    pub plane_up: Signal<In, Bits<2>>,

    // Configuration. The settings of the kind and all other inputs are stable until ready.
    pub configure: ConfigureSnk,
    pub settings: EngineSettingsSnk,
    /// Entropy profiles and explicit values are always accepted.
    pub profile: ProfileSnk,
    pub values: ExplicitSnk,

    // Ports of the sequencer.
    pub hold: Signal<In, Bit>,
    pub control: Snk<ControlPacket>,
    pub control_almost_full: Signal<In, Bit>,
    pub doorbell: DoorbellSnk,
    pub fault: ReadFaultSnk,
    pub flush: QpSnk,
    pub wake: QpSnk,
    pub head_valid: Signal<In, Bits<2>>,
    pub head0_qp: Signal<In, Qpn>,
    pub head1_qp: Signal<In, Qpn>,
    pub rotate: Signal<Out, Bits<2>>,
    pub deactivate: Signal<Out, Bits<2>>,
    pub cost: Signal<Out, Bits<COST_BITS>>,
    pub serving: ServingSrc,
    pub schedule: ScheduleSrc,
    pub due: DueSnk,
    pub deadline: DeadlineSrc,
    pub tx_space: Signal<In, Bits<2>>,
    pub tx: FlowSrc<TxRequest>,
    /// Packets that depart now by port 0 and by port 1.
    pub departs: [FlowSnk<Departure>; 2],
    pub reverse_ev: ReverseEvSrc,
    pub failed: Signal<Out, Bit>,
    pub event_qp: Signal<Out, Qpn>,
    pub failed_status: Signal<Out, Bits<8>>,
    pub refused: Signal<Out, Bit>,
    pub starved: Signal<Out, Bit>,
    /// The pool has a free block.
    pub has_free: Signal<Out, Bit>,
    pub stats: Signal<Out, StatPulses>,
    /// Effect of a SACK on the congestion window.
    pub sampled: Signal<Out, CongestionSample>,

    // Local translation.
    pub xlate_req: OfferSrc<TranslateRequest>,
    pub xlate_rsp: FlowSnk<TranslateResponse>,
    /// The location of a payload is dropped: its packet is not sent.
    pub dropped: Signal<Out, EpochEnd>,

    // Ports of the message table.
    pub fetch: Src<WqeFetch>,
    /// See `MessageTable`.
    pub epoch: Signal<In, Bit>,
    pub fetch_begun: Signal<Out, Bit>,
    pub fetched: Snk<WqeFetched>,
    /// High for one cycle when a send queue entry of this queue pair has arrived that it missed.
    pub entry_arrived: Signal<Out, Bit>,
    pub entry_arrived_qp: Signal<Out, Qpn>,
    pub cqe: Src<Completion>,

    sequencer: Sequencer<Q>,
    spray: SprayEngine<Q>,
    nscc: NsccEngine<Q>,
    window: TxWindow<Q, W, S>,
    messages: MessageTable<Q, B, E, F, D>,
    /// A reflected value that was found in the last cycle: a register between the look-up and the responder.
    good: DFF<Bit>,
    good_value: DFF<Reflected>,
    good_plane: DFF<Bit>,
    /// One that was found and is marked: its path.
    marked: DFF<Bit>,
    marked_index: DFF<Bits<8>>,
    /// A doorbell with an entry was accepted in the last cycle: the sequencer accepts it late in a cycle, and it has at least two until it asks for the entry.
    pushed: DFF<Bit>,
    pushed_entry: DFF<WqeFetched>,
    pushed_producer: DFF<SqIndex>,
}

impl<
        const Q: usize,
        const W: usize,
        const S: usize,
        const B: usize,
        const E: usize,
        const F: usize,
        const D: usize,
    > Logic for RequesterCore<Q, W, S, B, E, F, D>
{
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, sequencer, spray, nscc, window, messages);
        clock!(
            self,
            clock,
            good,
            good_value,
            good_plane,
            marked,
            marked_index
        );
        clock!(self, clock, pushed, pushed_entry, pushed_producer);
        join!(
            self,
            now => sequencer.now,
            plane_up => spray.plane_up,
            plane_up => sequencer.plane_up,
            hold => sequencer.hold,
            configure => sequencer.configure,
            control => sequencer.control,
            control_almost_full => sequencer.control_almost_full,
            fault => sequencer.fault,
            flush => sequencer.flush,
            wake => sequencer.wake,
            head_valid => sequencer.head_valid,
            head0_qp => sequencer.head0_qp,
            head1_qp => sequencer.head1_qp,
            sequencer.rotate => rotate,
            sequencer.deactivate => deactivate,
            sequencer.cost => cost,
            sequencer.serving => serving,
            sequencer.schedule => schedule,
            due => sequencer.due,
            sequencer.deadline => deadline,
            tx_space => sequencer.tx_space,
            sequencer.failed => failed,
            sequencer.event_qp => event_qp,
            sequencer.failed_status => failed_status,
            sequencer.refused => refused,
            sequencer.starved => starved,
            window.has_free => has_free,
            nscc.sampled => sampled,
            departs[0] => window.departs[0],
            departs[1] => window.departs[1],
            now => window.now,
        );
        let packet = self.sequencer.tx.record.val();
        self.tx.valid.next = self.sequencer.tx.valid.val();
        self.tx.record.next = TxRequest {
            block: if packet.retransmission {
                self.window.found_block.val()
            } else {
                self.window.coming_block.val()
            },
            ..packet
        };

        // look up reflected entropy values
        join!(self, sequencer.reverse_ev => spray.reflected);
        let known = self.spray.known.val() & !self.reset.val();
        let known_value = self.spray.known_value.val();
        let known_index = self.spray.known_index.val();
        self.good.d.next = known & !known_value.marked;
        self.good_value.d.next = known_value;
        self.good_plane.d.next = known_index.get_bit(0);
        self.marked.d.next = known & known_value.marked;
        self.marked_index.d.next = known_index;
        self.reverse_ev.valid.next = self.good.q.val();
        self.reverse_ev.qp.next = self.good_value.q.val().qp;
        self.reverse_ev.plane.next = self.good_plane.q.val();
        self.reverse_ev.entropy.next = self.good_value.q.val().entropy;
        self.stats.next = self.sequencer.stats.val();
        if self.marked.q.val() {
            self.stats.next.marked_path = true;
            self.stats.next.marked_qp = self.good_value.q.val().qp;
            self.stats.next.marked_index = self.marked_index.q.val();
        }

        // configure
        let policy = self.settings.spray.val().policy;
        let spreads = !has_one_path(policy) & !has_states(policy);
        self.sequencer.path_policy.next = PathPolicy {
            probes: probes(policy),
            spreads,
            keeps_all_paths: spreads,
            hears_all: hears_all(policy),
        };
        join!(
            self,
            settings.requester => sequencer.settings,
            settings.queue => messages.settings,
            settings.spray => spray.settings,
            settings.nscc => nscc.settings,
            settings.path_use => sequencer.path_use,
            profile => spray.profile,
            values => spray.values,
        );

        // connect the functional units
        join!(
            self,
            sequencer.spray_request => spray.request,
            spray.response => sequencer.spray_response,
            sequencer.nscc_request => nscc.request,
            nscc.response => sequencer.nscc_response,
            sequencer.window_request => window.request,
            window.response => sequencer.window_response,
            sequencer.sent_packet => window.sent_packet,
            sequencer.messages_request => messages.request,
            messages.response => sequencer.messages_response,
            sequencer.xlate_req => xlate_req,
            xlate_rsp => sequencer.xlate_rsp,
            sequencer.dropped => dropped,
        );

        // accept doorbells, and the entries that they carry
        let rings = self.doorbell.valid.val() & self.sequencer.doorbell.ready.val();
        self.sequencer.doorbell.valid.next = self.doorbell.valid.val();
        self.sequencer.doorbell.qp.next = self.doorbell.qp.val();
        self.sequencer.doorbell.producer.next = self.doorbell.producer.val();
        self.doorbell.ready.next = self.sequencer.doorbell.ready.val();
        self.pushed.d.next = rings & self.doorbell.pushed.val() & !self.reset.val();
        self.pushed_entry.d.next = WqeFetched {
            qp: self.doorbell.qp.val(),
            error: false,
            behind: bits::<3>(0),
            line: self.doorbell.entry.val(),
        };
        self.pushed_producer.d.next = self.doorbell.producer.val();
        self.messages.pushed.valid.next = self.pushed.q.val();
        self.messages.pushed.record.next = self.pushed_entry.q.val();
        self.messages.pushed_producer.next = self.pushed_producer.q.val();

        // fetch entries, complete messages
        join!(
            self,
            messages.fetch => fetch,
            epoch => messages.epoch,
            messages.fetch_begun => fetch_begun,
            fetched => messages.fetched,
            messages.wake_valid => entry_arrived,
            messages.wake_qp => entry_arrived_qp,
            messages.cqe => cqe,
        );
    }
}
