//! Two requester engines as one: one for queue pairs of even numbers, one for those of odd numbers.

use hdl_macros::{clock_reset, hdl, hdl_fn, join};
use hdl_primitives::{DoorbellSnk, FlowSnk, QpSnk, ReadFaultSnk, ReverseEvSrc, Snk, Src, SyncFifo};
use hdl_requester::bundles::{ConfigureSnk, EngineSettingsSnk, EpochUseSrc, ShareSnk};
use hdl_requester::{Failure, RequesterEngine, StatPulses, TenantLimits};
use hdl_spray_engine::profile::{ExplicitSnk, ProfileSnk};
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::CongestionSample;
use stellar_wire::hw::messages::{Completion, WqeFetch, WqeFetched};
use stellar_wire::hw::requester::{ControlPacket, TranslateRequest, TranslateResponse, TxRequest};
use stellar_wire::hw::window::Departure;
use stellar_wire::hw::{Qpn, QPN_BITS};
use stellar_wire::rows::TENANT_BITS;

use crate::stream_merge::StreamMerge;

/// An engine of 2^`E` queue pairs with 8,192 entries and messages, 16,384 packets in flight, and 4,096 tenants. The other parameters are those of [`RequesterPair`].
type Engine<
    const Q: usize,
    const D: usize,
    const E: usize,
    const K: usize,
    const G: usize,
    const T: usize,
> = RequesterEngine<E, Q, K, 9, 12, 10, 13, TENANT_BITS, Q, D, G, T>;

/// Returns the number of a queue pair in its engine: the card's number without bit 0.
#[hdl_fn]
fn to_local_qp(qp: Qpn) -> Qpn {
    qp >> 1
}

/// Returns the card's number of queue pair `qp` of an engine.
#[hdl_fn]
fn to_global_qp(qp: Qpn, engine: usize) -> Qpn {
    (qp << 1) | bits::<QPN_BITS>(engine as u64)
}

/// Selects the engine, one-hot: bit e is set for engine e.
#[hdl_fn]
pub(crate) fn to_engine(odd: Bit) -> Bits<2> {
    if odd {
        bits::<2>(2)
    } else {
        bits::<2>(1)
    }
}

/// Returns the signal of the engine of even or of odd numbers.
#[hdl_fn]
pub(crate) fn of_engine(odd: Bit, engine0: Bit, engine1: Bit) -> Bit {
    if odd {
        engine1
    } else {
        engine0
    }
}

