//! Measures how many packets a burst may have.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{Message, MessageResponse, SHORT_MESSAGE};
use stellar_wire::hw::Psn;
use stellar_wire::mtu::LENGTH_BITS;

use crate::allowance::{admits, burst_size, cwnd_space, CwndSpace};
use crate::deadline::timeout;
use crate::records::{Op, TAIL_BITS};
use crate::segment::{
    burst_limit, is_limited_by_bytes, measured, payload_length, segment_at, smaller, Segment,
};

/// Measures a burst in three steps of at least a cycle each: the segment of its first packet, when the message is there (`looks_up`); the remainder of the message, and the
/// space in both windows (`measures`); the number of packets, and whether there may be any (`counts`). Levels: 9 (the number of packets).
#[derive(LogicBlock, Default)]
pub struct BurstMeasure {
    pub clock: Signal<In, Clock>,

    pub op: Signal<In, Op>,
    /// The packets are retransmissions of this one, or begin with it.
    pub is_retransmit: Signal<In, Bit>,
    pub psn: Signal<In, Psn>,
    pub retries: Signal<In, Bits<8>>,
    /// The packet is the oldest one of the window, and the policy spreads: it is sent again whatever the congestion window admits.
    pub is_oldest: Signal<In, Bit>,
    /// MRC with early loss detection: time until a tail probe.
    pub tail: Signal<In, Bits<TAIL_BITS>>,
    /// The timers are examined at once, because a silent plane has to be asked for a sign of life.
    pub asks_plane: Signal<In, Bit>,

    // Packets that the PSN window and the pool of blocks allow, 63 if more.
    pub sets_space: Signal<In, Bit>,
    pub psn_space: Signal<In, Bits<6>>,
    pub pool_space: Signal<In, Bits<6>>,
    // The message is looked up.
    pub looks_up: Signal<In, Bit>,
    pub fetched: Signal<In, MessageResponse>,
    // The congestion window, and the bytes that count in it.
    pub measures: Signal<In, Bit>,
    pub cwnd: Signal<In, Bits<24>>,
    pub in_flight: Signal<In, Bits<24>>,
    pub counts: Signal<In, Bit>,

    // Results. Each stays until the step that computes it.
    pub message: Signal<Out, Message>,
    pub segment: Signal<Out, Segment>,
    /// Timeout of the burst.
    pub timeout: Signal<Out, Bits<32>>,
    /// Packets that PSN window and pool allow.
    pub window_space: Signal<Out, Bits<6>>,
    /// Both windows admit the first packet.
    pub admitted: Signal<Out, Bit>,
    /// Valid with `counts`: what `admitted` will be.
    pub admits: Signal<Out, Bit>,
    /// MRC: every packet requests a SACK.
    pub ack_req_all: Signal<Out, Bit>,
    /// The message is short, so a burst of short messages may have more packets than full ones.
    pub only_short: Signal<Out, Bit>,
    /// Packets of the message that the burst has, and packets of others that may follow.
    pub count: Signal<Out, Bits<6>>,
    pub more: Signal<Out, Bits<6>>,

    message_held: DFF<Message>,
    segment_held: DFF<Segment>,
    /// Payload bytes of the first packet.
    length_held: DFF<Bits<LENGTH_BITS>>,
    timeout_held: DFF<Bits<32>>,
    /// From `measures` on also what the pool allows.
    space: DFF<Bits<6>>,
    room: DFF<Bits<6>>,
    cwnd_left: DFF<CwndSpace>,
    all_request: DFF<Bit>,
    short: DFF<Bit>,
    /// The entry behind the message is there.
    follows: DFF<Bit>,
    here: DFF<Bits<6>>,
    others: DFF<Bits<6>>,
    admits_first: DFF<Bit>,
    oldest: DFF<Bit>,
}

impl Logic for BurstMeasure {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            message_held,
            segment_held,
            length_held,
            timeout_held,
            space,
            room
        );
        dff_setup!(
            self,
            clock,
            cwnd_left,
            all_request,
            short,
            follows,
            here,
            others,
            admits_first,
            oldest
        );
        let op = self.op.val();
        let mtu_log2 = op.settings.mtu_log2;
        let rc = op.settings.rc;
        let is_retransmit = self.is_retransmit.val();
        let message = self.message_held.q.val();
        let segment = self.segment_held.q.val();
        let space = self.space.q.val();
        let cwnd_left = self.cwnd_left.q.val();
        let only_short = self.short.q.val();

        if self.sets_space.val() {
            self.space.d.next = self.psn_space.val();
            self.room.d.next = self.pool_space.val();
        }

        // look up
        let fetched = self.fetched.val();
        if self.looks_up.val() {
            self.message_held.d.next = fetched.message;
            self.follows.d.next = fetched.follows;
            self.oldest.d.next = self.is_oldest.val() & is_retransmit;
            self.segment_held.d.next = segment_at(fetched.message, self.psn.val(), mtu_log2);
            self.timeout_held.d.next = if self.asks_plane.val() {
                bits::<32>(0)
            } else if rc | !op.settings.early_loss.any() {
                timeout(op.settings, self.retries.val())
            } else {
                bit_cast::<32, TAIL_BITS>(self.tail.val())
            };
        }

        // measure
        let cwnd = self.cwnd.val();
        if self.measures.val() {
            self.segment_held.d.next = measured(message, segment);
            self.length_held.d.next = payload_length(measured(message, segment), mtu_log2);
            self.space.d.next = smaller(space, self.room.q.val());
            self.short.d.next =
                is_limited_by_bytes(mtu_log2) & (message.length < SHORT_MESSAGE) & !is_retransmit;
            self.cwnd_left.d.next = cwnd_space(cwnd, self.in_flight.val(), mtu_log2);
            self.all_request.d.next = cwnd < op.settings.coalesce_from;
        }

        // count
        let by_windows = if rc {
            space
        } else {
            smaller(space, cwnd_left.packets)
        };
        let size = burst_size(by_windows, segment.left, burst_limit(mtu_log2, only_short));
        let window_full = !is_retransmit & !space.any();
        let by_cwnd = admits(cwnd_left, self.length_held.q.val());
        let admits_first = (rc | self.oldest.q.val() | by_cwnd) & !window_full;
        if self.counts.val() {
            self.admits_first.d.next = admits_first;
            self.here.d.next = if is_retransmit & !rc {
                bits::<6>(1)
            } else {
                size.here
            };
            self.others.d.next = if is_retransmit | !self.follows.q.val() {
                bits::<6>(0)
            } else {
                size.more
            };
        }

        self.message.next = message;
        self.segment.next = segment;
        self.timeout.next = self.timeout_held.q.val();
        self.window_space.next = space;
        self.admitted.next = self.admits_first.q.val();
        self.admits.next = admits_first;
        self.ack_req_all.next = self.all_request.q.val();
        self.only_short.next = only_short;
        self.count.next = self.here.q.val();
        self.more.next = self.others.q.val();
    }
}
