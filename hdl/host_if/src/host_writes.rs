//! Entries and interrupts as one stream of memory writes.

use hdl_macros::{clock_reset, hdl};
use hdl_primitives::{Checked, Parameters, RoundRobin, StreamSkid, TlpSrc};
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::WriteTlpHeader;

use crate::bundles::HostWriteSnk;

/// For a lane of 1,024 bits.
pub type HostWrites1024 = HostWrites<1024>;
/// For a lane of 512 bits.
pub type HostWrites512 = HostWrites<512>;

/// A write of at most 32 bytes.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct HostWrite {
    header: WriteTlpHeader,
    data: Bits<256>,
}

/// Merges three streams of writes into one of TLPs, one beat each, in the order in which they are accepted. It accepts one per cycle, and the sources
/// take turns.
///
/// If a write must follow another one, its source must offer it in a cycle after the other one was accepted. `W` is the lane's width in bits. Levels:
/// 2 (turns, select).
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
    output: StreamSkid<HostWrite>,
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
        clock_reset!(self, turns, output);

        let mut requests = bits::<3>(0);
        requests = requests.replace_bit(0, self.completion.valid.val());
        requests = requests.replace_bit(1, self.event.valid.val());
        requests = requests.replace_bit(2, self.interrupt.valid.val());
        let room = self.output.in_.ready.val();
        let turn = self.turns.grant.val();
        self.turns.request.next = requests;
        self.turns.accept.next = room;
        self.completion.ready.next = room & turn.get_bit(0);
        self.event.ready.next = room & turn.get_bit(1);
        self.interrupt.ready.next = room & turn.get_bit(2);

        self.output.in_.valid.next = self.turns.valid.val();
        self.accepted.next = self.turns.valid.val() & room;
        self.output.in_.data.next = if turn.get_bit(0) {
            HostWrite {
                header: self.completion.header.val(),
                data: self.completion.data.val(),
            }
        } else if turn.get_bit(1) {
            HostWrite {
                header: self.event.header.val(),
                data: bit_cast::<256, 128>(self.event.data.val()),
            }
        } else {
            HostWrite {
                header: self.interrupt.header.val(),
                data: bit_cast::<256, 32>(self.interrupt.data.val()),
            }
        };

        let write = self.output.out.data.val();
        self.output.out.ready.next = self.tlp.ready.val();
        self.tlp.valid.next = self.output.out.valid.val();
        self.tlp.header.next = write.header;
        self.tlp.data.next = bit_cast::<W, 256>(write.data);
        self.tlp.first.next = self.output.out.valid.val();
        self.tlp.last.next = self.output.out.valid.val();
    }
}
