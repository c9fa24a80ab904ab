//! The input arbiter of the core: packets of two lanes, table writes, errors and fences become one stream of tokens.

use hdl_macros::{hdl, hdl_fn};
use hdl_primitives::{FenceSnk, QpSnk, TableWriteSnk, TokenFlowSrc, TokenSnk};
use rust_hdl::prelude::*;
use stellar_wire::hw::core::{CoreToken, TokenKind};
use stellar_wire::hw::frame::PacketHeaders;
use stellar_wire::hw::tables::{TableSelect, EMTT_INDEX_BITS};
use stellar_wire::hw::{Qpn, QPN_BITS};

/// Cycles from an accepted input to its token.
pub const LATENCY: usize = 1;

/// Cycles between two tokens of one queue pair. After this time, every block of the core has written the changes of the first token to its memory.
pub const SPACING: usize = 8;
/// Cycles between two RC packets of one queue pair: the length of the read-modify-write loop of `rc_track`.
pub const RC_SPACING: usize = 3;
/// Two MRC data packets of one queue pair may be issued in consecutive cycles if their PSNs are closer than this, 2^`word_bits` words of 64: `psn_track`
/// forwards the changes of the first packet, and the edge of the window cannot move to a PSN between them. It is at most the window.
pub const fn near(word_bits: usize) -> u32 {
    64 << word_bits
}

/// The part of a token that decides whether it conflicts with tokens in flight.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct HazardKey {
    valid: Bit,
    row: Qpn,
    /// The token is an MRC data packet.
    mrc: Bit,
    /// The token is an RC packet.
    rc: Bit,
    /// PSN without the low 6 bits.
    word: Bits<18>,
}

#[hdl_fn]
fn packet_key<const Q: usize>(headers: PacketHeaders) -> HazardKey {
    HazardKey {
        valid: true,
        row: bit_cast::<QPN_BITS, Q>(headers.dest_qp.get_bits::<Q>(0)),
        mrc: headers.mrc & !headers.probe,
        rc: !headers.mrc & !headers.probe,
        word: headers.psn.get_bits::<18>(6),
    }
}

/// The key of a token that is not a packet.
#[hdl_fn]
fn row_key(valid: Bit, row: Qpn) -> HazardKey {
    HazardKey {
        valid,
        row,
        mrc: false,
        rc: false,
        word: bits::<18>(0),
    }
}

/// PSNs of the two words lie less than [`near`] apart. Levels: 3, and a carry chain.
#[hdl_fn]
fn words_are_near(a: Bits<18>, b: Bits<18>, word_bits: usize) -> Bit {
    let low = bits::<18>((1 << word_bits) - 1);
    let apart = a - b;
    let upper = apart & !low;
    // A difference of exactly -2^`word_bits` words is too far; the low bits tell it from those down to -1.
    !upper.any() | (upper == !low) & (apart & low).any()
}

/// Whether the token must stay [`SPACING`] cycles behind an earlier one. `rc_may`: the distance is enough for two RC packets. Levels: 2 after
/// `words_are_near`.
#[hdl_fn]
fn conflicts(token: HazardKey, earlier: HazardKey, rc_may: Bit, near_bits: usize) -> Bit {
    let mrc_may = token.mrc & earlier.mrc & words_are_near(token.word, earlier.word, near_bits);
    let may = mrc_may | token.rc & earlier.rc & rc_may;
    token.valid & earlier.valid & (token.row == earlier.row) & !may
}

/// The tokens issued in the last seven cycles; `before_1` is the newest.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Scoreboard {
    before_1: HazardKey,
    before_2: HazardKey,
    before_3: HazardKey,
    before_4: HazardKey,
    before_5: HazardKey,
    before_6: HazardKey,
    before_7: HazardKey,
}

/// Whether the token conflicts with one in flight.
#[hdl_fn]
fn is_hazard(token: HazardKey, scoreboard: Scoreboard, near_bits: usize) -> Bit {
    conflicts(token, scoreboard.before_1, false, near_bits)
        | conflicts(token, scoreboard.before_2, false, near_bits)
        | conflicts(token, scoreboard.before_3, true, near_bits)
        | conflicts(token, scoreboard.before_4, true, near_bits)
        | conflicts(token, scoreboard.before_5, true, near_bits)
        | conflicts(token, scoreboard.before_6, true, near_bits)
        | conflicts(token, scoreboard.before_7, true, near_bits)
}

