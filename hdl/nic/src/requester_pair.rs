//! Two requester engines as one: one for queue pairs of even numbers, one for those of odd numbers.

use hdl_macros::{hdl, hdl_fn};
use hdl_requester::{ConfigureKind, Failure, RequesterEngine, StatPulses};
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::{CongestionSample, NsccConfig};
use stellar_wire::hw::messages::{Completion, SendQueueConfig, WqeFetch, WqeFetched};
use stellar_wire::hw::requester::{
    ControlPacket, RequesterConfig, TranslateRequest, TranslateResponse, TxRequest,
};
use stellar_wire::hw::spray::{EntropyProfileEntry, SprayConfig};
use stellar_wire::hw::{Qpn, SqIndex};

use crate::stream_merge::StreamMerge;

/// An engine of 512 queue pairs with 64 outstanding messages each, and 65,536 doorbell pages.
type Engine = RequesterEngine<9, 10, 512, 17, 6, 15, 13, 16>;

/// Returns the number of a queue pair in its engine: the card's number without bit 0.
#[hdl_fn]
fn to_local_qp(qp: Qpn) -> Qpn {
    qp >> 1
}

/// Returns the card's number of queue pair `qp` of an engine.
#[hdl_fn]
fn to_global_qp(qp: Qpn, engine: usize) -> Qpn {
    (qp << 1) | bits::<10>(engine as u64)
}

/// Selects the engine, one-hot: bit e is set for engine e.
#[hdl_fn]
fn to_engine(odd: Bit) -> Bits<2> {
    if odd {
        bits::<2>(2)
    } else {
        bits::<2>(1)
    }
}

/// 1,024 queue pairs. Bit 0 of the number of a queue pair selects its engine. The engines share only the ports to their neighbours.
///
/// The ports are those of [`RequesterEngine`]. Requests, packets and completions of both engines take turns. Both may count events in the same cycle, so each
/// has its own statistics ports.
#[derive(LogicBlock, Default)]
pub struct RequesterPair {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Ticks of 8 ns.
    pub now: Signal<In, Bits<32>>,
    /// Bit p: port p is up.
    pub plane_up: Signal<In, Bits<2>>,

    // Configuration: see `RequesterCore`.
    pub configure_valid: Signal<In, Bit>,
    pub configure: Signal<In, ConfigureKind>,
    pub configure_qp: Signal<In, Qpn>,
    pub requester_settings: Signal<In, RequesterConfig>,
    pub queue_settings: Signal<In, SendQueueConfig>,
    pub spray_settings: Signal<In, SprayConfig>,
    pub nscc_settings: Signal<In, NsccConfig>,
    pub configure_ready: Signal<Out, Bit>,
    pub profile_valid: Signal<In, Bit>,
    pub profile_index: Signal<In, Bits<3>>,
    pub profile: Signal<In, EntropyProfileEntry>,

    // Control packets, doorbells, payload faults, and flushes. Each is accepted when valid and ready are high.
    pub control_valid: Signal<In, Bit>,
    /// SACK, NACK or RC acknowledgement.
    pub control: Signal<In, ControlPacket>,
    pub control_ready: Signal<Out, Bit>,
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

    // Packets of port 0 and of port 1.
    pub tx0_valid: Signal<Out, Bit>,
    pub tx0: Signal<Out, TxRequest>,
    pub tx0_ready: Signal<In, Bit>,
    pub tx1_valid: Signal<Out, Bit>,
    pub tx1: Signal<Out, TxRequest>,
    pub tx1_ready: Signal<In, Bit>,

