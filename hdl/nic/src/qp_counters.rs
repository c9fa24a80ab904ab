//! The counters of each queue pair.

use hdl_host_if::QpCounterSnk;
use hdl_macros::{clock, clock_reset, hdl, hdl_fn};
use hdl_primitives::{Checked, FlowSnk, Parameters};
use hdl_requester::StatPulses;
use rust_hdl::prelude::*;
use stellar_wire::host::qp_counters::group;
use stellar_wire::host::{PathCount, PathCountSelect};
use stellar_wire::hw::receive::{ReceiveCount, ResponderCount};
use stellar_wire::hw::{Qpn, QPN_BITS};
use stellar_wire::mtu::LENGTH_BITS;

use crate::counter_rows::{CounterRows, SELECT_BITS};
use crate::path_accesses::QpPath;
use crate::path_counters::{PathCounters, ACTIVE_BITS, BACKUP_BITS};
use crate::table_bits::PATH_SET_BITS;

/// Counters in each group, in the order of `QpCounter`.
const SENT: usize = group::OPERATIONS - group::SENT;
const OPERATIONS: usize = group::ACCEPTED - group::OPERATIONS;
const ACCEPTED: usize = group::DECIDED - group::ACCEPTED;
const DECIDED: usize = group::RESPONDER - group::DECIDED;
const RESPONDER: usize = group::END - group::RESPONDER;
/// Bits of a counter of bytes, and of the packets beside it: at 400 Gb/s it wraps after eleven years.
const WIDE: usize = 64;
/// Bits of any other counter: at one event in each cycle of 4 ns it wraps after 13 days.
const W: usize = 48;
/// Bits of `StatPulses::spurious`.
const LOST_BITS: usize = 13;
/// Bit of a number that paths have.
const PATH_BIT: usize = PathCountSelect::FIRST.trailing_zeros() as usize;
const _: () = assert!(PATH_BIT == 8);
/// Cycles that a read waits for a gap between counts of the receive side, before it makes one.
const PATIENCE_BITS: usize = 8;

/// Packets and bytes that leave an engine.
type SentRows<const Q: usize> =
    CounterRows<SENT, WIDE, LENGTH_BITS, { SENT * LENGTH_BITS }, { SENT * WIDE }, Q>;
type OperationRows<const Q: usize> =
    CounterRows<OPERATIONS, W, LOST_BITS, { OPERATIONS * LOST_BITS }, { OPERATIONS * W }, Q>;
type AcceptedRows<const Q: usize> =
    CounterRows<ACCEPTED, WIDE, LENGTH_BITS, { ACCEPTED * LENGTH_BITS }, { ACCEPTED * WIDE }, Q>;
type DecidedRows<const Q: usize> = CounterRows<DECIDED, W, 1, DECIDED, { DECIDED * W }, Q>;
type PathRows<const E: usize, const PT: usize> = PathCounters<
    E,
    PATH_SET_BITS,
    PT,
    { PATH_SET_BITS + ACTIVE_BITS },
    { PATH_SET_BITS + BACKUP_BITS },
>;
type ResponderRows<const Q: usize> = CounterRows<RESPONDER, W, 1, RESPONDER, { RESPONDER * W }, Q>;

/// `value` if `here` is set, otherwise zero.
#[hdl_fn]
fn value_if(here: Bit, value: Bits<64>) -> Bits<64> {
    if here {
        value
    } else {
        bits::<64>(0)
    }
}

/// The path `index` of a queue pair of an engine, from the card's number of the queue pair.
#[hdl_fn]
fn path_of(qp: Qpn, index: Bits<8>) -> QpPath {
    QpPath { qp: qp >> 1, index }
}

/// Whether a queue pair is one of the first 2^`C`.
#[hdl_fn]
fn is_counted<const C: usize>(qp: Qpn) -> Bit {
    !(qp >> (C as u64)).any()
}

