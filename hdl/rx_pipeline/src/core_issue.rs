//! The input arbiter of the core: packets of two lanes, table writes, errors and fences become one stream of tokens.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{FenceSnk, QpSnk, SyncFifo, TableWriteSnk, TokenFlowSrc, TokenSnk};
use rust_hdl::prelude::*;
use stellar_wire::hw::core::{CoreToken, TokenKind};
use stellar_wire::hw::tables::{TableSelect, EMTT_INDEX_BITS};
use stellar_wire::hw::{Qpn, QPN_BITS};

use crate::hazard::{conflicts, conflicts_next, row_key, Scoreboard};
use crate::packet_slots::PacketSlots;

/// Cycles from the choice of a token to its output, and from an accepted packet to its token, if nothing else waits.
pub const LATENCY: usize = 1;
pub const PACKET_LATENCY: usize = 2;

/// Cycles between two tokens of one queue pair. After this time, every block of the core has written the changes of the first token to its memory.
pub const SPACING: usize = 8;
/// Cycles between two RC packets of one queue pair: the length of the read-modify-write loop of `rc_track`.
pub const RC_SPACING: usize = 3;
/// Two MRC data packets of one queue pair may be issued in consecutive cycles if their PSNs are closer than this, 2^`word_bits` words of 64: `psn_track`
/// forwards the changes of the first packet, and the edge of the window cannot move to a PSN between them. It is at most the window.
pub const fn near(word_bits: usize) -> u32 {
    64 << word_bits
}

/// Issues tokens in order, at most one per cycle. It is the only place of the core that stalls.
///
/// * Space: a packet is issued only if the FIFOs of its lane behind the core have space for all tokens in flight. A lane without space does not
///   stall the other lane.
/// * Hazards: two tokens of one queue pair are issued at least [`SPACING`] cycles apart, two RC packets [`RC_SPACING`]. MRC data packets whose PSNs
///   are near each other are issued in consecutive cycles. The queue pair of a packet is the low `Q` bits of its destination, that of a context
///   write its index. A token that is stalled for this reason also blocks younger packets of its queue pair. Whether it is follows from the tokens of earlier cycles, a
///   cycle ahead: for packets in [`PacketSlots`]; an error, or a context write, is not issued in the cycle in which it comes.
/// * A probe is followed by one empty cycle, because `psn_track` reads its memory twice for it.
/// * Arbitration: the lanes alternate when both have a packet to issue, and so do packets and the other tokens. Errors go before table writes. A
///   fence does not pass a table write that waits. So a region is invalid before the fence that follows its invalidation; and a stream of
///   table writes without a pause delays fences.
///
/// Fields that the kind of a token does not use have the values of the other inputs.
/// Levels planned: 7 (queue pair 2, blocking 1, arbitration 3, key of the token 1).
///
/// `NEAR_BITS` is the argument of [`near`]: the log2 of the words of the window, at most. `Q` is the log2 of the queue pairs.
#[derive(LogicBlock, Default)]
pub struct CoreIssue<const NEAR_BITS: usize = 6, const Q: usize = 10> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// From the front end of each lane. Only `span` and `headers` of the token are used.
    pub packet: [TokenSnk<CoreToken>; 2],
    /// Stays until it is accepted.
    pub table: TableWriteSnk,
    /// The context of this queue pair moves to state Error, in order with packets.
    pub error: QpSnk,
    pub fence: FenceSnk,
    // Comes from the FIFOs of each lane behind the core: they have space for every token in flight and one more. A packet needs the space of its own
    // lane, a fence needs that of both lanes, and the other tokens need none.
    pub room: [Signal<In, Bit>; 2],
    /// To `qp_fetch`.
    pub out: TokenFlowSrc<CoreToken>,

    slots: [PacketSlots<NEAR_BITS, Q>; 2],
    errors: SyncFifo<Qpn, 1, 2>,
    /// The table write, and the error, has been here for a cycle; and it must wait for tokens in flight.
    write_known: DFF<Bit>,
    write_waits: DFF<Bit>,
    error_known: DFF<Bit>,
    error_waits: DFF<Bit>,
    issued: DFF<Bit>,
    token: DFF<CoreToken>,
    /// The tokens in flight that can conflict with the next one.
    scoreboard: DFF<Scoreboard>,
    /// The last token was a packet: another token, if one waits, is issued next.
    last_was_packet: DFF<Bit>,
    /// The last packet was of lane 1.
    last_lane: DFF<Bit>,
    /// The last token was a probe.
    last_was_probe: DFF<Bit>,
}

