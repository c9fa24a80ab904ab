//! Messages of bursts, packet by packet.

use hdl_macros::{clock_reset, hdl};
use hdl_primitives::{FlowSnk, SyncFifo};
use rust_hdl::prelude::*;

use crate::segment::{segment_after, Segment};

/// log2 of the messages: those of the burst that is sent, and of the next one.
const MESSAGES_BITS: usize = 6;

/// The packets that a burst has of a message.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Run {
    /// The first of them.
    pub segment: Segment,
    /// 1 to 32.
    pub packets: Bits<6>,
}

/// Returns whether the packets are the last ones of their message. Levels: 4.
#[hdl_macros::hdl_fn]
pub fn has_all_left(run: Run) -> Bit {
    run.segment.left == bit_cast::<24, 6>(run.packets)
}

/// Returns the packets after the first one; there must be more. Levels: a carry chain behind 1.
#[hdl_macros::hdl_fn]
fn run_after(run: Run, mtu_log2: Bits<4>) -> Run {
    Run {
        segment: segment_after(run.segment, mtu_log2),
        packets: run.packets - 1,
    }
}

/// Holds up to 64 messages with their packets, and offers one packet after the other. `T` is what is known of the message.
#[derive(LogicBlock, Default)]
pub struct PacketQueue<T: Synth> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// A message. It must not come if 64 are held.
    pub in_: FlowSnk<T>,
    pub in_run: Signal<In, Run>,

    /// log2 of the path MTU of the message that is offered.
    pub mtu_log2: Signal<In, Bits<4>>,
    /// The next packet, if a message is held: of this message, the first of these.
    pub message: Signal<Out, T>,
    pub run: Signal<Out, Run>,
    /// Takes the packet, or all remaining packets of the message. A message must be held.
    pub take: Signal<In, Bit>,
    pub take_all: Signal<In, Bit>,

    messages: SyncFifo<T, MESSAGES_BITS, { MESSAGES_BITS + 1 }>,
    runs: SyncFifo<Run, MESSAGES_BITS, { MESSAGES_BITS + 1 }>,
    /// Some packets of the message have been taken; `rest` are the others.
    begun: DFF<Bit>,
    rest: DFF<Run>,
}

impl<T: Synth> Logic for PacketQueue<T> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, begun, rest);
        clock_reset!(self, messages, runs);
        assert!(
            !self.in_.valid.val() | self.messages.in_.ready.val(),
            "a message finds no space"
        );
        assert!(
            !(self.take.val() | self.take_all.val()) | self.runs.out.valid.val(),
            "no message is held"
        );
        self.messages.in_.valid.next = self.in_.valid.val();
        self.messages.in_.data.next = self.in_.record.val();
        self.runs.in_.valid.next = self.in_.valid.val();
        self.runs.in_.data.next = self.in_run.val();
        let run = if self.begun.q.val() {
            self.rest.q.val()
        } else {
            self.runs.out.data.val()
        };
        let ends = self.take_all.val() | (self.take.val() & (run.packets == 1));
        self.message.next = self.messages.out.data.val();
        self.run.next = run;
        self.messages.out.ready.next = ends;
        self.runs.out.ready.next = ends;
        self.begun.d.next = (self.begun.q.val() | self.take.val()) & !ends;
        if self.take.val() {
            self.rest.d.next = run_after(run, self.mtu_log2.val());
        }
        if self.reset.val() {
            self.begun.d.next = false;
        }
    }
}
