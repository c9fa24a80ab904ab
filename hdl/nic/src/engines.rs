//! Two requester engines as one: queue pairs of even and of odd numbers.

use hdl_macros::{hdl, hdl_fn};
use hdl_requester::{ConfigureKind, Counted, Failure, RequesterEngine};
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::{CongestionSample, NsccConfig};
use stellar_wire::hw::messages::{Completion, SendQueueConfig, WqeFetch, WqeFetched};
use stellar_wire::hw::requester::{
    ControlPacket, LocateRequest, LocateResponse, RequesterConfig, TxRequest,
};
use stellar_wire::hw::spray::{EntropyProfileEntry, SprayConfig};

use crate::stream_merge::StreamMerge;

/// An engine of 512 queue pairs with 64 messages under way each, 65,536 doorbell pages.
type Engine = RequesterEngine<9, 10, 512, 17, 6, 15, 13, 16>;

/// Queue pair of an engine: the card's number without its bit 0.
#[hdl_fn]
fn own(qp: Bits<10>) -> Bits<10> {
    qp >> 1
}

/// Queue pair of the card that is `qp` of the engine of even numbers.
#[hdl_fn]
fn even(qp: Bits<10>) -> Bits<10> {
    qp << 1
}

/// Queue pair of the card that is `qp` of the engine of odd numbers.
#[hdl_fn]
fn odd(qp: Bits<10>) -> Bits<10> {
    (qp << 1) | 1
}

/// Bit e: the engine is e.
#[hdl_fn]
fn to_engine(odd: Bit) -> Bits<2> {
    if odd {
        bits::<2>(2)
    } else {
        bits::<2>(1)
    }
}

/// 1,024 queue pairs, each in the engine of its number's bit 0: nothing is shared between engines but what they send to and read from.
///
/// Ports as of [`RequesterEngine`]; requests, packets and completions of both take turns. Pulses that count come from both at once, so each engine has its own.
#[derive(LogicBlock, Default)]
pub struct Engines {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Ticks of 8 ns.
    pub now: Signal<In, Bits<32>>,
    /// Bit p: port p is up.
    pub plane_up: Signal<In, Bits<2>>,

    // Configuration, as of the core.
    pub configure_valid: Signal<In, Bit>,
    pub configure: Signal<In, ConfigureKind>,
    pub configure_qp: Signal<In, Bits<10>>,
    pub requester_settings: Signal<In, RequesterConfig>,
    pub queue_settings: Signal<In, SendQueueConfig>,
    pub spray_settings: Signal<In, SprayConfig>,
    pub nscc_settings: Signal<In, NsccConfig>,
    pub configure_ready: Signal<Out, Bit>,
    pub profile_valid: Signal<In, Bit>,
    pub profile_index: Signal<In, Bits<3>>,
    pub profile: Signal<In, EntropyProfileEntry>,

    // What arrives.
    pub control_valid: Signal<In, Bit>,
    /// SACK or NACK.
    pub control: Signal<In, ControlPacket>,
    pub control_ready: Signal<Out, Bit>,
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

    // Packets of port 0 and of port 1, to framing.
    pub tx0_valid: Signal<Out, Bit>,
    pub tx0: Signal<Out, TxRequest>,
    pub tx0_ready: Signal<In, Bit>,
    pub tx1_valid: Signal<Out, Bit>,
    pub tx1: Signal<Out, TxRequest>,
    pub tx1_ready: Signal<In, Bit>,

    // To the responder: pulses.
    pub good_valid: Signal<Out, Bit>,
    pub good_qp: Signal<Out, Bits<10>>,
    pub good_plane: Signal<Out, Bit>,
    pub good_entropy: Signal<Out, Bits<32>>,
    // Queue pairs that went to error.
    pub failure_valid: Signal<Out, Bit>,
    pub failure: Signal<Out, Failure>,
    pub failure_ready: Signal<In, Bit>,
    // Counted: pulses of the engine of even and of that of odd numbers.
    pub event0_qp: Signal<Out, Bits<10>>,
    pub counted0: Signal<Out, Counted>,
    pub event1_qp: Signal<Out, Bits<10>>,
    pub counted1: Signal<Out, Counted>,
    /// What SACKs made of windows, by engine.
    pub sampled0: Signal<Out, CongestionSample>,
    pub sampled1: Signal<Out, CongestionSample>,
    /// Bit e: engine e refused a producer index.
    pub refused: Signal<Out, Bits<2>>,

    // Payload location, WQE reads, completions: as of the core.
    pub locate_valid: Signal<Out, Bit>,
    pub locate: Signal<Out, LocateRequest>,
    pub locate_ready: Signal<In, Bit>,
    pub located_valid: Signal<In, Bit>,
    pub located: Signal<In, LocateResponse>,
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
    merge_locate: StreamMerge<LocateRequest>,
    merge_fetch: StreamMerge<WqeFetch>,
    merge_cqe: StreamMerge<Completion>,
    merge_failure: StreamMerge<Failure>,
    /// A good path of the odd engine, held up by one of the even engine.
    late_valid: DFF<Bit>,
    late: DFF<GoodPath>,
}

