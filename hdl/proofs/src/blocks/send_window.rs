//! The number of packets that a burst adds to the send window.

use hdl_macros::{clock, clock_reset, hdl};
use hdl_requester::choice::choose;
use hdl_requester::rc_space::rc_space;
use hdl_requester::{BurstCollect, BurstHead, BurstMeasure, Op, Run};
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::MessageResponse;
use stellar_wire::hw::spray::SprayResponse;
use stellar_wire::hw::window::{WindowOp, WindowResponse};

/// Steps of a burst, in the order of `BurstFlow`.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Phase {
    Idle,
    /// The spaces of the windows are set.
    Selected,
    Measured,
    /// The packets are counted.
    Counted,
    /// The burst is collected.
    Collecting,
}

/// Properties of the way from a window of the transmit window, or of an RC queue pair, to the number of packets of a burst: `choose` or `rc_space`, [`BurstMeasure`],
/// [`BurstCollect`].
#[derive(LogicBlock, Default)]
pub struct SendWindowProof {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub op: Signal<In, Op>,
    pub plane_up: Signal<In, Bits<2>>,
    pub spray: Signal<In, SprayResponse>,
    /// What `Query` of the transmit window tells.
    pub window: Signal<In, WindowResponse>,
    // The steps.
    pub selects: Signal<In, Bit>,
    pub looks_up: Signal<In, Bit>,
    pub fetched: Signal<In, MessageResponse>,
    pub measures: Signal<In, Bit>,
    pub counts: Signal<In, Bit>,
    pub cwnd: Signal<In, Bits<24>>,
    pub in_flight: Signal<In, Bits<24>>,
    // Whether a packet that is sent again goes beyond the congestion window, and whether the timers are examined at once.
    pub is_oldest: Signal<In, Bit>,
    pub asks_plane: Signal<In, Bit>,
    pub starts: Signal<In, Bit>,
    pub has_path: Signal<In, Bit>,
    // What else the collection waits for.
    pub previous_active: Signal<In, Bit>,
    pub window_busy: Signal<In, Bit>,
    pub spray_busy: Signal<In, Bit>,
    pub path_valid: Signal<In, Bit>,
    pub path: Signal<In, SprayResponse>,
    pub taken_valid: Signal<In, Bit>,
    pub taken: Signal<In, MessageResponse>,

    /// The steps come in their order, and the transport stays.
    pub given_order: Signal<Out, Bit>,
    /// The message table takes no more packets than were asked for.
    pub given_taken: Signal<Out, Bit>,
    /// The window of an RC queue pair was not above its MPR before. That of another one was not above an MPR, which may have been larger.
    pub given_within: Signal<Out, Bit>,

    /// With the new packets that `choose` and `rc_space` allow, the window has no more packets than the peer's MPR; none are allowed if it has as many.
    pub holds_mpr: Signal<Out, Bit>,
    /// A burst has no more new packets than these.
    pub holds_count: Signal<Out, Bit>,
    /// Over MRC, it has no more new packets than the pool of blocks has room for.
    pub holds_room: Signal<Out, Bit>,
    /// The transmit window gets exactly these packets, and no packets that are retransmitted.
    pub holds_allocates: Signal<Out, Bit>,
    /// A burst of several messages can fill the window over MRC.
    pub reaches_full: Signal<Out, Bit>,
    /// One can over RC.
    pub reaches_full_rc: Signal<Out, Bit>,

    measure: BurstMeasure,
    collect: BurstCollect,
    phase: DFF<Phase>,
    /// As they were when the spaces were set: packets in the window, its limit, new packets that are allowed, the room of the pool.
    sent: DFF<Bits<24>>,
    mpr: DFF<Bits<13>>,
    allowed: DFF<Bits<6>>,
    room: DFF<Bits<6>>,
    rc: DFF<Bit>,
    is_retransmit: DFF<Bit>,
    /// Of the burst that is collected: packets of its first message, and packets that may follow from others.
    here: DFF<Bits<6>>,
    more: DFF<Bits<6>>,
    /// Packets that were taken from another message in the last cycle.
    takes: DFF<Bit>,
    taken_packets: DFF<Bits<6>>,
}