    // Pulses to the responder: a SACK confirmed that this entropy value is good on this plane.
    pub reverse_ev_valid: Signal<Out, Bit>,
    pub reverse_ev_qp: Signal<Out, Qpn>,
    pub reverse_ev_plane: Signal<Out, Bit>,
    pub reverse_ev_entropy: Signal<Out, Bits<32>>,
    // Queue pairs that moved to the error state.
    pub failure_valid: Signal<Out, Bit>,
    pub failure: Signal<Out, Failure>,
    pub failure_ready: Signal<In, Bit>,
    // Statistics pulses of the engines of even and of odd numbers.
    pub event0_qp: Signal<Out, Qpn>,
    pub stats0: Signal<Out, StatPulses>,
    pub event1_qp: Signal<Out, Qpn>,
    pub stats1: Signal<Out, StatPulses>,
    /// Effects of SACKs on congestion windows, by engine.
    pub sampled0: Signal<Out, CongestionSample>,
    pub sampled1: Signal<Out, CongestionSample>,
    /// Bit e: engine e refused a producer index.
    pub refused: Signal<Out, Bits<2>>,

    // Local translation, WQE reads, completions: see `RequesterCore`.
    pub xlate_req_valid: Signal<Out, Bit>,
    pub xlate_req: Signal<Out, TranslateRequest>,
    pub xlate_req_ready: Signal<In, Bit>,
    pub xlate_rsp_valid: Signal<In, Bit>,
    pub xlate_rsp: Signal<In, TranslateResponse>,
    pub fetch_valid: Signal<Out, Bit>,
    pub fetch: Signal<Out, WqeFetch>,
    pub fetch_ready: Signal<In, Bit>,
    pub fetched_valid: Signal<In, Bit>,
    pub fetched: Signal<In, WqeFetched>,
    pub fetched_ready: Signal<Out, Bit>,
    pub cqe_valid: Signal<Out, Bit>,
    pub cqe: Signal<Out, Completion>,
    pub cqe_ready: Signal<In, Bit>,

    engines: [Engine; 2],
    merge_tx0: StreamMerge<TxRequest>,
    merge_tx1: StreamMerge<TxRequest>,
    merge_xlate_req: StreamMerge<TranslateRequest>,
    merge_fetch: StreamMerge<WqeFetch>,
    merge_cqe: StreamMerge<Completion>,
    merge_failure: StreamMerge<Failure>,
    /// An entropy value of the odd engine, delayed by one of the even engine.
    late_valid: DFF<Bit>,
    late: DFF<ReverseEv>,
}

/// An entropy value that is known to be good.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct ReverseEv {
    qp: Qpn,
    plane: Bit,
    entropy: Bits<32>,
}

