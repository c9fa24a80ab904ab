//! The card: one or two lanes around one transport core.

use hdl_host_if::{AdminQueue, HostQueues};
use hdl_macros::{clock_reset, hdl, join};
use hdl_pcie::bundles::{AxisSnk, AxisSrc};
use hdl_pcie::share::WriteArbiter;
use hdl_primitives::{MacRxSnk, MacTxSrc, VerdictSrc};
use hdl_requester::StatPulses;
use hdl_responder::{PendingScan, Responder};
use rust_hdl::prelude::*;
use stellar_wire::config::{
    counted_bits, receive_window, ring_bits, RECEIVE_RING, RECEIVE_RING_BITS,
};
use stellar_wire::hw::ats::CqMessage;
use stellar_wire::hw::congestion::CongestionSample;
use stellar_wire::hw::read::FailedRead;
use stellar_wire::hw::{FromBits, Qpn};

use crate::bars::Bars;
use crate::card_counters::CardCounters;
use crate::config_register::ConfigRegister;
use crate::count_steps::CountSteps;
use crate::failure_fork::FailureFork;
use crate::fetch_share::FetchShare;
use crate::nic_config::NicConfig;
use crate::optional::Optional;
use crate::pcie_endpoint::PcieEndpoint;
use crate::qp_counters::QpCounters;
use crate::read_faults::ReadFaults;
use crate::rx_lanes::RxLanes;
use crate::table_bits::{
    emtt_bits, stash_bits, EMTT_BANK_BITS, EMTT_BITS, MR_BITS, PATH_SET_BITS, QP_BITS, STASHES,
    STASH_BITS,
};
use crate::transmit_side::TransmitSide;

/// Cycles for which reset has to be asserted: pipelines without a reset of their own run empty meanwhile.
pub const RESET_HOLD: usize = 128;
/// Cycles from the end of a reset until a card of 1,024 queue pairs has cleared its memories.
pub const RESET_CLOCKS: usize = reset_clocks(QP_BITS);

/// Cycles from the end of a reset until a card of 2^`queue_pair_bits` queue pairs has cleared its memories: one row of every queue pair per cycle, and a few
/// cycles to begin.
pub const fn reset_clocks(queue_pair_bits: usize) -> usize {
    (1 << queue_pair_bits) + 16
}

/// The card of a board with one 100G port: one lane of 512 bits, and one PCIe endpoint.
pub type Nic512 = Nic<1, 512, 6, 64, 16, 2, 768, 1024, 4, 137, 161, 183, 96, 81, 7, 10, 10, 8>;

/// log2 of the words of the ring of a window of a card with 2^`queue_pair_bits` queue pairs.
const fn ring_bits_of(queue_pair_bits: usize) -> usize {
    ring_bits(receive_window(queue_pair_bits))
}

/// The full card with 2^`$q` queue pairs. Each requester engine has half of them, whose timers are in 2^`$groups` groups.
macro_rules! full_card {
    ($q:literal, $groups:literal) => {
        Nic<
            2,
            1024,
            7,
            128,
            32,
            4,
            1280,
            2048,
            8,
            373,
            337,
            465,
            196,
            165,
            8,
            11,
            10,
            7,
            $q,
            { $q + 1 },
            { $q - 1 },
            { 1 << ($q - 1) },
            $groups,
            { 1 << $groups },
            { ring_bits_of($q) - 1 },
            { ring_bits_of($q) },
            { 1 << ring_bits_of($q) },
            { $q + ring_bits_of($q) },
            { $q - 1 - PATH_SET_BITS },
            { counted_bits($q) },
            { counted_bits($q) - 1 },
            { emtt_bits($q) },
            { emtt_bits($q) - 2 },
            { stash_bits($q) },
        >
    };
}

/// The full card with 16,384 queue pairs. Its windows have 1,024 packets when it receives.
pub type Nic16k = full_card!(14, 8);
/// The full card with 65,536 queue pairs, of which 4,096 have counters, and 262,144 translations. Its windows have 256 packets when it receives.
pub type Nic64k = full_card!(16, 10);

