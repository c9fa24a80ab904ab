//! Requests of a PCIe endpoint.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{OfferSnk, Snk, TlpSnk};
use rust_hdl::prelude::*;
use stellar_wire::hw::ats::Invalidated;
use stellar_wire::hw::read::ReadTlpHeader;

use super::message_gate::LEFT_BITS;
use super::request_slots::RequestSlots;
use super::slot_packer::SlotPacker;
use crate::bundles::AxisSrc;

/// For 1,024 bits (CPM5, PG346).
pub type RequestStream1024 = RequestStream<1024, 4, 32, 1280, 2048, 373>;
/// For 512 bits (PCIE4, PCIE4C, PL PCIE5; PG213, PG343).
pub type RequestStream512 = RequestStream<512, 2, 16, 768, 1024, 137>;

/// Write TLPs, read requests and messages as AMD's requester request stream, with straddle: [`RequestSlots`] and [`SlotPacker`], with their ports and
/// parameters.
#[derive(LogicBlock, Default)]
pub struct RequestStream<
    const W: usize,
    const S: usize,
    const N: usize,
    const C: usize,
    const D: usize,
    const U: usize,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// With `reset`: the link is down. What is here and what comes is discarded, even a beat on offer.
    pub link_down: Signal<In, Bit>,

    pub write: TlpSnk<W>,
    pub revoked: Signal<In, Bit>,
    pub read: OfferSnk<ReadTlpHeader>,
    pub message: Snk<Invalidated>,
    pub rq: AxisSrc<W, N, U>,
    pub messages_left: Signal<Out, Bits<LEFT_BITS>>,

    slots: RequestSlots<W, N, C>,
    packer: SlotPacker<W, S, N, C, D, U>,
}

impl<
        const W: usize,
        const S: usize,
        const N: usize,
        const C: usize,
        const D: usize,
        const U: usize,
    > Logic for RequestStream<W, S, N, C, D, U>
{
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, slots, packer);
        join!(
            self,
            link_down => slots.link_down,
            link_down => packer.link_down,
            write => slots.write,
            revoked => slots.revoked,
            read => slots.read,
            message => slots.message,
            slots.slots => packer.slots,
            slots.reads => packer.reads,
            slots.follows => packer.follows,
            packer.rq => rq,
            packer.messages_left => messages_left,
        );
    }
}