impl Logic for RequesterPair {
    #[hdl]
    fn update(&mut self) {
        clock!(
            self,
            clock,
            merge_tx0,
            merge_tx1,
            merge_xlate_req,
            merge_fetch,
            merge_cqe
        );
        clock!(self, clock, merge_failure);
        dff_setup!(self, clock, late_valid, late);
        self.merge_tx0.reset.next = self.reset.val();
        self.merge_tx1.reset.next = self.reset.val();
        self.merge_xlate_req.reset.next = self.reset.val();
        self.merge_fetch.reset.next = self.reset.val();
        self.merge_cqe.reset.next = self.reset.val();
        self.merge_failure.reset.next = self.reset.val();

        // distribute
        let control = self.control.val();
        let fetched = self.fetched.val();
        let xlate_rsp = self.xlate_rsp.val();
        let configure_odd = self.configure_qp.val().get_bit(0);
        let control_odd = control.qp.get_bit(0);
        let doorbell_odd = self.doorbell_qp.val().get_bit(0);
        let fault_odd = self.fault_qp.val().get_bit(0);
        let flush_odd = self.flush_qp.val().get_bit(0);
        for i in 0..2 {
            self.engines[i].clock.next = self.clock.val();
            self.engines[i].reset.next = self.reset.val();
            self.engines[i].now.next = self.now.val();
            self.engines[i].plane_up.next = self.plane_up.val();
            self.engines[i].configure_valid.next =
                self.configure_valid.val() & to_engine(configure_odd).get_bit(i);
            self.engines[i].configure.next = self.configure.val();
            self.engines[i].configure_qp.next = to_local_qp(self.configure_qp.val());
            self.engines[i].requester_settings.next = self.requester_settings.val();
            self.engines[i].queue_settings.next = self.queue_settings.val();
            self.engines[i].spray_settings.next = self.spray_settings.val();
            self.engines[i].nscc_settings.next = self.nscc_settings.val();
            self.engines[i].profile_valid.next = self.profile_valid.val();
            self.engines[i].profile_index.next = self.profile_index.val();
            self.engines[i].profile.next = self.profile.val();
            self.engines[i].control_valid.next =
                self.control_valid.val() & to_engine(control_odd).get_bit(i);
            self.engines[i].control.next = ControlPacket {
                qp: to_local_qp(control.qp),
                ..control
            };
            self.engines[i].doorbell_valid.next =
                self.doorbell_valid.val() & to_engine(doorbell_odd).get_bit(i);
            self.engines[i].doorbell_qp.next = to_local_qp(self.doorbell_qp.val());
            self.engines[i].doorbell_producer.next = self.doorbell_producer.val();
            self.engines[i].doorbell_pushed.next = self.doorbell_pushed.val();
            self.engines[i].doorbell_entry.next = self.doorbell_entry.val();
            self.engines[i].fault_valid.next =
                self.fault_valid.val() & to_engine(fault_odd).get_bit(i);
            self.engines[i].fault_qp.next = to_local_qp(self.fault_qp.val());
            self.engines[i].fault_slot.next = self.fault_slot.val();
            self.engines[i].flush_valid.next =
                self.flush_valid.val() & to_engine(flush_odd).get_bit(i);
            self.engines[i].flush_qp.next = to_local_qp(self.flush_qp.val());
            self.engines[i].fetched_valid.next =
                self.fetched_valid.val() & to_engine(fetched.qp.get_bit(0)).get_bit(i);
            self.engines[i].fetched.next = WqeFetched {
                qp: to_local_qp(fetched.qp),
                ..fetched
            };
            self.engines[i].xlate_rsp_valid.next =
                self.xlate_rsp_valid.val() & to_engine(xlate_rsp.qp.get_bit(0)).get_bit(i);
            self.engines[i].xlate_rsp.next = TranslateResponse {
                qp: to_local_qp(xlate_rsp.qp),
                ..xlate_rsp
            };
        }
        self.fetched_ready.next = if fetched.qp.get_bit(0) {
            self.engines[1].fetched_ready.val()
        } else {
            self.engines[0].fetched_ready.val()
        };
        self.configure_ready.next = if configure_odd {
            self.engines[1].configure_ready.val()
        } else {
            self.engines[0].configure_ready.val()
        };
        self.control_ready.next = if control_odd {
            self.engines[1].control_ready.val()
        } else {
            self.engines[0].control_ready.val()
        };
        self.doorbell_ready.next = if doorbell_odd {
            self.engines[1].doorbell_ready.val()
        } else {
            self.engines[0].doorbell_ready.val()
        };
        self.fault_ready.next = if fault_odd {
            self.engines[1].fault_ready.val()
        } else {
            self.engines[0].fault_ready.val()
        };
        self.flush_ready.next = if flush_odd {
            self.engines[1].flush_ready.val()
        } else {
            self.engines[0].flush_ready.val()
        };

        // merge
        self.merge_tx0.in0_valid.next = self.engines[0].tx0_valid.val();
        let even_tx0 = self.engines[0].tx0.val();
        self.merge_tx0.in0_data.next = TxRequest {
            qp: to_global_qp(even_tx0.qp, 0),
            ..even_tx0
        };
        self.engines[0].tx0_ready.next = self.merge_tx0.in0_ready.val();
        self.merge_tx0.in1_valid.next = self.engines[1].tx0_valid.val();
        let odd_tx0 = self.engines[1].tx0.val();
        self.merge_tx0.in1_data.next = TxRequest {
            qp: to_global_qp(odd_tx0.qp, 1),
            ..odd_tx0
        };
        self.engines[1].tx0_ready.next = self.merge_tx0.in1_ready.val();
        self.tx0_valid.next = self.merge_tx0.out_valid.val();
        self.tx0.next = self.merge_tx0.out_data.val();
        self.merge_tx0.out_ready.next = self.tx0_ready.val();
        self.merge_tx1.in0_valid.next = self.engines[0].tx1_valid.val();
        let even_tx1 = self.engines[0].tx1.val();
        self.merge_tx1.in0_data.next = TxRequest {
            qp: to_global_qp(even_tx1.qp, 0),
            ..even_tx1
        };
        self.engines[0].tx1_ready.next = self.merge_tx1.in0_ready.val();
        self.merge_tx1.in1_valid.next = self.engines[1].tx1_valid.val();
        let odd_tx1 = self.engines[1].tx1.val();
        self.merge_tx1.in1_data.next = TxRequest {
            qp: to_global_qp(odd_tx1.qp, 1),
            ..odd_tx1
        };
        self.engines[1].tx1_ready.next = self.merge_tx1.in1_ready.val();
        self.tx1_valid.next = self.merge_tx1.out_valid.val();
        self.tx1.next = self.merge_tx1.out_data.val();
        self.merge_tx1.out_ready.next = self.tx1_ready.val();
        self.merge_xlate_req.in0_valid.next = self.engines[0].xlate_req_valid.val();
        let even_xlate_req = self.engines[0].xlate_req.val();
        self.merge_xlate_req.in0_data.next = TranslateRequest {
            qp: to_global_qp(even_xlate_req.qp, 0),
            ..even_xlate_req
        };
        self.engines[0].xlate_req_ready.next = self.merge_xlate_req.in0_ready.val();
        self.merge_xlate_req.in1_valid.next = self.engines[1].xlate_req_valid.val();
        let odd_xlate_req = self.engines[1].xlate_req.val();
        self.merge_xlate_req.in1_data.next = TranslateRequest {
            qp: to_global_qp(odd_xlate_req.qp, 1),
            ..odd_xlate_req
        };
        self.engines[1].xlate_req_ready.next = self.merge_xlate_req.in1_ready.val();
        self.xlate_req_valid.next = self.merge_xlate_req.out_valid.val();
        self.xlate_req.next = self.merge_xlate_req.out_data.val();
        self.merge_xlate_req.out_ready.next = self.xlate_req_ready.val();
        self.merge_fetch.in0_valid.next = self.engines[0].fetch_valid.val();
        let even_fetch = self.engines[0].fetch.val();
        self.merge_fetch.in0_data.next = WqeFetch {
            qp: to_global_qp(even_fetch.qp, 0),
            ..even_fetch
        };
        self.engines[0].fetch_ready.next = self.merge_fetch.in0_ready.val();
        self.merge_fetch.in1_valid.next = self.engines[1].fetch_valid.val();
        let odd_fetch = self.engines[1].fetch.val();
        self.merge_fetch.in1_data.next = WqeFetch {
            qp: to_global_qp(odd_fetch.qp, 1),
            ..odd_fetch
        };
        self.engines[1].fetch_ready.next = self.merge_fetch.in1_ready.val();
        self.fetch_valid.next = self.merge_fetch.out_valid.val();
        self.fetch.next = self.merge_fetch.out_data.val();
        self.merge_fetch.out_ready.next = self.fetch_ready.val();
        self.merge_cqe.in0_valid.next = self.engines[0].cqe_valid.val();
        let even_cqe = self.engines[0].cqe.val();
        self.merge_cqe.in0_data.next = Completion {
            qp: to_global_qp(even_cqe.qp, 0),
            ..even_cqe
        };
        self.engines[0].cqe_ready.next = self.merge_cqe.in0_ready.val();
        self.merge_cqe.in1_valid.next = self.engines[1].cqe_valid.val();
        let odd_cqe = self.engines[1].cqe.val();
        self.merge_cqe.in1_data.next = Completion {
            qp: to_global_qp(odd_cqe.qp, 1),
            ..odd_cqe
        };
        self.engines[1].cqe_ready.next = self.merge_cqe.in1_ready.val();
        self.cqe_valid.next = self.merge_cqe.out_valid.val();
        self.cqe.next = self.merge_cqe.out_data.val();
        self.merge_cqe.out_ready.next = self.cqe_ready.val();
        self.merge_failure.in0_valid.next = self.engines[0].failure_valid.val();
        let even_failure = self.engines[0].failure.val();
        self.merge_failure.in0_data.next = Failure {
            qp: to_global_qp(even_failure.qp, 0),
            ..even_failure
        };
        self.engines[0].failure_ready.next = self.merge_failure.in0_ready.val();
        self.merge_failure.in1_valid.next = self.engines[1].failure_valid.val();
        let odd_failure = self.engines[1].failure.val();
        self.merge_failure.in1_data.next = Failure {
            qp: to_global_qp(odd_failure.qp, 1),
            ..odd_failure
        };
        self.engines[1].failure_ready.next = self.merge_failure.in1_ready.val();
        self.failure_valid.next = self.merge_failure.out_valid.val();
        self.failure.next = self.merge_failure.out_data.val();
        self.merge_failure.out_ready.next = self.failure_ready.val();

        // Known-good entropy values. An engine reports one in several cycles, so a value of the odd engine waits for at most one of the even engine.
        let odd_ev = if self.late_valid.q.val() {
            self.late.q.val()
        } else {
            ReverseEv {
                qp: to_global_qp(self.engines[1].reverse_ev_qp.val(), 1),
                plane: self.engines[1].reverse_ev_plane.val(),
                entropy: self.engines[1].reverse_ev_entropy.val(),
            }
        };
        let has_even = self.engines[0].reverse_ev_valid.val();
        let has_odd = self.late_valid.q.val() | self.engines[1].reverse_ev_valid.val();
        self.late_valid.d.next = has_odd & has_even;
        self.late.d.next = odd_ev;
        self.reverse_ev_valid.next = has_even | has_odd;
        if has_even {
            self.reverse_ev_qp.next = to_global_qp(self.engines[0].reverse_ev_qp.val(), 0);
            self.reverse_ev_plane.next = self.engines[0].reverse_ev_plane.val();
            self.reverse_ev_entropy.next = self.engines[0].reverse_ev_entropy.val();
        } else {
            self.reverse_ev_qp.next = odd_ev.qp;
            self.reverse_ev_plane.next = odd_ev.plane;
            self.reverse_ev_entropy.next = odd_ev.entropy;
        }

        // statistics
        self.event0_qp.next = to_global_qp(self.engines[0].event_qp.val(), 0);
        let stats0 = self.engines[0].stats.val();
        self.stats0.next = stats0;
        self.stats0.next.sent_qp = to_global_qp(stats0.sent_qp, 0);
        self.event1_qp.next = to_global_qp(self.engines[1].event_qp.val(), 1);
        let stats1 = self.engines[1].stats.val();
        self.stats1.next = stats1;
        self.stats1.next.sent_qp = if stats1.packet {
            to_global_qp(stats1.sent_qp, 1)
        } else {
            bits::<10>(0)
        };
        let sampled = self.engines[0].sampled.val();
        self.sampled0.next = sampled;
        self.sampled0.next.qp = to_global_qp(sampled.qp, 0);
        let sampled = self.engines[1].sampled.val();
        self.sampled1.next = sampled;
        self.sampled1.next.qp = to_global_qp(sampled.qp, 1);
        self.refused.next = (bit_cast::<2, 1>(self.engines[1].refused.val().into()) << 1)
            | bit_cast::<2, 1>(self.engines[0].refused.val().into());

        if self.reset.val() {
            self.late_valid.d.next = false;
        }
    }
}
