//! The gate of the core: packets, table writes and fences become one stream of tokens.

use hdl_macros::{hdl, hdl_fn};
use rust_hdl::prelude::*;
use stellar_wire::hw::core::{CoreToken, TokenKind};
use stellar_wire::hw::tables::{TableSelect, TableWrite};

/// Clocks from an accepted input to its token.
pub const LATENCY: usize = 1;

/// Clocks between two tokens of one queue pair: what a read-modify-write loop of the core takes.
pub const SPACING: usize = 3;

/// The queue pair of a token, if it names one.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Named {
    valid: Bit,
    row: Bits<10>,
}

#[hdl_fn]
fn meets(a: Named, b: Named) -> Bit {
    a.valid & b.valid & (a.row == b.row)
}

/// Issues tokens in order, at most one per clock: the only place of the core that waits.
///
/// It waits while the FIFOs behind the core have no room for what is in flight, and keeps two tokens of one queue pair
/// [`SPACING`] clocks apart; a packet names the low 10 bits of its destination, a write of a context its index.
/// Packets and control (table writes, fences) take turns when both could go. A fence does not pass a table write that
/// waits, so a region is invalid before the fence that follows its invalidation; whoever keeps writing tables without
/// a pause holds up its own fences.
///
/// Fields of a token that its kind does not use hold whatever is at the other inputs.
/// Levels planned: 5 (10-bit equality 2, turn 2, ready 1).
#[derive(LogicBlock, Default)]
pub struct CoreIssue {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    // From the front end: frames, of which only `span` and `headers` count.
    pub packet_valid: Signal<In, Bit>,
    pub packet_token: Signal<In, CoreToken>,
    pub packet_ready: Signal<Out, Bit>,
    // From the table port.
    pub table_valid: Signal<In, Bit>,
    pub table_write: Signal<In, TableWrite>,
    pub table_ready: Signal<Out, Bit>,
    pub fence_valid: Signal<In, Bit>,
    pub fence_ready: Signal<Out, Bit>,
    // From the FIFOs behind the core: room for every token in flight and one more.
    pub place_room: Signal<In, Bit>,
    pub ack_room: Signal<In, Bit>,
    // To qp_fetch.
    pub out_valid: Signal<Out, Bit>,
    pub out_token: Signal<Out, CoreToken>,

    issued: DFF<Bit>,
    token: DFF<CoreToken>,
    /// Queue pair named in the last clock, and in the one before.
    last: DFF<Named>,
    second_last: DFF<Named>,
    /// The last token was a packet: if control waits, it is its turn.
    packet_went: DFF<Bit>,
}

impl Logic for CoreIssue {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, issued, token, last, second_last, packet_went);
        let packet = self.packet_token.val();
        let write = self.table_write.val();
        let last = self.last.q.val();
        let second_last = self.second_last.q.val();
        let room = self.place_room.val() & self.ack_room.val() & !self.reset.val();

        // may_go: who could be issued in this clock.
        let packet_named = Named {
            valid: true,
            row: packet.headers.dest_qp.get_bits::<10>(0),
        };
        let write_named = Named {
            valid: write.select == TableSelect::Qp,
            row: write.index.get_bits::<10>(0),
        };
        let packet_near = meets(packet_named, last) | meets(packet_named, second_last);
        let write_near = meets(write_named, last) | meets(write_named, second_last);
        let packet_may_go = self.packet_valid.val() & room & !packet_near;
        let write_may_go = self.table_valid.val() & room & !write_near;
        let fence_may_go = self.fence_valid.val() & room & !self.table_valid.val();

        // take_turns
        let control_may_go = write_may_go | fence_may_go;
        let packet_goes = packet_may_go & !(control_may_go & self.packet_went.q.val());
        let write_goes = write_may_go & !packet_goes;
        let fence_goes = fence_may_go & !packet_goes;
        self.packet_ready.next = packet_goes;
        self.table_ready.next = write_goes;
        self.fence_ready.next = fence_goes;
        if packet_goes {
            self.packet_went.d.next = true;
        } else if control_may_go {
            self.packet_went.d.next = false;
        }

        // issue
        let kind = if packet_goes {
            TokenKind::Packet
        } else if write_goes {
            TokenKind::Table
        } else {
            TokenKind::Fence
        };
        let named = Named {
            valid: packet_goes | write_goes & write_named.valid,
            row: if packet_goes {
                packet_named.row
            } else {
                write_named.row
            },
        };
        self.last.d.next = named;
        self.second_last.d.next = last;
        self.issued.d.next = packet_goes | write_goes | fence_goes;
        self.token.d.next = CoreToken {
            kind,
            span: packet.span,
            headers: packet.headers,
            table: write,
        };
        self.out_valid.next = self.issued.q.val();
        self.out_token.next = self.token.q.val();

        if self.reset.val() {
            self.issued.d.next = false;
            self.packet_went.d.next = false;
            self.last.d.next = Named::default();
            self.second_last.d.next = Named::default();
        }
    }
}
