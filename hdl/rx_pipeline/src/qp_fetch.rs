//! Reads the queue pair context of each token, and checks the packet against it.

use hdl_macros::{hdl, hdl_fn};
use hdl_primitives::{QuickRam, TokenFlowSnk, TokenFlowSrc};
use rust_hdl::prelude::*;
use stellar_wire::hw::core::{CoreToken, QpToken, TokenKind};
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::tables::{QpContext, QpMode, QpState, TableSelect, EMTT_INDEX_BITS};
use stellar_wire::hw::{FromBits, QPN_BITS};

/// Cycles from `in_` to `out`.
pub const LATENCY: usize = 2;

/// Whether the number is in a table of 2^`Q` queue pairs. Queue pairs 0 and 1 belong to management.
#[hdl_fn]
fn is_ours<const Q: usize>(number: Bits<24>) -> Bit {
    (number >= 2) & !(number >> (Q as u64)).any()
}

/// The partition keys match if the partition is the same and at least one side is a full member (IBTA volume 1, 10.9.3).
#[hdl_fn]
pub fn pkeys_match(packet: Bits<16>, local: Bits<16>) -> Bit {
    (packet.get_bits::<15>(0) == local.get_bits::<15>(0)) & (packet.get_bit(15) | local.get_bit(15))
}

/// A token while its context is read: register after the stage `lookup`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct LookupReg {
    token: CoreToken,
    /// The queue pair of the token is in the table.
    is_ours: Bit,
    /// The token writes `written` to the table.
    writes: Bit,
    written: QpContext,
    /// The token moves a queue pair to state Error.
    fails: Bit,
}

/// Reads the context of a packet's queue pair and determines the first drop reason. A reason that the parser found comes first.
///
/// A token that writes a context carries that context on, so the tracking blocks need not decode it. A write to a number outside the table
/// changes nothing. An error token moves a valid context to state Error. The memory needs no bypass: a context is written one cycle after its
/// token came, and `core_issue` keeps the next packet of the queue pair at least 6 cycles behind.
///
/// After a reset every context is Invalid. Clearing takes 2^`Q` cycles, in which packets have an unknown queue pair. No token may write
/// a context meanwhile.
///
/// Levels planned: `lookup` 3 (range of the number), `check` 5 (P_Key equality 3, order of the reasons 2).
#[derive(LogicBlock, Default)]
pub struct QpFetch<const Q: usize = 10> {
    pub clock: Signal<In, Clock>,
    /// Clears every context.
    pub reset: Signal<In, Bit>,
    pub in_: TokenFlowSnk<CoreToken>,
    pub out: TokenFlowSrc<QpToken>,
    pub clearing: Signal<Out, Bit>,

    contexts: QuickRam<QpContext, Q>,
    /// Contexts that were cleared; bit `Q` is set when all are.
    swept: DFF<Bits<{ QPN_BITS + 1 }>>,
    looked_up_valid: DFF<Bit>,
    looked_up: DFF<LookupReg>,
    checked_valid: DFF<Bit>,
    checked: DFF<QpToken>,
}

impl<const Q: usize> Logic for QpFetch<Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            swept,
            looked_up_valid,
            looked_up,
            checked_valid,
            checked
        );
        clock!(self, clock, contexts);

        // sweep
        let sweeping = !self.swept.q.val().get_bit(Q);
        if sweeping {
            self.swept.d.next = self.swept.q.val() + 1;
        }
        self.clearing.next = sweeping;

        // lookup: read the context.
        let token = self.in_.token.val();
        let is_table = token.kind == TokenKind::Table;
        let is_error = token.kind == TokenKind::Error;
        let number = if is_table | is_error {
            bit_cast::<24, EMTT_INDEX_BITS>(token.table.index)
        } else {
            token.headers.dest_qp
        };
        let ours = is_ours::<Q>(number);
        self.contexts.read_address.next = number.get_bits::<Q>(0);
        self.looked_up_valid.d.next = self.in_.valid.val();
        self.looked_up.d.next = LookupReg {
            token,
            is_ours: ours,
            writes: is_table & (token.table.select == TableSelect::Qp) & ours,
            written: QpContext::from_bits(token.table.entry),
            fails: is_error & ours,
        };

        // check: write the context, or compare the packet with it.
        let looked_up = self.looked_up.q.val();
        let token = looked_up.token;
        let stored = self.contexts.read_data.val();
        let mut failed = stored;
        failed.state = if stored.state == QpState::Invalid {
            QpState::Invalid
        } else {
            QpState::Error
        };
        let changes = self.looked_up_valid.q.val() & (looked_up.writes | looked_up.fails);
        self.contexts.write_enable.next = sweeping | changes;
        self.contexts.write_address.next = if sweeping {
            self.swept.q.val().get_bits::<Q>(0)
        } else {
            token.table.index.get_bits::<Q>(0)
        };
        self.contexts.write_data.next = if sweeping {
            QpContext::default()
        } else if looked_up.writes {
            looked_up.written
        } else {
            failed
        };
        let wrong_mode = token.headers.mrc ^ (stored.mode == QpMode::Mrc);
        let right_pkey = pkeys_match(token.headers.pkey, stored.pkey);
        let is_unknown = !looked_up.is_ours | (stored.state == QpState::Invalid);
        let found = if sweeping | is_unknown {
            DropReason::UnknownQp
        } else if stored.state != QpState::Ready {
            DropReason::WrongState
        } else if wrong_mode {
            DropReason::WrongMode
        } else if !right_pkey {
            DropReason::BadPkey
        } else {
            DropReason::None
        };
        let reason = if token.kind != TokenKind::Packet {
            DropReason::None
        } else if token.headers.reason != DropReason::None {
            token.headers.reason
        } else {
            found
        };
        let context = if looked_up.writes {
            looked_up.written
        } else {
            stored
        };
        self.checked_valid.d.next = self.looked_up_valid.q.val();
        self.checked.d.next = QpToken {
            token,
            qp: context,
            reason,
        };
        self.out.valid.next = self.checked_valid.q.val();
        self.out.token.next = self.checked.q.val();

        if self.reset.val() {
            self.swept.d.next = bits(0);
        }
    }
}