/// The NIC with `P` lanes, one or two. Lane p is port p and PCIe endpoint p. Endpoint 0 writes the host's rings. It reads the send queues of even queue pairs, and endpoint 1 those of odd ones
/// and the admin queue; with one endpoint, that reads all.
///
/// The parameters follow from the width of a beat; those of the full card are the defaults, and [`Nic512`] names those of the card with one lane. A beat has `W`
/// bits, `N` = W / 8 = 2^`B` bytes, `K` = W / 32 double words. `L`, `C`, `D` and `H` are those of [`PcieEndpoint`]. `RQ`, `RC`, `CQ` and `CC` are the bits of `tuser` of
/// AMD's four streams, and `CD` is the place of `discontinue` in that of CQ. `S`, `G`, `A` and `EA` are those of [`HostReader`](crate::HostReader).
///
/// There are 2^`Q` queue pairs. `Q1` = `Q` + 1, `E` = `Q` - 1, `E1` = 2^`E`, `TG` and `T` follow from it by the rules of [`RequesterPair`](crate::RequesterPair), `RW`, `RB`, `RN` and `R` by those of [`RxLanes`], `PT` by that of
/// [`QpCounters`]. [`Shape`](crate::Shape) has the numbers of queue pairs that there are, and [`Nic64k`] is the card with most.
/// `QC` and `EC` are what [`QpCounters`] calls `C` and `D`. 2^`EM` translations lie in four banks of 2^`EB`, and 2^`SB` immediates in the stash.
#[derive(LogicBlock)]
pub struct Nic<
    const P: usize = 2,
    const W: usize = 1024,
    const B: usize = 7,
    const N: usize = 128,
    const K: usize = 32,
    const L: usize = 4,
    const C: usize = 1280,
    const D: usize = 2048,
    const H: usize = 8,
    const RQ: usize = 373,
    const RC: usize = 337,
    const CQ: usize = 465,
    const CD: usize = 196,
    const CC: usize = 165,
    const S: usize = 8,
    const G: usize = 11,
    const A: usize = 10,
    const EA: usize = 7,
    const Q: usize = QP_BITS,
    const Q1: usize = { QP_BITS + 1 },
    const E: usize = { QP_BITS - 1 },
    const E1: usize = { 1 << (QP_BITS - 1) },
    const TG: usize = 5,
    const T: usize = 32,
    const RW: usize = { RECEIVE_RING_BITS - 1 },
    const RB: usize = RECEIVE_RING_BITS,
    const RN: usize = RECEIVE_RING,
    const R: usize = { QP_BITS + RECEIVE_RING_BITS },
    const PT: usize = 1,
    const QC: usize = QP_BITS,
    const EC: usize = { QP_BITS - 1 },
    const EM: usize = EMTT_BITS,
    const EB: usize = EMTT_BANK_BITS,
    const SB: usize = STASH_BITS,