/// Issues tokens in order, at most one per cycle. It is the only place of the core that stalls.
///
/// * Space: a packet is issued only if the FIFOs of its lane behind the core have space for all tokens in flight. A lane without space does not
///   stall the other lane.
/// * Hazards: two tokens of one queue pair are issued at least [`SPACING`] cycles apart, two RC packets [`RC_SPACING`]. MRC data packets whose PSNs
///   are near each other are issued in consecutive cycles. The queue pair of a packet is the low `Q` bits of its destination, that of a context
///   write its index. A token that is stalled for this reason also blocks younger packets of its queue pair.
/// * A probe is followed by one empty cycle, because `psn_track` reads its memory twice for it.
/// * Arbitration: the lanes alternate when both have a packet to issue, and so do packets and the other tokens. Errors go before table writes. A
///   fence does not pass a table write that waits. So a region is invalid before the fence that follows its invalidation; and a stream of
///   table writes without a pause delays fences.
///
/// Fields that the kind of a token does not use have the values of the other inputs.
/// Levels planned: 8 (distance of PSNs 3, queue pair 1, seven tokens 1, blocking 1, arbitration 2).
///
/// `NEAR_BITS` is the argument of [`near`]: the log2 of the words of the window, at most. `Q` is the log2 of the queue pairs.
#[derive(LogicBlock, Default)]
pub struct CoreIssue<const NEAR_BITS: usize = 6, const Q: usize = 10> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// From the front end of each lane. Only `span` and `headers` of the token are used.
    pub packet: [TokenSnk<CoreToken>; 2],
    pub table: TableWriteSnk,
    /// The context of this queue pair moves to state Error, in order with packets.
    pub error: QpSnk,
    pub fence: FenceSnk,
    // Comes from the FIFOs of each lane behind the core: they have space for every token in flight and one more. A packet needs the space of its own
    // lane, a fence needs that of both lanes, and the other tokens need none.
    pub room: [Signal<In, Bit>; 2],
    /// To `qp_fetch`.
    pub out: TokenFlowSrc<CoreToken>,

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
        let packet0 = self.packet[0].token.val();
        let packet1 = self.packet[1].token.val();
        let write = self.table.write.val();
        let scoreboard = self.scoreboard.q.val();
        let open = !self.last_was_probe.q.val() & !self.reset.val();

        // may_go: what can be issued in this cycle.
        let key0 = packet_key::<Q>(packet0.headers);
        let key1 = packet_key::<Q>(packet1.headers);
        let error_key = row_key(true, self.error.qp.val());
        let write_key = row_key(
            write.select == TableSelect::Qp,
            bit_cast::<QPN_BITS, Q>(write.index.get_bits::<Q>(0)),
        );
        let hazard0 = is_hazard(key0, scoreboard, NEAR_BITS);
        let hazard1 = is_hazard(key1, scoreboard, NEAR_BITS);
        let write_hazard = is_hazard(write_key, scoreboard, NEAR_BITS);
        let error_hazard = is_hazard(error_key, scoreboard, NEAR_BITS);
        let room0 = self.room[0].val();
        let room1 = self.room[1].val();
        // A token stalled by the spacing rule of its queue pair also blocks younger tokens of that queue pair. Otherwise a steady stream of them would
        // starve it.
        let stalled0 = self.packet[0].valid.val() & room0 & hazard0;
        let stalled1 = self.packet[1].valid.val() & room1 & hazard1;
        let write_stalled = self.table.valid.val() & write_hazard;
        let error_stalled = self.error.valid.val() & error_hazard;
        let behind_control0 = (write_stalled & (key0.row == write_key.row))
            | (error_stalled & (key0.row == error_key.row));
        let behind_control1 = (write_stalled & (key1.row == write_key.row))
            | (error_stalled & (key1.row == error_key.row));
        let same_row = key0.row == key1.row;
        let blocked0 = behind_control0 | stalled1 & same_row;
        let blocked1 = behind_control1 | stalled0 & same_row;
        let may_go0 = self.packet[0].valid.val() & open & room0 & !hazard0 & !blocked0;
        let may_go1 = self.packet[1].valid.val() & open & room1 & !hazard1 & !blocked1;
        let write_may_go = self.table.valid.val() & open & !write_hazard;
        let error_may_go = self.error.valid.val() & open & !error_hazard;
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
        self.packet[0].ready.next = goes0;
        self.packet[1].ready.next = goes1;
        self.error.ready.next = error_goes;
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
        key.valid = packet_goes | error_goes | write_goes & write_key.valid;
        self.scoreboard.d.next = Scoreboard {
            before_1: key,
            before_2: scoreboard.before_1,
            before_3: scoreboard.before_2,
            before_4: scoreboard.before_3,
            before_5: scoreboard.before_4,
            before_6: scoreboard.before_5,
            before_7: scoreboard.before_6,
        };
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
        }
    }
}
