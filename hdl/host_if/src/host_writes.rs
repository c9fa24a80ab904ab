//! Entries and interrupts as one stream of memory writes.

use hdl_macros::{clock_reset, hdl};
use hdl_primitives::{Checked, Parameters, RoundRobin, StreamSkid, TlpSrc};
use rust_hdl::prelude::*;
use stellar_wire::host::Cqe;
use stellar_wire::hw::dma::WriteTlpHeader;

use crate::bundles::HostWriteSnk;

/// For a lane of 1,024 bits.
pub type HostWrites1024 = HostWrites<1024>;
/// For a lane of 512 bits.
pub type HostWrites512 = HostWrites<512>;

/// log2 of the double words of a completion, which may join the one before it, and of its bits.
const JOINED_DWORDS_LOG2: usize = (Cqe::LEN / 4).ilog2() as usize;
const JOINED_BITS_LOG2: u64 = (8 * Cqe::LEN).ilog2() as u64;

/// A write of at most 32 bytes.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct HostWrite {
    header: WriteTlpHeader,
    data: Bits<256>,
    /// It joins the one before it, which is of the same source.
    joins: Bit,
}

/// Merges three streams of writes into one of TLPs, one beat each, in the order in which they are accepted. It accepts one per cycle, and the sources
/// take turns.
///
/// Completions that lie together leave as one TLP: one that joins the one before it is added to its TLP, until that is offered. A TLP is offered as soon as
/// no write is there that joins it, so nothing waits for writes to come.
///
/// If a write must follow another one, its source must offer it in a cycle after the other one was accepted. `W` is the lane's width in bits. Levels:
/// 4 (room behind the TLP, enable of the TLP).
#[derive(LogicBlock, Default)]
pub struct HostWrites<const W: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// Discards writes that were accepted and have not left.
    pub reset: Signal<In, Bit>,

    // Completion queue entries.
    pub completion: HostWriteSnk<256>,
    // Event queue entries.
    pub event: HostWriteSnk<128>,
    // Interrupt messages.
    pub interrupt: HostWriteSnk<32>,

    // To PCIe, as from `dma_write`: a beat moves when valid and ready. Valid does not depend on ready, and a beat stays until taken.
    pub tlp: TlpSrc<W>,

    /// One cycle: a write was accepted.
    pub accepted: Signal<Out, Bit>,

    turns: RoundRobin<3, 2>,
    /// The source of the write that was accepted last.
    last_turn: DFF<Bits<3>>,
    writes: StreamSkid<HostWrite>,
    /// The TLP at the output. One that was offered and not taken must not change.
    open: DFF<Bit>,
    offered: DFF<Bit>,
    header: DFF<WriteTlpHeader>,
    data: DFF<Bits<W>>,
}

impl<const W: usize> Parameters for HostWrites<W> {
    fn check() {
        assert!(
            W >= 256,
            "HostWrites<{W}>: a completion has 256 bits and is one beat; use a lane of at least that"
        );
    }
}

impl<const W: usize> Logic for HostWrites<W> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, last_turn, open, offered, header, data);
        clock_reset!(self, turns, writes);

        // take_turns
        let mut requests = bits::<3>(0);
        requests = requests.replace_bit(0, self.completion.valid.val());
        requests = requests.replace_bit(1, self.event.valid.val());
        requests = requests.replace_bit(2, self.interrupt.valid.val());
        let room = self.writes.in_.ready.val();
        let turn = self.turns.grant.val();
        self.turns.request.next = requests;
        self.turns.accept.next = room;
        self.completion.ready.next = room & turn.get_bit(0);
        self.event.ready.next = room & turn.get_bit(1);
        self.interrupt.ready.next = room & turn.get_bit(2);
        let accepts = self.turns.valid.val();
        self.accepted.next = accepts & room;
        if accepts & room {
            self.last_turn.d.next = turn;
        }
        let is_next = (turn & self.last_turn.q.val()).any();
        self.writes.in_.valid.next = accepts;
        self.writes.in_.data.next = if turn.get_bit(0) {
            HostWrite {
                header: self.completion.header.val(),
                data: self.completion.data.val(),
                joins: is_next & self.completion.joins.val(),
            }
        } else if turn.get_bit(1) {
            HostWrite {
                header: self.event.header.val(),
                data: bit_cast::<256, 128>(self.event.data.val()),
                joins: is_next & self.event.joins.val(),
            }
        } else {
            HostWrite {
                header: self.interrupt.header.val(),
                data: bit_cast::<256, 32>(self.interrupt.data.val()),
                joins: is_next & self.interrupt.joins.val(),
            }
        };

        // offer_tlp
        let comes = self.writes.out.valid.val();
        let write = self.writes.out.data.val();
        let open = self.open.q.val();
        let header = self.header.q.val();
        let joins = comes & write.joins & open & !self.offered.q.val();
        let offers = open & !joins;
        let taken = offers & self.tlp.ready.val();
        self.offered.d.next = offers & !taken;
        self.tlp.valid.next = offers;
        self.tlp.header.next = header;
        self.tlp.data.next = self.data.q.val();
        self.tlp.first.next = offers;
        self.tlp.last.next = offers;

        // add_write
        let is_free = joins | !open | taken;
        let adds = comes & is_free;
        self.writes.out.ready.next = is_free;
        self.open.d.next = adds | (open & !taken);
        let length = if joins { header.length_dw } else { bits(0) };
        let offset =
            bit_cast::<10, 2>(length.get_bits::<2>(JOINED_DWORDS_LOG2)) << JOINED_BITS_LOG2;
        let before = if joins { self.data.q.val() } else { bits(0) };
        if adds {
            let mut whole = write.header;
            whole.length_dw = length + write.header.length_dw;
            whole.address_dw = if joins {
                header.address_dw
            } else {
                write.header.address_dw
            };
            self.header.d.next = whole;
            self.data.d.next = before | (bit_cast::<W, 256>(write.data) << offset);
        }

        if self.reset.val() {
            self.open.d.next = false;
            self.offered.d.next = false;
        }
    }
}