/// Two requester engines with 2^`Q` queue pairs together. Bit 0 of the number of a queue pair selects its engine. The engines share the ports to their neighbours and
/// the limits of tenants, which count what a tenant sends by both.
///
/// The ports are those of [`RequesterEngine`]. Requests, packets and completions of both engines take turns. Both may count events in the same cycle, so each
/// has its own statistics ports.
///
/// `D` = `Q` + 1. An engine has 2^`E` = `K` queue pairs, `E` = `Q` - 1, and `T` = 2^`G` groups of up to 32 timers.
#[derive(LogicBlock, Default)]
pub struct RequesterPair<
    const Q: usize,
    const D: usize,
    const E: usize,
    const K: usize,
    const G: usize,
    const T: usize,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Ticks of 8 ns.
    pub now: Signal<In, Bits<32>>,
    /// Bit p: port p is up.
    pub plane_up: Signal<In, Bits<2>>,

    // Configuration: see `RequesterCore`.
    pub configure: ConfigureSnk,
    pub settings: EngineSettingsSnk,
    pub profile: ProfileSnk,
    pub values: ExplicitSnk,
    /// Shares of tenants.
    pub share: ShareSnk,

    // Control packets, doorbells, payload faults, and flushes. Each is accepted when valid and ready are high.
    /// SACK, NACK or RC acknowledgement.
    pub control: Snk<ControlPacket>,
    pub doorbell: DoorbellSnk,
    /// Read faults of both ports. Those of port 0 have priority.
    pub fault: [ReadFaultSnk; 2],
    pub flush: QpSnk,
    /// A fault or a flush waits.
    pub failures_wait: Signal<Out, Bit>,

    // Packets of port 0 and of port 1.
    pub tx: [Src<TxRequest>; 2],
    /// Packets that depart now by port 0 and by port 1. Always accepted.
    pub departs: [FlowSnk<Departure>; 2],

    // Pulses to the responder: a SACK confirmed that this entropy value is good on this plane.
    pub reverse_ev: ReverseEvSrc,
    // Queue pairs that moved to the error state.
    pub failure: Src<Failure>,
    // Statistics pulses of the engines of even and of odd numbers.
    pub event0_qp: Signal<Out, Qpn>,
    pub stats0: Signal<Out, StatPulses>,
    pub event1_qp: Signal<Out, Qpn>,
    pub stats1: Signal<Out, StatPulses>,
    /// Effects of SACKs on congestion windows, by engine.
    pub sampled: [Signal<Out, CongestionSample>; 2],
    /// Bit e: engine e refused a producer index.
    pub refused: Signal<Out, Bits<2>>,

    // Local translation, WQE reads by engine, completions: see `RequesterCore`.
    pub xlate_req: Src<TranslateRequest>,
    pub xlate_rsp: FlowSnk<TranslateResponse>,
    pub fetch: [Src<WqeFetch>; 2],
    pub fetched: [Snk<WqeFetched>; 2],
    pub cqe: Src<Completion>,
    /// What a fence waits for, by engine.
    pub uses: [EpochUseSrc; 2],

    engines: [Engine<Q, D, E, K, G, T>; 2],
    limits: TenantLimits<TENANT_BITS>,
    /// Entries that each engine has still to store, so that its other operations hold up neither the reader nor the other engine.
    entries: [SyncFifo<WqeFetched, 4, 5>; 2],
    /// Completions of each engine: those of a burst come in consecutive cycles, faster than they are written.
    completions: [SyncFifo<Completion, 6, 7>; 2],
    merge_tx: [StreamMerge<TxRequest>; 2],
    merge_xlate_req: StreamMerge<TranslateRequest>,
    merge_cqe: StreamMerge<Completion>,
    merge_failure: StreamMerge<Failure>,
    /// Ports that are up: much depends on it in a cycle.
    planes: DFF<Bits<2>>,
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

