//! The gate of the core: packets of two lanes, table writes, errors and fences become one stream of tokens.

use hdl_macros::{hdl, hdl_fn};
use rust_hdl::prelude::*;
use stellar_wire::hw::core::{CoreToken, TokenKind};
use stellar_wire::hw::frame::PacketHeaders;
use stellar_wire::hw::tables::{TableSelect, TableWrite, EMTT_INDEX_BITS};

/// Clocks from an accepted input to its token.
pub const LATENCY: usize = 1;

/// Clocks between two tokens of one queue pair: until what the first changes is in the memories of every block of the core.
pub const SPACING: usize = 6;
/// Clocks between two of its RC packets: what the read-modify-write loop of `rc_track` takes.
pub const RC_SPACING: usize = 3;
/// Two MRC data packets whose PSNs lie closer than this may go in consecutive clocks: `psn_track` hands on what the first changes, and the window
/// cannot move so far that its edge comes between them.
pub const NEAR: u32 = 1024;
/// `NEAR` in words of 64 PSNs, as log2.
const NEAR_WORD_BITS: usize = 4;

/// The queue pair of a token, if it names one, and how close it may come to others.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Named {
    valid: Bit,
    row: Bits<10>,
    /// It is an MRC data packet.
    mrc: Bit,
    /// It is an RC packet.
    rc: Bit,
    /// Its PSN without the low 6 bits.
    word: Bits<18>,
}

#[hdl_fn]
fn named_by(headers: PacketHeaders) -> Named {
    Named {
        valid: true,
        row: headers.dest_qp.get_bits::<10>(0),
        mrc: headers.mrc & !headers.probe,
        rc: !headers.mrc & !headers.probe,
        word: headers.psn.get_bits::<18>(6),
    }
}

/// A token that is no packet.
#[hdl_fn]
fn named_row(valid: Bit, row: Bits<10>) -> Named {
    Named {
        valid,
        row,
        mrc: false,
        rc: false,
        word: bits::<18>(0),
    }
}

/// PSNs of the two words lie less than [`NEAR`] apart. Levels: 3, and a carry chain.
#[hdl_fn]
fn words_near(a: Bits<18>, b: Bits<18>) -> Bit {
    let upper = (a - b).get_bits::<14>(NEAR_WORD_BITS);
    // -16 is one word too far if the low bits say so.
    !upper.any() | upper.all() & (a - b).get_bits::<4>(0).any()
}

/// The token must not follow the earlier one in less than [`SPACING`] clocks; `rc_may`: two RC packets may. Levels: 2 behind `words_near`.
#[hdl_fn]
fn waits_for(token: Named, earlier: Named, rc_may: Bit) -> Bit {
    let mrc_may = token.mrc & earlier.mrc & words_near(token.word, earlier.word);
    let may = mrc_may | token.rc & earlier.rc & rc_may;
    token.valid & earlier.valid & (token.row == earlier.row) & !may
}

/// The last tokens issued, the newest first.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Issued {
    ago_1: Named,
    ago_2: Named,
    ago_3: Named,
    ago_4: Named,
    ago_5: Named,
}

/// A token is too close to the last ones.
#[hdl_fn]
fn is_near(token: Named, issued: Issued) -> Bit {
    waits_for(token, issued.ago_1, false)
        | waits_for(token, issued.ago_2, false)
        | waits_for(token, issued.ago_3, true)
        | waits_for(token, issued.ago_4, true)
        | waits_for(token, issued.ago_5, true)
}

/// Issues tokens in order, at most one per clock: the only place of the core that waits.
///
/// It waits while the FIFOs behind the core have no room for what is in flight, and keeps two tokens of one queue pair
/// [`SPACING`] clocks apart, two RC packets [`RC_SPACING`]; MRC data packets that lie near each other go in consecutive clocks. A packet names the low 10
/// bits of its destination, a write of a context its index, an error its queue pair. Packets of a queue pair do not pass what waits for that distance.
/// The lanes take turns when both could go, and so do packets and the rest; a lane that waits for room holds up no other.
/// After a probe one clock stays empty: `psn_track` reads its memory twice for it. Errors go before table writes. A fence does not pass a table write that
/// waits, so a region is invalid before the fence that follows its invalidation; whoever keeps writing tables without
/// a pause holds up its own fences.
///
/// Fields of a token that its kind does not use hold whatever is at the other inputs.
/// Levels planned: 8 (distance of PSNs 3, queue pair 1, five tokens 1, who is held up 1, turns 2).
#[derive(LogicBlock, Default)]
pub struct CoreIssue {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    // From the front ends of the lanes: frames, of which only `span` and `headers` count.
    pub packet0_valid: Signal<In, Bit>,
    pub packet0_token: Signal<In, CoreToken>,
    pub packet0_ready: Signal<Out, Bit>,
    pub packet1_valid: Signal<In, Bit>,
    pub packet1_token: Signal<In, CoreToken>,
    pub packet1_ready: Signal<Out, Bit>,
    // From the table port.
    pub table_valid: Signal<In, Bit>,
    pub table_write: Signal<In, TableWrite>,
    pub table_ready: Signal<Out, Bit>,
    /// A queue pair goes to state Error.
    pub error_valid: Signal<In, Bit>,
    pub error_qp: Signal<In, Bits<10>>,
    pub error_ready: Signal<Out, Bit>,
    pub fence_valid: Signal<In, Bit>,
    pub fence_ready: Signal<Out, Bit>,
    // From the FIFOs of each lane behind the core: room for every token in flight and one more. A packet needs its lane's, a fence both, the rest
    // none.
    pub room0: Signal<In, Bit>,
    pub room1: Signal<In, Bit>,
    // To qp_fetch.
    pub out_valid: Signal<Out, Bit>,
    pub out_token: Signal<Out, CoreToken>,