/// Keeps the counters of `QpCounter` for the first 2^`C` of 2^`Q` queue pairs, and the counts by path, and reads one at a time. `E` = `Q` - 1, `D` = `C` - 1, and `PT` is what [`PathCounters`] of 2^`E`
/// queue pairs calls `T`. The counters of other queue pairs read as zero.
///
/// Each source of events has rows of its own, because it may count in every cycle: the packets that leave an engine, its operations, the receive core (in two
/// memories, of wide and of other counters), and the responder. An engine has the queue pairs of one parity. A value is one counter, and whole: the register
/// has all of its bits. Values that are read one after the other are of different times.
///
/// A read waits for a cycle in which its rows count nothing. An engine has one at the latest after a burst of 32 packets. The receive core may have
/// none while small frames come at its full rate. So a read that has waited for 256 cycles raises `pause` until it is served.
#[derive(LogicBlock, Default)]
pub struct QpCounters<
    const Q: usize = 10,
    const E: usize = 9,
    const PT: usize = 1,
    const C: usize = 10,
    const D: usize = 9,
> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// Clears all counters, which takes 2^`C` cycles.
    pub reset: Signal<In, Bit>,

    // From both requester engines. `packet`, `retransmission` and `bytes` belong to `sent_qp`, the other pulses to `event_qp`.
    pub event_qp: [Signal<In, Qpn>; 2],
    pub stats: [Signal<In, StatPulses>; 2],
    /// The requester of this queue pair was configured: its counters restart. It comes in a cycle without pulses of its engine.
    pub configured: Signal<In, Bit>,
    pub configured_qp: Signal<In, Qpn>,

    // From the receive core and from the responder.
    pub received: FlowSnk<ReceiveCount>,
    /// The receive core takes no packets while this is high.
    pub pause: Signal<Out, Bit>,
    pub answered: FlowSnk<ResponderCount>,

    // From the registers.
    pub read: QpCounterSnk,

    // The pulses of the engines are at the end of long paths, so they are counted a cycle later.
    pulses: [DFF<StatPulses>; 2],
    pulsed_qp: [DFF<Qpn>; 2],
    configures: DFF<Bit>,
    configures_qp: DFF<Qpn>,
    sent: [SentRows<D>; 2],
    operations: [OperationRows<D>; 2],
    accepted: AcceptedRows<C>,
    decided: DecidedRows<C>,
    responder: ResponderRows<C>,
    paths: [PathRows<E, PT>; 2],
    /// Cycles that a read of the receive side has waited.
    waited: DFF<Bits<{ PATIENCE_BITS + 1 }>>,
}

impl<const Q: usize, const E: usize, const PT: usize, const C: usize, const D: usize> Parameters
    for QpCounters<Q, E, PT, C, D>
{
    fn check() {
        assert!(
            E + 1 == Q && D + 1 == C && C <= Q && Q <= QPN_BITS,
            "QpCounters<{Q}, {E}, {PT}, {C}, {D}>: give Q of at most {QPN_BITS}, E = Q - 1, C of at most Q and D = C - 1"
        );
    }
}