impl<
        const Q: usize,
        const D: usize,
        const E: usize,
        const K: usize,
        const G: usize,
        const T: usize,
    > Logic for RequesterPair<Q, D, E, K, G, T>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, planes, late_valid, late);
        self.planes.d.next = self.plane_up.val();
        clock_reset!(
            self,
            engines[..],
            limits,
            entries[..],
            completions[..],
            merge_tx[..],
            merge_xlate_req,
            merge_cqe,
            merge_failure
        );

        // distribute
        let control = self.control.record.val();
        let xlate_rsp = self.xlate_rsp.record.val();
        let configure_odd = self.configure.qp.val().get_bit(0);
        let control_odd = control.qp.get_bit(0);
        let doorbell_odd = self.doorbell.qp.val().get_bit(0);
        let fault0 = self.fault[0].valid.val();
        let fault_qp = if fault0 {
            self.fault[0].qp.val()
        } else {
            self.fault[1].qp.val()
        };
        let fault_odd = fault_qp.get_bit(0);
        let flush_odd = self.flush.qp.val().get_bit(0);
        for i in 0..2 {
            join!(
                self,
                now => engines[i].now,
                planes.q => engines[i].plane_up,
                configure.record => engines[i].configure.record,
                settings => engines[i].settings,
                profile => engines[i].profile,
                values => engines[i].values,
                share.tenant => engines[i].share.tenant,
                share.record => engines[i].share.record,
                engines[i].charge[0] => limits.charge[2 * i],
                engines[i].charge[1] => limits.charge[2 * i + 1],
                engines[i].uses => uses[i],
                doorbell.producer => engines[i].doorbell.producer,
                doorbell.pushed => engines[i].doorbell.pushed,
                doorbell.entry => engines[i].doorbell.entry,
                departs[0].record => engines[i].departs[0].record,
                departs[1].record => engines[i].departs[1].record,
            );
            for p in 0..2 {
                let odd = self.departs[p].record.val().odd;
                self.engines[i].departs[p].valid.next =
                    self.departs[p].valid.val() & to_engine(odd).get_bit(i);
            }
            self.engines[i].configure.valid.next =
                self.configure.valid.val() & to_engine(configure_odd).get_bit(i);
            self.engines[i].configure.qp.next = to_local_qp(self.configure.qp.val());
            self.engines[i].control.valid.next =
                self.control.valid.val() & to_engine(control_odd).get_bit(i);
            self.engines[i].control.record.next = ControlPacket {
                qp: to_local_qp(control.qp),
                ..control
            };
            self.engines[i].doorbell.valid.next =
                self.doorbell.valid.val() & to_engine(doorbell_odd).get_bit(i);
            self.engines[i].doorbell.qp.next = to_local_qp(self.doorbell.qp.val());
            self.engines[i].fault.valid.next =
                (fault0 | self.fault[1].valid.val()) & to_engine(fault_odd).get_bit(i);
            self.engines[i].fault.qp.next = to_local_qp(fault_qp);
            self.engines[i].fault.slot.next = if fault0 {
                self.fault[0].slot.val()
            } else {
                self.fault[1].slot.val()
            };
            self.engines[i].flush.valid.next =
                self.flush.valid.val() & to_engine(flush_odd).get_bit(i);
            self.engines[i].flush.qp.next = to_local_qp(self.flush.qp.val());
            let fetched = self.fetched[i].record.val();
            self.entries[i].in_.data.next = WqeFetched {
                qp: to_local_qp(fetched.qp),
                ..fetched
            };
            join!(
                self,
                fetched[i].valid => entries[i].in_.valid,
                entries[i].in_.ready => fetched[i].ready,
                entries[i].out.valid => engines[i].fetched.valid,
                entries[i].out.data => engines[i].fetched.record,
                engines[i].fetched.ready => entries[i].out.ready,
            );
            self.engines[i].xlate_rsp.valid.next =
                self.xlate_rsp.valid.val() & to_engine(xlate_rsp.qp.get_bit(0)).get_bit(i);
            self.engines[i].xlate_rsp.record.next = TranslateResponse {
                qp: to_local_qp(xlate_rsp.qp),
                ..xlate_rsp
            };
        }
        self.configure.ready.next = of_engine(
            configure_odd,
            self.engines[0].configure.ready.val(),
            self.engines[1].configure.ready.val(),
        );
        self.control.ready.next = of_engine(
            control_odd,
            self.engines[0].control.ready.val(),
            self.engines[1].control.ready.val(),
        );
        self.doorbell.ready.next = of_engine(
            doorbell_odd,
            self.engines[0].doorbell.ready.val(),
            self.engines[1].doorbell.ready.val(),
        );
        let fault_ready = of_engine(
            fault_odd,
            self.engines[0].fault.ready.val(),
            self.engines[1].fault.ready.val(),
        );
        self.failures_wait.next =
            self.engines[0].failures_wait.val() | self.engines[1].failures_wait.val();
        self.fault[0].ready.next = fault_ready;
        self.fault[1].ready.next = fault_ready & !fault0;
        self.flush.ready.next = of_engine(
            flush_odd,
            self.engines[0].flush.ready.val(),
            self.engines[1].flush.ready.val(),
        );

        // shares: engines and limits take one in the same cycle
        let share_ready = self.engines[0].share.ready.val()
            & self.engines[1].share.ready.val()
            & self.limits.share.ready.val();
        for i in 0..2 {
            self.engines[i].share.valid.next = self.share.valid.val() & share_ready;
        }
        self.limits.share.valid.next = self.share.valid.val() & share_ready;
        self.share.ready.next = share_ready;
        join!(
            self,
            now => limits.now,
            share.tenant => limits.share.tenant,
            share.record => limits.share.record,
        );

        // merge
        for i in 0..2 {
            let tx0 = self.engines[i].tx[0].record.val();
            self.merge_tx[0].in_[i].data.next = TxRequest {
                qp: to_global_qp(tx0.qp, i),
                ..tx0
            };
            let tx1 = self.engines[i].tx[1].record.val();
            self.merge_tx[1].in_[i].data.next = TxRequest {
                qp: to_global_qp(tx1.qp, i),
                ..tx1
            };
            let xlate_req = self.engines[i].xlate_req.record.val();
            self.merge_xlate_req.in_[i].data.next = TranslateRequest {
                qp: to_global_qp(xlate_req.qp, i),
                ..xlate_req
            };
            let fetch = self.engines[i].fetch.record.val();
            self.fetch[i].record.next = WqeFetch {
                qp: to_global_qp(fetch.qp, i),
                ..fetch
            };
            let cqe = self.engines[i].cqe.record.val();
            self.completions[i].in_.data.next = Completion {
                qp: to_global_qp(cqe.qp, i),
                ..cqe
            };
            let failure = self.engines[i].failure.record.val();
            self.merge_failure.in_[i].data.next = Failure {
                qp: to_global_qp(failure.qp, i),
                ..failure
            };
            join!(
                self,
                engines[i].tx[0].valid => merge_tx[0].in_[i].valid,
                merge_tx[0].in_[i].ready => engines[i].tx[0].ready,
                engines[i].tx[1].valid => merge_tx[1].in_[i].valid,
                merge_tx[1].in_[i].ready => engines[i].tx[1].ready,
                engines[i].xlate_req.valid => merge_xlate_req.in_[i].valid,
                merge_xlate_req.in_[i].ready => engines[i].xlate_req.ready,
                engines[i].fetch.valid => fetch[i].valid,
                fetch[i].ready => engines[i].fetch.ready,
                engines[i].cqe.valid => completions[i].in_.valid,
                completions[i].in_.ready => engines[i].cqe.ready,
                completions[i].out => merge_cqe.in_[i],
                engines[i].failure.valid => merge_failure.in_[i].valid,
                merge_failure.in_[i].ready => engines[i].failure.ready,
            );
        }
        join!(
            self,
            merge_tx[0].out => tx[0],
            merge_tx[1].out => tx[1],
            merge_xlate_req.out => xlate_req,
            merge_cqe.out => cqe,
            merge_failure.out => failure,
        );

        // Known-good entropy values. An engine reports one in several cycles, so a value of the odd engine waits for at most one of the even engine.
        let odd_ev = if self.late_valid.q.val() {
            self.late.q.val()
        } else {
            ReverseEv {
                qp: to_global_qp(self.engines[1].reverse_ev.qp.val(), 1),
                plane: self.engines[1].reverse_ev.plane.val(),
                entropy: self.engines[1].reverse_ev.entropy.val(),
            }
        };
        let has_even = self.engines[0].reverse_ev.valid.val();
        let has_odd = self.late_valid.q.val() | self.engines[1].reverse_ev.valid.val();
        self.late_valid.d.next = has_odd & has_even;
        self.late.d.next = odd_ev;
        self.reverse_ev.valid.next = has_even | has_odd;
        if has_even {
            self.reverse_ev.qp.next = to_global_qp(self.engines[0].reverse_ev.qp.val(), 0);
            self.reverse_ev.plane.next = self.engines[0].reverse_ev.plane.val();
            self.reverse_ev.entropy.next = self.engines[0].reverse_ev.entropy.val();
        } else {
            self.reverse_ev.qp.next = odd_ev.qp;
            self.reverse_ev.plane.next = odd_ev.plane;
            self.reverse_ev.entropy.next = odd_ev.entropy;
        }

        // statistics
        self.event0_qp.next = to_global_qp(self.engines[0].event_qp.val(), 0);
        let stats0 = self.engines[0].stats.val();
        self.stats0.next = stats0;
        self.stats0.next.sent_qp = to_global_qp(stats0.sent_qp, 0);
        self.stats0.next.marked_qp = to_global_qp(stats0.marked_qp, 0);
        self.event1_qp.next = to_global_qp(self.engines[1].event_qp.val(), 1);
        let stats1 = self.engines[1].stats.val();
        self.stats1.next = stats1;
        self.stats1.next.sent_qp = if stats1.packet {
            to_global_qp(stats1.sent_qp, 1)
        } else {
            bits::<QPN_BITS>(0)
        };
        self.stats1.next.marked_qp = if stats1.marked_path {
            to_global_qp(stats1.marked_qp, 1)
        } else {
            bits::<QPN_BITS>(0)
        };
        for i in 0..2 {
            let sampled = self.engines[i].sampled.val();
            self.sampled[i].next = sampled;
            self.sampled[i].next.qp = to_global_qp(sampled.qp, i);
        }
        self.refused.next = (bit_cast::<2, 1>(self.engines[1].refused.val().into()) << 1)
            | bit_cast::<2, 1>(self.engines[0].refused.val().into());

        if self.reset.val() {
            self.late_valid.d.next = false;
        }
    }
}