> {
    pub clock: Signal<In, Clock>,
    /// Function-level reset: clears control state. Software has to write the tables again.
    pub reset: Signal<In, Bit>,
    /// Bit p: the link of port p is up.
    pub port_up: Signal<In, Bits<P>>,

    // Endpoint 0, which has the BARs: requests of the host and their completions, as AMD's PCIe block has them (1,024 bits: PG346; 512 bits: PG213).
    pub cq: AxisSnk<W, K, CQ>,
    pub cc: AxisSrc<W, K, CC>,
    /// Endpoint 1, if there is one, has no BARs: only messages come.
    pub cq1: Optional<AxisSnk<W, K, CQ>>,
    /// The function may send messages: MSI-X Enable and Bus Master Enable are set in its configuration space. And the function mask of MSI-X.
    pub msix_enable: Signal<In, Bit>,
    pub msix_mask: Signal<In, Bit>,
    /// Bit e: the PCIe link of endpoint e is down (AMD's `cfg_phy_link_down`).
    pub pcie_link_down: Signal<In, Bits<P>>,

    // Frames of the ports, from their MACs and to them.
    pub rx: [MacRxSnk<W>; P],
    /// Received frames that were dropped or cut between the MAC and the card, modulo 2^32 ([shims](../../../docs/shims.md)).
    pub rx_dropped: [Signal<In, Bits<32>>; P],
    pub tx: [MacTxSrc<W>; P],
    // Requests of the card at the PCIe endpoints, and their completions, with straddle.
    pub rq: [AxisSrc<W, K, RQ>; P],
    pub rc: [AxisSnk<W, K, RC>; P],
    // For simulation only: see `VERIFICATION_PORTS`.
    /// Statistics pulses of the requester of even queue pairs (0) and of odd ones (1), and the queue pair that they and `doorbell_out_of_range` are about.
    pub counted0_qp: Signal<Out, Qpn>,
    pub counted0: Signal<Out, StatPulses>,
    pub counted1_qp: Signal<Out, Qpn>,
    pub counted1: Signal<Out, StatPulses>,
    /// Congestion window, bytes in flight and round trip after each SACK, of even queue pairs (0) and of odd ones (1).
    pub sampled: [Signal<Out, CongestionSample>; 2],
    /// Bit e: the requester e refused a producer index.
    pub doorbell_out_of_range: Signal<Out, Bits<2>>,
    pub verdict: VerdictSrc,
    /// A transmit lane received a payload of another length than it requested. A correct card never raises it.
    pub payload_mismatch: Signal<Out, Bit>,

    bars: Bars<Q, MR_BITS, EM, P, W, K, CQ, CD, CC>,
    admin: AdminQueue<Q, MR_BITS, EM, P>,
    /// The reader of queue entries of the last endpoint serves the requester and the admin queue.
    share: FetchShare,
    config_register: ConfigRegister,
    nic_config: NicConfig<P, Q>,
    receive: RxLanes<P, W, B, N, Q, RW, RB, RN, R, EB>,
    responder: Responder<Q, STASHES, SB, R>,
    pending_scan: PendingScan<Q>,
    transmit: TransmitSide<P, W, N, B, Q, Q1, E, E1, TG, T, EB>,
    queues: HostQueues<Q, W, Q, Q1>,
    failures: FailureFork,
    counters: CardCounters,
    faults: ReadFaults,
    qp_counters: QpCounters<Q, E, PT, QC, EC>,
    endpoints: [PcieEndpoint<W, B, N, K, L, C, D, H, RQ, RC, S, G, A, EA>; P],
    overruns: [CountSteps; P],
    /// Merges the writes of endpoint 0: those of the receive lane and of the host's queues.
    writer: WriteArbiter<W, 2, 1>,
}