impl<const Q: usize, const E: usize, const PT: usize, const C: usize, const D: usize> Logic
    for QpCounters<Q, E, PT, C, D>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, configures, configures_qp, waited);
        clock!(self, clock, pulses[..], pulsed_qp[..]);
        clock_reset!(
            self,
            sent[..],
            operations[..],
            accepted,
            decided,
            responder,
            paths[..]
        );

        // read: the group is that of the counter, and of an engine that of the queue pair.
        let number = self.read.counter.val();
        let reads_path = self.read.valid.val() & number.get_bit(PATH_BIT);
        let reads = self.read.valid.val() & !number.get_bit(PATH_BIT);
        let qp = self.read.qp.val();
        let above = number.get_bits::<{ PATH_BIT - SELECT_BITS }>(SELECT_BITS);
        let counter = if above.any() | !is_counted::<C>(qp) {
            // None has this number.
            Bits::<SELECT_BITS>::mask()
        } else {
            number.get_bits::<SELECT_BITS>(0)
        };
        let of_sent = counter < group::OPERATIONS as u64;
        let of_engine = counter < group::ACCEPTED as u64;
        let of_accepted = !of_engine & (counter < group::DECIDED as u64);
        let before_responder = counter < group::RESPONDER as u64;
        let of_decided = !of_engine & !of_accepted & before_responder;
        let engine_row = qp.get_bits::<D>(1);

        // engines
        self.configures.d.next = self.configured.val();
        self.configures_qp.d.next = self.configured_qp.val();
        let configured_qp = self.configures_qp.q.val();
        let mut done = self.accepted.read_done.val()
            | self.decided.read_done.val()
            | self.responder.read_done.val();
        let mut value = value_if(self.accepted.read_done.val(), self.accepted.value.val())
            | value_if(self.decided.read_done.val(), self.decided.value.val())
            | value_if(self.responder.read_done.val(), self.responder.value.val());
        for i in 0..2 {
            self.pulses[i].d.next = self.stats[i].val();
            self.pulsed_qp[i].d.next = self.event_qp[i].val();
            let stats = self.pulses[i].q.val();
            let of_parity = qp.get_bit(0) == (i == 1);
            let configures = self.configures.q.val() & (configured_qp.get_bit(0) == (i == 1));

            self.paths[i].sent.valid.next = stats.on_path;
            self.paths[i].sent.record.next = path_of(stats.sent_qp, stats.sent_index);
            self.paths[i].marked.valid.next = stats.marked_path;
            self.paths[i].marked.record.next = path_of(stats.marked_qp, stats.marked_index);
            self.paths[i].lost.valid.next = stats.lost_on_path;
            self.paths[i].lost.record.next = path_of(self.pulsed_qp[i].q.val(), stats.lost_index);
            self.paths[i].read_valid.next = reads_path & of_parity;
            self.paths[i].read_path.next = path_of(qp, number.get_bits::<8>(0));
            let path_counts = bit_cast::<64, { PathCount::ALL_BITS }>(self.paths[i].value.val())
                .replace_bit(PathCount::OF_ANOTHER_BIT, self.paths[i].of_another.val());

            let sent_qp = if configures {
                configured_qp
            } else {
                stats.sent_qp
            };
            self.sent[i].count_valid.next = (stats.packet | configures) & is_counted::<C>(sent_qp);
            self.sent[i].restarts.next = configures;
            self.sent[i].count_row.next = sent_qp.get_bits::<D>(1);
            self.sent[i].add.next = bits::<{ SENT * LENGTH_BITS }>(0)
                .replace_bit(0, stats.packet)
                .replace_bit(2 * LENGTH_BITS, stats.retransmission)
                | (bit_cast::<{ SENT * LENGTH_BITS }, LENGTH_BITS>(stats.bytes)
                    << LENGTH_BITS as u64);

            // In the order of `QpCounter`; `spurious` is a number.
            let pulses = bits::<{ OPERATIONS * LOST_BITS }>(0)
                .replace_bit(0, stats.timeout)
                .replace_bit(LOST_BITS, stats.early_loss)
                .replace_bit(3 * LOST_BITS, stats.sack)
                .replace_bit(4 * LOST_BITS, stats.stale_sack)
                .replace_bit(5 * LOST_BITS, stats.sack_out_of_window)
                .replace_bit(6 * LOST_BITS, stats.sack_inconsistent)
                .replace_bit(7 * LOST_BITS, stats.ecn_mark)
                .replace_bit(8 * LOST_BITS, stats.nack_trimmed)
                .replace_bit(9 * LOST_BITS, stats.nack_recoverable)
                .replace_bit(10 * LOST_BITS, stats.nack_fatal)
                .replace_bit(11 * LOST_BITS, stats.nack_ignored)
                .replace_bit(12 * LOST_BITS, stats.probe)
                .replace_bit(13 * LOST_BITS, stats.probe_answer)
                .replace_bit(14 * LOST_BITS, stats.ack)
                .replace_bit(15 * LOST_BITS, stats.nak)
                .replace_bit(16 * LOST_BITS, stats.ack_ignored)
                | (bit_cast::<{ OPERATIONS * LOST_BITS }, LOST_BITS>(stats.spurious)
                    << (2 * LOST_BITS) as u64);
            let event_qp = if configures {
                configured_qp
            } else {
                self.pulsed_qp[i].q.val()
            };
            self.operations[i].count_valid.next =
                (pulses.any() | configures) & is_counted::<C>(event_qp);
            self.operations[i].restarts.next = configures;
            self.operations[i].count_row.next = event_qp.get_bits::<D>(1);
            self.operations[i].add.next = pulses;

            self.sent[i].read_valid.next = reads & of_sent & of_parity;
            self.sent[i].read_row.next = engine_row;
            self.sent[i].read_select.next = counter;
            self.operations[i].read_valid.next = reads & of_engine & !of_sent & of_parity;
            self.operations[i].read_row.next = engine_row;
            self.operations[i].read_select.next = counter - group::OPERATIONS as u64;
            done = done
                | self.sent[i].read_done.val()
                | self.operations[i].read_done.val()
                | self.paths[i].read_done.val();
            value = value
                | value_if(self.paths[i].read_done.val(), path_counts)
                | value_if(self.sent[i].read_done.val(), self.sent[i].value.val())
                | value_if(
                    self.operations[i].read_done.val(),
                    self.operations[i].value.val(),
                );
        }

        // receive core
        let received = self.received.record.val();
        let is_received = self.received.valid.val() & is_counted::<C>(received.qp);
        self.accepted.count_valid.next = is_received & (received.accepted | received.restarts);
        self.accepted.restarts.next = received.restarts;
        self.accepted.count_row.next = received.qp.get_bits::<C>(0);
        self.accepted.add.next = bits::<{ ACCEPTED * LENGTH_BITS }>(0)
            .replace_bit(0, received.accepted)
            | (bit_cast::<{ ACCEPTED * LENGTH_BITS }, LENGTH_BITS>(received.bytes)
                << LENGTH_BITS as u64);
        // In the order of `QpCounter`.
        let decisions = bits::<DECIDED>(0)
            .replace_bit(0, received.marked)
            .replace_bit(1, received.duplicate)
            .replace_bit(2, received.gap)
            .replace_bit(3, received.outside_window)
            .replace_bit(4, received.invalid)
            .replace_bit(5, received.no_access)
            .replace_bit(6, received.page_absent)
            .replace_bit(7, received.probe)
            .replace_bit(8, received.wrong_state)
            .replace_bit(9, received.refused);
        self.decided.count_valid.next = is_received & (decisions.any() | received.restarts);
        self.decided.restarts.next = received.restarts;
        self.decided.count_row.next = received.qp.get_bits::<C>(0);
        self.decided.add.next = decisions;

        // responder
        let answered = self.answered.record.val();
        self.responder.count_valid.next = self.answered.valid.val() & is_counted::<C>(answered.qp);
        self.responder.restarts.next = answered.restarts;
        self.responder.count_row.next = answered.qp.get_bits::<C>(0);
        // In the order of `QpCounter`.
        self.responder.add.next = bits::<RESPONDER>(0)
            .replace_bit(0, answered.out_of_order)
            .replace_bit(1, answered.ack)
            .replace_bit(2, answered.nak_sequence)
            .replace_bit(3, answered.nak_invalid)
            .replace_bit(4, answered.nak_access)
            .replace_bit(5, answered.sack)
            .replace_bit(6, answered.echo)
            .replace_bit(7, answered.nack_outside_window)
            .replace_bit(8, answered.nack_unexpected);

        self.accepted.read_valid.next = reads & of_accepted;
        self.accepted.read_row.next = qp.get_bits::<C>(0);
        self.accepted.read_select.next = counter - group::ACCEPTED as u64;
        self.decided.read_valid.next = reads & of_decided;
        self.decided.read_row.next = qp.get_bits::<C>(0);
        self.decided.read_select.next = counter - group::DECIDED as u64;
        self.responder.read_valid.next = reads & !before_responder;
        self.responder.read_row.next = qp.get_bits::<C>(0);
        self.responder.read_select.next = counter - group::RESPONDER as u64;
        self.read.ready.next = done;
        self.read.value.next = value;

        // pause
        let waited = self.waited.q.val();
        let pauses = waited.get_bit(PATIENCE_BITS);
        self.pause.next = pauses;
        if !reads | of_engine | done {
            self.waited.d.next = bits::<{ PATIENCE_BITS + 1 }>(0);
        } else if !pauses {
            self.waited.d.next = waited + 1;
        }
        if self.reset.val() {
            self.waited.d.next = bits::<{ PATIENCE_BITS + 1 }>(0);
        }
    }
}