impl Logic for SendWindowProof {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            phase,
            sent,
            mpr,
            allowed,
            room,
            rc,
            is_retransmit,
            here,
            more,
            takes,
            taken_packets
        );
        clock!(self, clock, measure);
        clock_reset!(self, collect);
        let op = self.op.val();
        let rc = op.settings.rc;
        let window = self.window.val();
        let phase = self.phase.q.val();
        let selects = self.selects.val();
        let is_retransmit = self.is_retransmit.q.val();
        let held_rc = self.rc.q.val();

        let choice = choose(
            op.state,
            self.plane_up.val(),
            op.port,
            self.spray.val(),
            window,
        );
        let rc_space = rc_space(op.settings, op.state);
        let rc_sent = op.state.rc.sent - op.state.una;
        let sent = if rc {
            rc_sent
        } else {
            window.next_psn - window.una
        };
        let mpr = if rc { op.settings.mpr } else { op.state.mpr };
        let allowed = if rc {
            rc_space.packets
        } else {
            choice.window_space
        };
        let resends = if rc {
            rc_space.is_retransmit
        } else {
            choice.is_retransmit
        };
        if selects {
            self.sent.d.next = sent;
            self.mpr.d.next = mpr;
            self.allowed.d.next = allowed;
            self.room.d.next = window.room;
            self.rc.d.next = rc;
            self.is_retransmit.d.next = resends;
        }

        self.measure.op.next = op;
        self.measure.is_retransmit.next = is_retransmit;
        self.measure.psn.next = bits(0);
        self.measure.retries.next = bits(0);
        self.measure.tail.next = bits(0);
        self.measure.is_oldest.next = self.is_oldest.val();
        self.measure.asks_plane.next = self.asks_plane.val();
        self.measure.sets_space.next = selects;
        self.measure.psn_space.next = allowed;
        self.measure.pool_space.next = if rc { bits::<6>(63) } else { window.room };
        self.measure.looks_up.next = self.looks_up.val();
        self.measure.fetched.next = self.fetched.val();
        self.measure.measures.next = self.measures.val();
        self.measure.cwnd.next = self.cwnd.val();
        self.measure.in_flight.next = self.in_flight.val();
        self.measure.counts.next = self.counts.val();

        let starts = self.starts.val();
        let more = self.measure.more.val();
        self.collect.start.next = starts;
        self.collect.head.next = BurstHead {
            message: self.measure.message.val(),
            run: Run {
                segment: self.measure.segment.val(),
                packets: self.measure.count.val(),
            },
            bytes: bits::<24>(0),
            more,
            only_short: self.measure.only_short.val(),
            has_path: self.has_path.val(),
            is_retransmit: is_retransmit & !rc,
            avoid: bits::<8>(0),
        };
        self.collect.op.next = op;
        self.collect.previous_active.next = self.previous_active.val();
        self.collect.window.busy.next = self.window_busy.val();
        self.collect.spray.busy.next = self.spray_busy.val();
        self.collect.path.valid.next = self.path_valid.val();
        self.collect.path.record.next = self.path.val();
        let taken = self.taken.val();
        let collecting = phase == Phase::Collecting;
        let takes = collecting & self.taken_valid.val() & taken.found;
        self.collect.taken.valid.next = self.taken_valid.val();
        self.collect.taken.record.next = taken;
        if starts {
            self.here.d.next = self.measure.count.val();
            self.more.d.next = more;
        }
        self.takes.d.next = takes;
        self.taken_packets.d.next = taken.packets_here;

        let begins = self.collect.begins.val();
        if selects {
            self.phase.d.next = Phase::Selected;
        } else if self.measures.val() {
            self.phase.d.next = Phase::Measured;
        } else if self.counts.val() {
            self.phase.d.next = Phase::Counted;
        } else if starts & !begins {
            self.phase.d.next = Phase::Collecting;
        } else if begins | self.collect.no_path.val() {
            self.phase.d.next = Phase::Idle;
        }
        let may_start = (phase == Phase::Counted) & self.measure.admitted.val();
        self.given_order.next = (!selects
            | ((phase != Phase::Collecting) & !self.measures.val() & !self.counts.val() & !starts))
            & (!self.looks_up.val() | (phase == Phase::Selected))
            & (!self.measures.val() | (phase == Phase::Selected))
            & (!self.counts.val() | (phase == Phase::Measured))
            & (!starts | (may_start & !self.counts.val()))
            & (selects | (rc == held_rc));
        let count = self.collect.count.val();
        let pending = if self.takes.q.val() {
            self.taken_packets.q.val()
        } else {
            bits::<6>(0)
        };
        // Packets of other messages that the burst has.
        let others = bit_cast::<8, 6>(count - self.here.q.val()) + bit_cast::<8, 6>(pending);
        let collected_more = bit_cast::<8, 6>(self.more.q.val());
        self.given_taken.next =
            !takes | (others + bit_cast::<8, 6>(taken.packets_here) <= collected_more);
        let within = if rc {
            sent <= bit_cast::<24, 13>(mpr)
        } else {
            !sent.get_bits::<11>(13).any()
        };
        self.given_within.next = !selects | within;

        // What follows from the steps so far, so that the invariant needs no sums of its own.
        let space = self.measure.window_space.val();
        let packets = if collecting {
            bit_cast::<8, 6>(self.here.q.val()) + collected_more
        } else if phase == Phase::Counted {
            bit_cast::<8, 6>(self.measure.count.val()) + bit_cast::<8, 6>(more)
        } else {
            bit_cast::<8, 6>(space)
        };
        let refused = if phase == Phase::Counted {
            !self.measure.admitted.val()
        } else {
            !collecting & !space.any()
        };
        let known = (phase != Phase::Idle) & !is_retransmit & !refused;
        let room = bit_cast::<8, 6>(self.room.q.val());
        let allowed_packets = bit_cast::<8, 6>(self.allowed.q.val());
        let collects_few = !collecting | (others <= collected_more);
        let is_new = begins & !is_retransmit;
        let request = self.collect.window.request.val();
        self.holds_mpr.next = !selects
            | resends
            | !allowed.any()
            | (sent + bit_cast::<24, 6>(allowed) <= bit_cast::<24, 13>(mpr));
        self.holds_count.next = (!known | (packets <= allowed_packets))
            & collects_few
            & (!is_new | (count <= self.allowed.q.val()));
        self.holds_room.next = (!known | held_rc | (phase == Phase::Selected) | (packets <= room))
            & collects_few
            & (!is_new | held_rc | (count <= self.room.q.val()));
        self.holds_allocates.next = (self.collect.window.start.val() == (is_new & !rc))
            & (!is_new | ((request.op == WindowOp::Allocate) & (request.count == count)));
        let sum = bit_cast::<24, 6>(count) + self.sent.q.val();
        let fills = is_new
            & (sum == bit_cast::<24, 13>(self.mpr.q.val()))
            & (count > self.measure.count.val());
        self.reaches_full.next = fills & !rc;
        self.reaches_full_rc.next = fills & rc;
        if self.reset.val() {
            self.phase.d.next = Phase::Idle;
        }
    }
}
