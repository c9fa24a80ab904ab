//! Entries and interrupts as one stream of memory writes.

use hdl_macros::hdl;
use hdl_primitives::{RoundRobin, StreamSkid};
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::WriteTlpHeader;

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
/// A source that needs its write behind another one must offer it in a cycle after the other was accepted. `W` is the lane's width in bits. Levels: 2
/// (turns, select).
#[derive(LogicBlock)]
pub struct HostWrites<const W: usize> {
    pub clock: Signal<In, Clock>,
    /// Forgets writes that are taken and have not left.
    pub reset: Signal<In, Bit>,

    // Completion queue entries.
    pub completion_valid: Signal<In, Bit>,
    pub completion_header: Signal<In, WriteTlpHeader>,
    pub completion_data: Signal<In, Bits<256>>,
    pub completion_ready: Signal<Out, Bit>,
    // Event queue entries.
    pub event_valid: Signal<In, Bit>,
    pub event_header: Signal<In, WriteTlpHeader>,
    pub event_data: Signal<In, Bits<128>>,
    pub event_ready: Signal<Out, Bit>,
    // Interrupt messages.
    pub interrupt_valid: Signal<In, Bit>,
    pub interrupt_header: Signal<In, WriteTlpHeader>,
    pub interrupt_data: Signal<In, Bits<32>>,
    pub interrupt_ready: Signal<Out, Bit>,

    // To PCIe, as from `dma_write`: a beat moves when valid and ready. Valid does not depend on ready, and a beat stays until taken.
    pub tlp_valid: Signal<Out, Bit>,
    pub tlp_ready: Signal<In, Bit>,
    /// Lanes past the last double word are zero.
    pub tlp_data: Signal<Out, Bits<W>>,
    pub tlp_header: Signal<Out, WriteTlpHeader>,
    pub tlp_first: Signal<Out, Bit>,
    pub tlp_last: Signal<Out, Bit>,

    turns: RoundRobin<3, 2>,
    output: StreamSkid<HostWrite>,
}

impl<const W: usize> Default for HostWrites<W> {
    fn default() -> Self {
        assert!(
            W >= 256,
            "HostWrites<{W}>: a completion has 256 bits and is one beat; use a lane of at least that"
        );
        Self {
            clock: Default::default(),
            reset: Default::default(),
            completion_valid: Default::default(),
            completion_header: Default::default(),
            completion_data: Default::default(),
            completion_ready: Default::default(),
            event_valid: Default::default(),
            event_header: Default::default(),
            event_data: Default::default(),
            event_ready: Default::default(),
            interrupt_valid: Default::default(),
            interrupt_header: Default::default(),
            interrupt_data: Default::default(),
            interrupt_ready: Default::default(),
            tlp_valid: Default::default(),
            tlp_ready: Default::default(),
            tlp_data: Default::default(),
            tlp_header: Default::default(),
            tlp_first: Default::default(),
            tlp_last: Default::default(),
            turns: Default::default(),
            output: Default::default(),
        }
    }
}

impl<const W: usize> Logic for HostWrites<W> {
    #[hdl]
    fn update(&mut self) {
        clock!(self, clock, turns, output);
        self.turns.reset.next = self.reset.val();
        self.output.reset.next = self.reset.val();

        let mut requests = bits::<3>(0);
        requests = requests.replace_bit(0, self.completion_valid.val());
        requests = requests.replace_bit(1, self.event_valid.val());
        requests = requests.replace_bit(2, self.interrupt_valid.val());
        let room = self.output.in_ready.val();
        let turn = self.turns.grant.val();
        self.turns.request.next = requests;
        self.turns.accept.next = room;
        self.completion_ready.next = room & turn.get_bit(0);
        self.event_ready.next = room & turn.get_bit(1);
        self.interrupt_ready.next = room & turn.get_bit(2);

        self.output.in_valid.next = self.turns.valid.val();
        self.output.in_data.next = if turn.get_bit(0) {
            HostWrite {
                header: self.completion_header.val(),
                data: self.completion_data.val(),
            }
        } else if turn.get_bit(1) {
            HostWrite {
                header: self.event_header.val(),
                data: bit_cast::<256, 128>(self.event_data.val()),
            }
        } else {
            HostWrite {
                header: self.interrupt_header.val(),
                data: bit_cast::<256, 32>(self.interrupt_data.val()),
            }
        };

        let write = self.output.out_data.val();
        self.output.out_ready.next = self.tlp_ready.val();
        self.tlp_valid.next = self.output.out_valid.val();
        self.tlp_header.next = write.header;
        self.tlp_data.next = bit_cast::<W, 256>(write.data);
        self.tlp_first.next = self.output.out_valid.val();
        self.tlp_last.next = self.output.out_valid.val();
    }
}