impl<const NEAR_BITS: usize, const Q: usize> Logic for CoreIssue<NEAR_BITS, Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, issued, token, scoreboard, last_was_packet);
        dff_setup!(self, clock, last_lane, last_was_probe);
        dff_setup!(
            self,
            clock,
            write_known,
            write_waits,
            error_known,
            error_waits
        );
        clock_reset!(self, slots[..], errors);
        let packet0 = self.slots[0].first.val();
        let packet1 = self.slots[1].first.val();
        let write = self.table.write.val();
        let scoreboard = self.scoreboard.q.val();
        let open = !self.last_was_probe.q.val() & !self.reset.val();
        self.errors.in_.valid.next = self.error.valid.val();
        self.errors.in_.data.next = self.error.qp.val();
        self.error.ready.next = self.errors.in_.ready.val();

        // may_go: what can be issued in this cycle.
        let key0 = self.slots[0].key.val();
        let key1 = self.slots[1].key.val();
        let error_waiting = self.errors.out.valid.val();
        let error_key = row_key(error_waiting, self.errors.out.data.val());
        let writes_qp = self.table.valid.val() & (write.select == TableSelect::Qp);
        let write_key = row_key(
            writes_qp,
            bit_cast::<QPN_BITS, Q>(write.index.get_bits::<Q>(0)),
        );
        let hazard0 = self.slots[0].hazard.val();
        let hazard1 = self.slots[1].hazard.val();
        let write_hazard = writes_qp & (!self.write_known.q.val() | self.write_waits.q.val());
        let error_hazard = !self.error_known.q.val() | self.error_waits.q.val();
        let room0 = self.room[0].val();
        let room1 = self.room[1].val();
        // A token stalled by the spacing rule of its queue pair also blocks younger tokens of that queue pair. Otherwise a steady stream of them would
        // starve it.
        let stalled0 = key0.valid & room0 & hazard0;
        let stalled1 = key1.valid & room1 & hazard1;
        let write_stalled = write_hazard;
        let error_stalled = error_waiting & error_hazard;
        let behind_control0 = (write_stalled & (key0.row == write_key.row))
            | (error_stalled & (key0.row == error_key.row));
        let behind_control1 = (write_stalled & (key1.row == write_key.row))
            | (error_stalled & (key1.row == error_key.row));
        let same_row = key0.row == key1.row;
        let blocked0 = behind_control0 | stalled1 & same_row;
        let blocked1 = behind_control1 | stalled0 & same_row;
        let may_go0 = key0.valid & open & room0 & !hazard0 & !blocked0;
        let may_go1 = key1.valid & open & room1 & !hazard1 & !blocked1;
        let write_may_go = self.table.valid.val() & open & !write_hazard;
        let error_may_go = error_waiting & open & !error_hazard;
        let fence_may_go = self.fence.valid.val() & open & room0 & room1 & !self.table.valid.val();

        // take_turns
        let control_may_go = write_may_go | fence_may_go | error_may_go;
        let packets_turn = !(control_may_go & self.last_was_packet.q.val());
        let goes1 = may_go1 & packets_turn & !(may_go0 & self.last_lane.q.val());
        let goes0 = may_go0 & packets_turn & !goes1;
        let packet_goes = goes0 | goes1;
        let error_goes = error_may_go & !packet_goes;
        let write_goes = write_may_go & !packet_goes & !error_may_go;
        let fence_goes = fence_may_go & !packet_goes & !error_may_go;
        self.slots[0].goes.next = goes0;
        self.slots[1].goes.next = goes1;
        self.errors.out.ready.next = error_goes;
        self.table.ready.next = write_goes;
        self.fence.ready.next = fence_goes;
        let packet = if goes1 { packet1 } else { packet0 };
        self.last_was_probe.d.next = packet_goes & packet.headers.probe;
        if packet_goes {
            self.last_was_packet.d.next = true;
            self.last_lane.d.next = goes1;
        } else if control_may_go {
            self.last_was_packet.d.next = false;
        }

        // issue
        let kind = if packet_goes {
            TokenKind::Packet
        } else if write_goes {
            TokenKind::Table
        } else if error_goes {
            TokenKind::Error
        } else {
            TokenKind::Fence
        };
        let issued_packet = if goes1 { key1 } else { key0 };
        let issued_other = if error_goes { error_key } else { write_key };
        let mut key = if packet_goes {
            issued_packet
        } else {
            issued_other
        };
        key.valid = packet_goes | error_goes | write_goes & writes_qp;
        self.scoreboard.d.next = Scoreboard {
            before_1: key,
            before_2: scoreboard.before_1,
            before_3: scoreboard.before_2,
            before_4: scoreboard.before_3,
            before_5: scoreboard.before_4,
            before_6: scoreboard.before_5,
        };

        // look_ahead: what is issued now, and what waits then.
        let mut going0 = key0;
        going0.valid = goes0;
        let mut going1 = key1;
        going1.valid = goes1;
        let mut going_write = write_key;
        going_write.valid = write_goes & writes_qp;
        let mut going_error = error_key;
        going_error.valid = error_goes;
        self.slots[0].other_lane.next = going1;
        self.slots[1].other_lane.next = going0;
        for i in 0..2 {
            self.slots[i].scoreboard.next = scoreboard;
            self.slots[i].write.next = going_write;
            self.slots[i].error.next = going_error;
            join!(self, packet[i] => slots[i].packet);
        }
        self.write_known.d.next = writes_qp & !write_goes;
        self.write_waits.d.next = conflicts_next(write_key, scoreboard, NEAR_BITS)
            | conflicts(write_key, going0, false, NEAR_BITS)
            | conflicts(write_key, going1, false, NEAR_BITS)
            | conflicts(write_key, going_error, false, NEAR_BITS);
        self.error_known.d.next = error_waiting & !error_goes;
        self.error_waits.d.next = conflicts_next(error_key, scoreboard, NEAR_BITS)
            | conflicts(error_key, going0, false, NEAR_BITS)
            | conflicts(error_key, going1, false, NEAR_BITS)
            | conflicts(error_key, going_write, false, NEAR_BITS);
        self.issued.d.next = packet_goes | write_goes | error_goes | fence_goes;
        let mut table = write;
        table.index = if error_goes {
            bit_cast::<EMTT_INDEX_BITS, QPN_BITS>(error_key.row)
        } else {
            write.index
        };
        self.token.d.next = CoreToken {
            kind,
            lane: goes1,
            span: packet.span,
            headers: packet.headers,
            table,
        };
        self.out.valid.next = self.issued.q.val();
        self.out.token.next = self.token.q.val();

        if self.reset.val() {
            self.issued.d.next = false;
            self.last_was_packet.d.next = false;
            self.last_lane.d.next = false;
            self.last_was_probe.d.next = false;
            self.scoreboard.d.next = Scoreboard::default();
            self.write_known.d.next = false;
            self.error_known.d.next = false;
        }
    }
}