    issued: DFF<Bit>,
    token: DFF<CoreToken>,
    /// What was issued in the last clocks.
    last: DFF<Issued>,
    /// The last token was a packet: if control waits, it is its turn.
    packet_went: DFF<Bit>,
    /// The last packet was of lane 1.
    lane1_went: DFF<Bit>,
    /// The last token was a probe.
    probe_went: DFF<Bit>,
}

impl Logic for CoreIssue {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, issued, token, last, packet_went);
        dff_setup!(self, clock, lane1_went, probe_went);
        let packet0 = self.packet0_token.val();
        let packet1 = self.packet1_token.val();
        let write = self.table_write.val();
        let last = self.last.q.val();
        let open = !self.probe_went.q.val() & !self.reset.val();

        // may_go: who could be issued in this clock.
        let named0 = named_by(packet0.headers);
        let named1 = named_by(packet1.headers);
        let error_named = named_row(true, self.error_qp.val());
        let write_named = named_row(
            write.select == TableSelect::Qp,
            write.index.get_bits::<10>(0),
        );
        let near0 = is_near(named0, last);
        let near1 = is_near(named1, last);
        let write_near = is_near(write_named, last);
        let error_near = is_near(error_named, last);
        let room0 = self.room0.val();
        let room1 = self.room1.val();
        // A token stalled by the spacing rule of its queue pair also blocks younger tokens of that queue pair. Otherwise a steady stream of them would
        // starve it.
        let waits0 = self.packet0_valid.val() & room0 & near0;
        let waits1 = self.packet1_valid.val() & room1 & near1;
        let write_waits = self.table_valid.val() & write_near;
        let error_waits = self.error_valid.val() & error_near;
        let control_holds0 = (write_waits & (named0.row == write_named.row))
            | (error_waits & (named0.row == error_named.row));
        let control_holds1 = (write_waits & (named1.row == write_named.row))
            | (error_waits & (named1.row == error_named.row));
        let same_row = named0.row == named1.row;
        let held0 = control_holds0 | waits1 & same_row;
        let held1 = control_holds1 | waits0 & same_row;
        let may_go0 = self.packet0_valid.val() & open & room0 & !near0 & !held0;
        let may_go1 = self.packet1_valid.val() & open & room1 & !near1 & !held1;
        let write_may_go = self.table_valid.val() & open & !write_near;
        let error_may_go = self.error_valid.val() & open & !error_near;
        let fence_may_go = self.fence_valid.val() & open & room0 & room1 & !self.table_valid.val();

        // take_turns
        let control_may_go = write_may_go | fence_may_go | error_may_go;
        let packets_turn = !(control_may_go & self.packet_went.q.val());
        let goes1 = may_go1 & packets_turn & !(may_go0 & self.lane1_went.q.val());
        let goes0 = may_go0 & packets_turn & !goes1;
        let packet_goes = goes0 | goes1;
        let error_goes = error_may_go & !packet_goes;
        let write_goes = write_may_go & !packet_goes & !error_may_go;
        let fence_goes = fence_may_go & !packet_goes & !error_may_go;
        self.packet0_ready.next = goes0;
        self.packet1_ready.next = goes1;
        self.error_ready.next = error_goes;
        self.table_ready.next = write_goes;
        self.fence_ready.next = fence_goes;
        let packet = if goes1 { packet1 } else { packet0 };
        self.probe_went.d.next = packet_goes & packet.headers.probe;
        if packet_goes {
            self.packet_went.d.next = true;
            self.lane1_went.d.next = goes1;
        } else if control_may_go {
            self.packet_went.d.next = false;
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
        let named_packet = if goes1 { named1 } else { named0 };
        let named_other = if error_goes { error_named } else { write_named };
        let mut named = if packet_goes {
            named_packet
        } else {
            named_other
        };
        named.valid = packet_goes | error_goes | write_goes & write_named.valid;
        self.last.d.next = Issued {
            ago_1: named,
            ago_2: last.ago_1,
            ago_3: last.ago_2,
            ago_4: last.ago_3,
            ago_5: last.ago_4,
        };
        self.issued.d.next = packet_goes | write_goes | error_goes | fence_goes;
        let mut table = write;
        table.index = if error_goes {
            bit_cast::<EMTT_INDEX_BITS, 10>(error_named.row)
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
        self.out_valid.next = self.issued.q.val();
        self.out_token.next = self.token.q.val();

        if self.reset.val() {
            self.issued.d.next = false;
            self.packet_went.d.next = false;
            self.lane1_went.d.next = false;
            self.probe_went.d.next = false;
            self.last.d.next = Issued::default();
        }
    }
}
