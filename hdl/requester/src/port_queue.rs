//! Packets that wait for a port.

use hdl_macros::{clock_reset, hdl, hdl_fn, join};
use hdl_primitives::{FlowSnk, Src, SyncFifo};
use rust_hdl::prelude::*;
use stellar_wire::hw::requester::TxRequest;
use stellar_wire::mtu::LENGTH_BITS;
use stellar_wire::rows::BURST_PACKETS;

/// Depth of the queue: two bursts. An operation starts only if a full burst fits and less than `ENOUGH` bytes of payload are queued. `ENOUGH`
/// bytes take more line time than two operations, so the port does not idle. The limit also bounds the queueing delay of other queue pairs.
const PACKETS_BITS: usize = 6;
const BURST: u64 = BURST_PACKETS as u64;
const ENOUGH: u64 = 8192;

/// Returns whether the queue accepts a burst.
#[hdl_fn]
fn has_space(packets: Bits<7>, bytes: Bits<19>) -> Bit {
    (packets <= BURST) & (bytes < ENOUGH)
}

/// Returns the payload bytes of `packet` if it `moves`, otherwise 0.
#[hdl_fn]
fn length_if(moves: Bit, packet: TxRequest) -> Bits<LENGTH_BITS> {
    if moves {
        packet.length
    } else {
        bits::<LENGTH_BITS>(0)
    }
}

/// Returns the bytes queued after one packet entered and one left. Levels: two carry chains.
#[hdl_fn]
fn bytes_after(bytes: Bits<19>, came: Bits<LENGTH_BITS>, left: Bits<LENGTH_BITS>) -> Bits<19> {
    (bytes + bit_cast::<19, LENGTH_BITS>(came)) - bit_cast::<19, LENGTH_BITS>(left)
}

/// Queue of the packets of one port, which counts their bytes.
#[derive(LogicBlock, Default)]
pub struct PortQueue {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// There is space for each packet of a burst that began when there was `space`.
    pub in_: FlowSnk<TxRequest>,
    pub out: Src<TxRequest>,
    /// The queue had space for a burst a cycle ago. No burst of a port is chosen before the last packet of the one before it is counted.
    pub space: Signal<Out, Bit>,

    packets: SyncFifo<TxRequest, PACKETS_BITS, { PACKETS_BITS + 1 }>,
    /// Payload bytes queued in `packets`, but for those of `entered`.
    bytes: DFF<Bits<19>>,
    /// Payload bytes of the packet that entered a cycle ago: its length comes late in a cycle, from the memory of messages.
    entered: DFF<Bits<LENGTH_BITS>>,
    space_held: DFF<Bit>,
}

impl Logic for PortQueue {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, bytes, entered, space_held);
        clock_reset!(self, packets);
        let packet = self.in_.record.val();
        let enters = self.in_.valid.val();
        let leaves = self.packets.out.valid.val() & self.out.ready.val();
        let bytes = self.bytes.q.val();
        let entered = self.entered.q.val();
        assert!(
            !enters | self.packets.in_.ready.val(),
            "a packet finds no space in the queue of its port"
        );
        self.packets.in_.valid.next = enters;
        self.packets.in_.data.next = packet;
        join!(self, packets.out => out);
        self.space_held.d.next = has_space(
            self.packets.count.val(),
            bytes + bit_cast::<19, LENGTH_BITS>(entered),
        );
        self.space.next = self.space_held.q.val();
        self.entered.d.next = length_if(enters & !self.reset.val(), packet);
        self.bytes.d.next = bytes_after(
            bytes,
            entered,
            length_if(leaves, self.packets.out.data.val()),
        );
        if self.reset.val() {
            self.bytes.d.next = bits::<19>(0);
        }
    }
}