impl<
        const P: usize,
        const W: usize,
        const B: usize,
        const N: usize,
        const K: usize,
        const L: usize,
        const C: usize,
        const D: usize,
        const H: usize,
        const RQ: usize,
        const RC: usize,
        const CQ: usize,
        const CD: usize,
        const CC: usize,
        const S: usize,
        const G: usize,
        const A: usize,
        const EA: usize,
        const Q: usize,
        const Q1: usize,
        const E: usize,
        const E1: usize,
        const TG: usize,
        const T: usize,
        const RW: usize,
        const RB: usize,
        const RN: usize,
        const R: usize,
        const PT: usize,
        const QC: usize,
        const EC: usize,
        const EM: usize,
        const EB: usize,
        const SB: usize,
    > Default
    for Nic<
        P,
        W,
        B,
        N,
        K,
        L,
        C,
        D,
        H,
        RQ,
        RC,
        CQ,
        CD,
        CC,
        S,
        G,
        A,
        EA,
        Q,
        Q1,
        E,
        E1,
        TG,
        T,
        RW,
        RB,
        RN,
        R,
        PT,
        QC,
        EC,
        EM,
        EB,
        SB,
    >
{
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            port_up: Default::default(),
            cq: Default::default(),
            cc: Default::default(),
            cq1: Optional::new(P == 2),
            msix_enable: Default::default(),
            msix_mask: Default::default(),
            pcie_link_down: Default::default(),
            rx: std::array::from_fn(|_| Default::default()),
            rx_dropped: std::array::from_fn(|_| Default::default()),
            tx: std::array::from_fn(|_| Default::default()),
            rq: std::array::from_fn(|_| Default::default()),
            rc: std::array::from_fn(|_| Default::default()),
            counted0_qp: Default::default(),
            counted0: Default::default(),
            counted1_qp: Default::default(),
            counted1: Default::default(),
            sampled: Default::default(),
            doorbell_out_of_range: Default::default(),
            verdict: Default::default(),
            payload_mismatch: Default::default(),
            bars: Default::default(),
            admin: Default::default(),
            share: Default::default(),
            config_register: Default::default(),
            nic_config: Default::default(),
            receive: Default::default(),
            responder: Default::default(),
            pending_scan: Default::default(),
            transmit: Default::default(),
            queues: Default::default(),
            failures: Default::default(),
            counters: Default::default(),
            faults: Default::default(),
            qp_counters: Default::default(),
            endpoints: std::array::from_fn(|_| Default::default()),
            overruns: std::array::from_fn(|_| Default::default()),
            writer: Default::default(),
        }
    }
}