/// What the engines tell the responder.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct GoodPath {
    qp: Bits<10>,
    plane: Bit,
    entropy: Bits<32>,
}

impl Logic for Engines {
    #[hdl]
    fn update(&mut self) {
        clock!(
            self,
            clock,
            merge_tx0,
            merge_tx1,
            merge_locate,
            merge_fetch,
            merge_cqe
        );
        clock!(self, clock, merge_failure);
        dff_setup!(self, clock, late_valid, late);
        self.merge_tx0.reset.next = self.reset.val();
        self.merge_tx1.reset.next = self.reset.val();
        self.merge_locate.reset.next = self.reset.val();
        self.merge_fetch.reset.next = self.reset.val();
        self.merge_cqe.reset.next = self.reset.val();
        self.merge_failure.reset.next = self.reset.val();

        // whose
        let control = self.control.val();
        let fetched = self.fetched.val();
        let located = self.located.val();
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
            self.engines[i].configure_qp.next = own(self.configure_qp.val());
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
                qp: own(control.qp),
                ..control
            };
            self.engines[i].doorbell_valid.next =
                self.doorbell_valid.val() & to_engine(doorbell_odd).get_bit(i);
            self.engines[i].doorbell_qp.next = own(self.doorbell_qp.val());
            self.engines[i].doorbell_producer.next = self.doorbell_producer.val();
            self.engines[i].doorbell_pushed.next = self.doorbell_pushed.val();
            self.engines[i].doorbell_entry.next = self.doorbell_entry.val();
            self.engines[i].fault_valid.next =
                self.fault_valid.val() & to_engine(fault_odd).get_bit(i);
            self.engines[i].fault_qp.next = own(self.fault_qp.val());
            self.engines[i].fault_slot.next = self.fault_slot.val();
            self.engines[i].flush_valid.next =
                self.flush_valid.val() & to_engine(flush_odd).get_bit(i);
            self.engines[i].flush_qp.next = own(self.flush_qp.val());
            self.engines[i].fetched_valid.next =
                self.fetched_valid.val() & to_engine(fetched.qp.get_bit(0)).get_bit(i);
            self.engines[i].fetched.next = WqeFetched {
                qp: own(fetched.qp),
                ..fetched
            };
            self.engines[i].located_valid.next =
                self.located_valid.val() & to_engine(located.qp.get_bit(0)).get_bit(i);
            self.engines[i].located.next = LocateResponse {
                qp: own(located.qp),
                ..located
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

        // what both send
        self.merge_tx0.in0_valid.next = self.engines[0].tx0_valid.val();
        let even_tx0 = self.engines[0].tx0.val();
        self.merge_tx0.in0_data.next = TxRequest {
            qp: even(even_tx0.qp),
            ..even_tx0
        };
        self.engines[0].tx0_ready.next = self.merge_tx0.in0_ready.val();
        self.merge_tx0.in1_valid.next = self.engines[1].tx0_valid.val();
        let odd_tx0 = self.engines[1].tx0.val();
        self.merge_tx0.in1_data.next = TxRequest {
            qp: odd(odd_tx0.qp),
            ..odd_tx0
        };
        self.engines[1].tx0_ready.next = self.merge_tx0.in1_ready.val();
        self.tx0_valid.next = self.merge_tx0.out_valid.val();
        self.tx0.next = self.merge_tx0.out_data.val();
        self.merge_tx0.out_ready.next = self.tx0_ready.val();
        self.merge_tx1.in0_valid.next = self.engines[0].tx1_valid.val();
        let even_tx1 = self.engines[0].tx1.val();
        self.merge_tx1.in0_data.next = TxRequest {
            qp: even(even_tx1.qp),
            ..even_tx1
        };
        self.engines[0].tx1_ready.next = self.merge_tx1.in0_ready.val();
        self.merge_tx1.in1_valid.next = self.engines[1].tx1_valid.val();
        let odd_tx1 = self.engines[1].tx1.val();
        self.merge_tx1.in1_data.next = TxRequest {
            qp: odd(odd_tx1.qp),
            ..odd_tx1
        };
        self.engines[1].tx1_ready.next = self.merge_tx1.in1_ready.val();
        self.tx1_valid.next = self.merge_tx1.out_valid.val();
        self.tx1.next = self.merge_tx1.out_data.val();
        self.merge_tx1.out_ready.next = self.tx1_ready.val();
        self.merge_locate.in0_valid.next = self.engines[0].locate_valid.val();
        let even_locate = self.engines[0].locate.val();
        self.merge_locate.in0_data.next = LocateRequest {
            qp: even(even_locate.qp),
            ..even_locate
        };
        self.engines[0].locate_ready.next = self.merge_locate.in0_ready.val();
        self.merge_locate.in1_valid.next = self.engines[1].locate_valid.val();
        let odd_locate = self.engines[1].locate.val();
        self.merge_locate.in1_data.next = LocateRequest {
            qp: odd(odd_locate.qp),
            ..odd_locate
        };
        self.engines[1].locate_ready.next = self.merge_locate.in1_ready.val();
        self.locate_valid.next = self.merge_locate.out_valid.val();
        self.locate.next = self.merge_locate.out_data.val();
        self.merge_locate.out_ready.next = self.locate_ready.val();
        self.merge_fetch.in0_valid.next = self.engines[0].fetch_valid.val();
        let even_fetch = self.engines[0].fetch.val();
        self.merge_fetch.in0_data.next = WqeFetch {
            qp: even(even_fetch.qp),
            ..even_fetch
        };
        self.engines[0].fetch_ready.next = self.merge_fetch.in0_ready.val();
        self.merge_fetch.in1_valid.next = self.engines[1].fetch_valid.val();
        let odd_fetch = self.engines[1].fetch.val();
        self.merge_fetch.in1_data.next = WqeFetch {
            qp: odd(odd_fetch.qp),
            ..odd_fetch
        };
        self.engines[1].fetch_ready.next = self.merge_fetch.in1_ready.val();
        self.fetch_valid.next = self.merge_fetch.out_valid.val();
        self.fetch.next = self.merge_fetch.out_data.val();
        self.merge_fetch.out_ready.next = self.fetch_ready.val();
        self.merge_cqe.in0_valid.next = self.engines[0].cqe_valid.val();
        let even_cqe = self.engines[0].cqe.val();
        self.merge_cqe.in0_data.next = Completion {
            qp: even(even_cqe.qp),
            ..even_cqe
        };
        self.engines[0].cqe_ready.next = self.merge_cqe.in0_ready.val();
        self.merge_cqe.in1_valid.next = self.engines[1].cqe_valid.val();
        let odd_cqe = self.engines[1].cqe.val();
        self.merge_cqe.in1_data.next = Completion {
            qp: odd(odd_cqe.qp),
            ..odd_cqe
        };
        self.engines[1].cqe_ready.next = self.merge_cqe.in1_ready.val();
        self.cqe_valid.next = self.merge_cqe.out_valid.val();
        self.cqe.next = self.merge_cqe.out_data.val();
        self.merge_cqe.out_ready.next = self.cqe_ready.val();
        self.merge_failure.in0_valid.next = self.engines[0].failure_valid.val();
        let even_failure = self.engines[0].failure.val();
        self.merge_failure.in0_data.next = Failure {
            qp: even(even_failure.qp),
            ..even_failure
        };
        self.engines[0].failure_ready.next = self.merge_failure.in0_ready.val();
        self.merge_failure.in1_valid.next = self.engines[1].failure_valid.val();
        let odd_failure = self.engines[1].failure.val();
        self.merge_failure.in1_data.next = Failure {
            qp: odd(odd_failure.qp),
            ..odd_failure
        };
        self.engines[1].failure_ready.next = self.merge_failure.in1_ready.val();
        self.failure_valid.next = self.merge_failure.out_valid.val();
        self.failure.next = self.merge_failure.out_data.val();
        self.merge_failure.out_ready.next = self.failure_ready.val();

        // Good paths: an engine tells one in several clocks, so that one of the odd engine waits for at most one of the even one.
        let odd_path = if self.late_valid.q.val() {
            self.late.q.val()
        } else {
            GoodPath {
                qp: odd(self.engines[1].good_qp.val()),
                plane: self.engines[1].good_plane.val(),
                entropy: self.engines[1].good_entropy.val(),
            }
        };
        let has_even = self.engines[0].good_valid.val();
        let has_odd = self.late_valid.q.val() | self.engines[1].good_valid.val();
        self.late_valid.d.next = has_odd & has_even;
        self.late.d.next = odd_path;
        self.good_valid.next = has_even | has_odd;
        if has_even {
            self.good_qp.next = even(self.engines[0].good_qp.val());
            self.good_plane.next = self.engines[0].good_plane.val();
            self.good_entropy.next = self.engines[0].good_entropy.val();
        } else {
            self.good_qp.next = odd_path.qp;
            self.good_plane.next = odd_path.plane;
            self.good_entropy.next = odd_path.entropy;
        }

        // counted
        self.event0_qp.next = even(self.engines[0].event_qp.val());
        let counted0 = self.engines[0].counted.val();
        self.counted0.next = counted0;
        self.counted0.next.sent_qp = even(counted0.sent_qp);
        self.event1_qp.next = odd(self.engines[1].event_qp.val());
        let counted1 = self.engines[1].counted.val();
        self.counted1.next = counted1;
        self.counted1.next.sent_qp = if counted1.packet {
            odd(counted1.sent_qp)
        } else {
            bits::<10>(0)
        };
        let sampled = self.engines[0].sampled.val();
        self.sampled0.next = sampled;
        self.sampled0.next.qp = even(sampled.qp);
        let sampled = self.engines[1].sampled.val();
        self.sampled1.next = sampled;
        self.sampled1.next.qp = odd(sampled.qp);
        self.refused.next = (bit_cast::<2, 1>(self.engines[1].refused.val().into()) << 1)
            | bit_cast::<2, 1>(self.engines[0].refused.val().into());

        if self.reset.val() {
            self.late_valid.d.next = false;
        }
    }
}
