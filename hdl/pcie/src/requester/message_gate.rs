//! Interrupt messages in front of the request stream.

use hdl_macros::hdl;
use hdl_primitives::FlowSrc;
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::WriteTlpHeader;

/// Bits of the number of messages in the stream: one in `request_slots`, and in `slot_packer` eight that wait and four in the beat on offer.
pub const INSIDE_BITS: usize = 4;
/// Bits of the number of messages in a beat.
pub const LEFT_BITS: usize = 3;

/// Looks at the writes that enter the request stream, and takes back the message of a vector that is masked by now.
///
/// A function sends no message of a masked vector (PCIe base specification, section 6.1.4). A message waits for the writes in front of it, so its mask may
/// have come after it was made. Behind this gate nothing can be taken back, because beats on offer stay; so it counts the messages there. Levels: 4 (bit of a
/// vector).
#[derive(LogicBlock, Default)]
pub struct MessageGate {
    pub clock: Signal<In, Clock>,
    /// Forgets the messages in the stream.
    pub reset: Signal<In, Bit>,

    /// Bit v: vector v may send.
    pub permits: Signal<In, Bits<64>>,

    // A write in front of the stream.
    pub valid: Signal<In, Bit>,
    pub header: Signal<In, WriteTlpHeader>,
    pub ready: Signal<In, Bit>,
    /// The stream takes the write if there is one, and discards it.
    pub revoked: Signal<Out, Bit>,
    /// The vector is to be pending again.
    pub returned: FlowSrc<Bits<6>>,

    /// Messages that have left with a beat.
    pub left: Signal<In, Bits<LEFT_BITS>>,
    /// Messages in the stream.
    pub waiting: Signal<Out, Bits<INSIDE_BITS>>,

    allowed: DFF<Bits<64>>,
    count: DFF<Bits<INSIDE_BITS>>,
    returns: DFF<Bit>,
    vector: DFF<Bits<6>>,
}

impl Logic for MessageGate {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, allowed, count, returns, vector);
        self.allowed.d.next = self.permits.val();
        let header = self.header.val();
        let may_send = ((self.allowed.q.val() >> header.vector) & 1).any();
        let comes = self.valid.val() & header.message;
        let passes = comes & may_send & self.ready.val();
        // The header alone, because `ready` of every write depends on it.
        self.revoked.next = header.message & !may_send;
        self.returns.d.next = comes & !may_send;
        self.vector.d.next = header.vector;
        self.returned.valid.next = self.returns.q.val();
        self.returned.record.next = self.vector.q.val();

        self.count.d.next = self.count.q.val() + bit_cast::<INSIDE_BITS, 1>(passes.into())
            - bit_cast::<INSIDE_BITS, LEFT_BITS>(self.left.val());
        self.waiting.next = self.count.q.val();

        if self.reset.val() {
            self.count.d.next = bits(0);
            self.returns.d.next = false;
        }
    }
}
