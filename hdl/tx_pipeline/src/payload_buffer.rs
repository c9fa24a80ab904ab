//! Stores payload until the payload of a packet is complete.

use hdl_macros::{clock, clock_reset, hdl, join};
use hdl_primitives::{BlockFifo, Checked, LutRam, Parameters};
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
///
/// The flags decide in the same cycle whether the next beat is taken, so they lie in a register and not behind a block RAM: the flags of the head and of the beat behind it are read
/// ahead, and whether a beat leaves selects.
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
    /// The flags of the beats in `data`, to be read at the head and behind it.
    ends: [LutRam<PayloadEnd, A>; 2],
    write_place: DFF<Bits<A>>,
    head: DFF<Bits<A>>,
    end: DFF<PayloadEnd>,
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
        dff_setup!(self, clock, packets, write_place, head, end);
        clock!(self, clock, ends[..]);
        clock_reset!(self, data);

        let ready = self.data.in_.ready.val();
        let enters = self.in_valid.val() & ready;
        let leaves = self.data.out.valid.val() & self.take.val();
        let write_place = self.write_place.q.val();
        let head = self.head.q.val();
        let behind = head + 1;
        self.data.in_.valid.next = enters;
        self.data.in_.data.next = self.in_data.val();
        for at in 0..2 {
            self.ends[at].write_enable.next = enters;
            self.ends[at].write_address.next = write_place;
            self.ends[at].write_data.next = PayloadEnd {
                last: self.in_last.val(),
                error: self.in_error.val(),
            };
        }
        self.ends[0].read_address.next = head;
        self.ends[1].read_address.next = behind;
        if enters {
            self.write_place.d.next = write_place + 1;
        }
        self.head.d.next = if leaves { behind } else { head };
        self.end.d.next = if leaves {
            self.ends[1].read_data.val()
        } else {
            self.ends[0].read_data.val()
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
            data.out.data => out_data,
        );
        let end = self.end.q.val();
        self.out_last.next = end.last;
        self.out_error.next = end.error;
        if self.reset.val() {
            self.write_place.d.next = bits(0);
            self.head.d.next = bits(0);
            self.packets.d.next = bits(0);
        }
    }
}
