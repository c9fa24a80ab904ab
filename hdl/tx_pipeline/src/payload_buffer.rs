//! Stores payload until the payload of a packet is complete.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{BlockFifo, Checked, Parameters};
use rust_hdl::prelude::*;
use stellar_wire::mtu::MAX_PAYLOAD;

/// The flags beside the data of a beat.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PayloadEnd {
    pub last: Bit,
    pub error: Bit,
}

/// A FIFO of 2^`A` beats of `W` bits that says when the whole payload of a packet is in it. `C` must be `A` + 1.
///
/// `waiting` means that every beat of the next packet is in the FIFO. So after the packet has begun, the reader can take one beat per cycle without
/// checking the FIFO. The last beat that enters in cycle `n` is counted in `n + 1` and readable in `n + 2`; a reader that sees `waiting` in `n + 1`
/// takes the first beat one cycle later. A whole packet fits, and the reader takes whole packets, so the writer never waits forever. LUT levels:
/// count 3, the rest is [`BlockFifo`].
#[derive(LogicBlock, Default)]
pub struct PayloadBuffer<const W: usize, const A: usize, const C: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// Empties the buffer.
    pub reset: Signal<In, Bit>,

    /// Payload of packets that have any, in the order of their records; every beat full but the last.
    pub in_valid: Signal<In, Bit>,
    pub in_data: Signal<In, Bits<W>>,
    pub in_last: Signal<In, Bit>,
    /// With `in_last`: the payload could not be read, and this is its only beat.
    pub in_error: Signal<In, Bit>,
    pub in_ready: Signal<Out, Bit>,

    /// The next packet's payload is complete.
    pub waiting: Signal<Out, Bit>,
    /// The next packet begins; only with `waiting`.
    pub start: Signal<In, Bit>,
    pub out_data: Signal<Out, Bits<W>>,
    pub out_last: Signal<Out, Bit>,
    pub out_error: Signal<Out, Bit>,
    pub take: Signal<In, Bit>,

    data: BlockFifo<Bits<W>, A, C>,
    ends: BlockFifo<PayloadEnd, A, C>,
    /// Complete packets not yet begun.
    packets: DFF<Bits<C>>,
}

impl<const W: usize, const A: usize, const C: usize> Parameters for PayloadBuffer<W, A, C> {
    fn check() {
        assert!(
            (W / 8) << A >= 2 * MAX_PAYLOAD,
            "a payload buffer of 2^{A} beats of {W} bits: two packets of {MAX_PAYLOAD} bytes must fit, use A = {} or more",
            (2 * MAX_PAYLOAD / (W / 8)).ilog2()
        );
    }
}

impl<const W: usize, const A: usize, const C: usize> Logic for PayloadBuffer<W, A, C> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, packets);
        clock_reset!(self, data, ends);

        // Both FIFOs see the same beats, so they are full and empty together.
        let ready = self.data.in_.ready.val() & self.ends.in_.ready.val();
        let enters = self.in_valid.val() & ready;
        self.data.in_.valid.next = enters;
        self.data.in_.data.next = self.in_data.val();
        self.ends.in_.valid.next = enters;
        self.ends.in_.data.next = PayloadEnd {
            last: self.in_last.val(),
            error: self.in_error.val(),
        };
        self.in_ready.next = ready;

        let completes = enters & self.in_last.val();
        if completes & !self.start.val() {
            self.packets.d.next = self.packets.q.val() + 1;
        }
        if self.start.val() & !completes {
            self.packets.d.next = self.packets.q.val() - 1;
        }
        self.waiting.next = self.packets.q.val().any();

        join!(
            self,
            take => data.out.ready,
            take => ends.out.ready,
            data.out.data => out_data,
        );
        let end = self.ends.out.data.val();
        self.out_last.next = end.last;
        self.out_error.next = end.error;
        if self.reset.val() {
            self.packets.d.next = bits(0);
        }
    }
}