impl<
        const P: usize,
        const W: usize,
        const B: usize,
        const N: usize,
        const K: usize,
        const L: usize,
        const C: usize,
        const D: usize,
        const H: usize,
        const RQ: usize,
        const RC: usize,
        const CQ: usize,
        const CD: usize,
        const CC: usize,
        const S: usize,
        const G: usize,
        const A: usize,
        const EA: usize,
        const Q: usize,
        const Q1: usize,
        const E: usize,
        const E1: usize,
        const TG: usize,
        const T: usize,
        const RW: usize,
        const RB: usize,
        const RN: usize,
        const R: usize,
        const PT: usize,
        const QC: usize,
        const EC: usize,
        const EM: usize,
        const EB: usize,
        const SB: usize,
    > Logic
    for Nic<
        P,
        W,
        B,
        N,
        K,
        L,
        C,
        D,
        H,
        RQ,
        RC,
        CQ,
        CD,
        CC,
        S,
        G,
        A,
        EA,
        Q,
        Q1,
        E,
        E1,
        TG,
        T,
        RW,
        RB,
        RN,
        R,
        PT,
        QC,
        EC,
        EM,
        EB,
        SB,
    >
{
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, bars, admin, config_register, nic_config);
        clock_reset!(self, receive, responder, pending_scan, transmit);
        clock_reset!(self, queues, failures, faults, counters, qp_counters);
        clock_reset!(self, endpoints[..], overruns[..], share, writer);

        // A port that is not there is down.
        let port_up = bit_cast::<2, P>(self.port_up.val());
        self.bars.port_up.next = port_up;
        self.responder.plane_up.next = port_up;
        self.transmit.port_up.next = port_up;

        // BARs
        join!(
            self,
            cq => bars.cq,
            bars.cc => cc,
            bars.vector_access => queues.vector_access,
            queues.vector_word => bars.vector_word,
            msix_enable => queues.msix_enable,
            msix_mask => queues.msix_mask,
            queues.message_permits => endpoints[0].message_permits,
            endpoints[0].message_returned => queues.message_returned,
            endpoints[0].messages => bars.messages,
            endpoints[0].messages_left => bars.messages_left,
            queues.interrupt_pending => bars.interrupt_pending,
            bars.core_counter_select => receive.counter_select,
            receive.counter_value => bars.core_counter,
            bars.udp_port => receive.udp_port,
            bars.mps_code => receive.mps_code,
            bars.arm => responder.arm,
            bars.fence => transmit.fence,
            transmit.fence_done => bars.fence_done,
            bars.event_consumer => queues.event_consumer,
            bars.consumer => queues.consumer,
            bars.doorbell_refused => queues.doorbell_refused,
            bars.doorbell => transmit.doorbell,
        );

        // tables
        join!(
            self,
            bars.admin => admin.admin,
            bars.settings => admin.direct,
            admin.settings => config_register.in_,
            admin.posted => config_register.posted,
            config_register.pending => admin.pending,
            config_register.out => nic_config.write,
            nic_config.table => receive.table,
            nic_config.table_taken => transmit.table_valid,
            nic_config.table.write => transmit.table_write,
            nic_config.configure => transmit.configure,
            nic_config.settings => transmit.settings,
            nic_config.profile => transmit.profile,
            nic_config.values => transmit.values,
            nic_config.share => transmit.share,
            nic_config.owner => bars.owner,
            nic_config.address => transmit.address,
            nic_config.address => receive.address,
            nic_config.peer => transmit.peer,
            nic_config.port => transmit.port_config,
            nic_config.peer => receive.peer,
            nic_config.responder => responder.settings,
            nic_config.completion_queue => queues.completion_config,
            nic_config.event_queue => queues.event_config,
        );

        // receive
        join!(
            self,
            nic_config.own => receive.own,
            rx => receive.mac,
            transmit.receive_fence => receive.fence,
            receive.fence_done => transmit.receive_fence_done,
            receive.outcome => responder.outcome,
            receive.control => transmit.control,
            receive.control_begun => transmit.control_begun,
            transmit.epoch => receive.epoch,
            receive.verdict => verdict,
            receive.fault => queues.page_fault,
        );

        // responder
        join!(
            self,
            responder.answer => transmit.answer,
            responder.completion => queues.receive,
            responder.threshold => queues.imm_threshold,
            // A queue pair fails by its receive side, or because its completion queue was overrun.
            responder.failed => transmit.flush[0],
            queues.failed => transmit.flush[1],
            transmit.now => responder.now,
            transmit.now => pending_scan.now,
            pending_scan.visit => responder.visit,
            transmit.reverse_ev => responder.good,
        );

        // transmit
        join!(
            self,
            bars.read_timeout => transmit.stuck_timeout,
            transmit.mac => tx,
            transmit.cqe => queues.send,
            faults.message => transmit.fault,
            faults.report => queues.failed_read,
            transmit.failure => failures.failure,
            failures.to_host => queues.qp_error,
            failures.to_core => receive.error,
            transmit.payload_mismatch => payload_mismatch,
            transmit.sampled => sampled,
            transmit.event0_qp => counted0_qp,
            transmit.stats0 => counted0,
            transmit.event1_qp => counted1_qp,
            transmit.stats1 => counted1,
            transmit.refused => doorbell_out_of_range,
        );

        // counters
        join!(
            self,
            bars.counter_select => counters.select,
            counters.value => bars.card_counter,
            bars.doorbell_pulses => counters.doorbells,
            queues.pulses => counters.queues,
            responder.pulses => counters.responder,
            transmit.refused => counters.producers_refused,
            transmit.configured => qp_counters.configured,
            transmit.configured_qp => qp_counters.configured_qp,
            transmit.event0_qp => qp_counters.event_qp[0],
            transmit.stats0 => qp_counters.stats[0],
            transmit.event1_qp => qp_counters.event_qp[1],
            transmit.stats1 => qp_counters.stats[1],
            receive.qp_count => qp_counters.received,
            qp_counters.pause => receive.pause,
            responder.qp_count => qp_counters.answered,
            bars.qp_counter => qp_counters.read,
        );

        // PCIe: each endpoint reads payload for its port, and work requests: endpoint 0 of even queue pairs, endpoint 1 of odd ones. Endpoint 0 also writes the
        // host's rings, and the last endpoint reads for the admin queue.
        for p in 0..P {
            join!(
                self,
                bars.mrrs_code => endpoints[p].mrrs_code,
                bars.read_timeout => endpoints[p].read_timeout,
                transmit.read[p] => endpoints[p].read,
                transmit.unread[p] => faults.payload[p],
                endpoints[p].payload => transmit.payload[p],
                endpoints[p].payload_ended => transmit.payload_ended[p],
                endpoints[p].placement => receive.placement[p],
                endpoints[p].flush_fault => faults.flush[p],
                transmit.events[p] => endpoints[p].transmit,
                rx_dropped[p] => overruns[p].count,
                overruns[p].step => endpoints[p].receive_overrun,
                bars.counter_select => endpoints[p].counter_select,
                endpoints[p].counter_value => bars.port_counter[p],
                endpoints[p].rq => rq[p],
                rc[p] => endpoints[p].rc,
            );
        }
        for p in 0..P - 1 {
            join!(
                self,
                transmit.fetch[p] => endpoints[p].fetch,
                endpoints[p].fetched => transmit.fetched[p],
                endpoints[p].entries_ended => transmit.entries_ended[p],
                endpoints[p].fetch_fault => faults.entries[p],
            );
        }
        for p in P - 1..P {
            join!(
                self,
                transmit.fetch[p] => share.engine,
                share.fetch => endpoints[p].fetch,
                endpoints[p].fetched => share.fetched,
                share.to_engine => transmit.fetched[p],
                endpoints[p].entries_ended => share.ended,
                share.engine_ended => transmit.entries_ended[p],
                endpoints[p].fetch_fault => share.fault,
                share.engine_fault => faults.entries[p],
            );
        }
        join!(
            self,
            admin.fetch => share.admin,
            share.to_admin => admin.fetched,
        );
        if P == 2 {
            join!(self, receive.tlp[1] => endpoints[1].write);
        } else {
            // Nothing fails at an endpoint that is not there.
            self.faults.payload[1].valid.next = false;
            self.faults.payload[1].qp.next = bits(0);
            self.faults.payload[1].slot.next = bits(0);
            self.faults.payload[1].address.next = bits(0);
            self.faults.entries[1].valid.next = false;
            self.faults.entries[1].record.next = FailedRead::default();
            self.faults.flush[1].valid.next = false;
            self.faults.flush[1].record.next = FailedRead::default();
        }
        join!(
            self,
            receive.tlp[0] => writer.in_[0],
            queues.tlp => writer.in_[1],
            writer.tlp => endpoints[0].write,
            bars.refused => endpoints[0].request_refused,
            bars.damaged => endpoints[0].request_damaged,
            queues.accepted => endpoints[0].queue_accepted,
        );
        for p in 0..P {
            self.endpoints[p].link_down.next = self.pcie_link_down.val().get_bit(p);
        }

        // Messages of the host.
        self.endpoints[0].cq.moves.next = self.cq.tvalid.val() & self.bars.cq.tready.val();
        self.endpoints[0].cq.last.next = self.cq.tlast.val();
        self.endpoints[0].cq.damaged.next = self.cq.tuser.val().get_bit(CD);
        self.endpoints[0].cq.message.next = CqMessage::from_bits(self.cq.tdata.val());
        for p in 1..P {
            // Endpoint 1 has no BARs, so nothing else comes there, and nothing has to wait. It writes nothing for the host's queues, and no interrupt
            // messages.
            let damaged = self.cq1.tuser.val().get_bit(CD);
            self.cq1.tready.next = true;
            self.endpoints[p].cq.moves.next = self.cq1.tvalid.val();
            self.endpoints[p].cq.last.next = self.cq1.tlast.val();
            self.endpoints[p].cq.damaged.next = damaged;
            self.endpoints[p].cq.message.next = CqMessage::from_bits(self.cq1.tdata.val());
            self.endpoints[p].request_refused.next = false;
            self.endpoints[p].request_damaged.next = self.cq1.tvalid.val() & damaged;
            self.endpoints[p].message_permits.next = bits(0);
            self.endpoints[p].queue_accepted.next = false;
        }
    }
}
