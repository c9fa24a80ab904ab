//! Cuts requests into slots of 32 bytes, with the descriptor in front.

use hdl_macros::{clock_reset, hdl, hdl_fn, join};
use hdl_primitives::{Checked, OfferSnk, Parameters, Snk, Src, StreamSkid, TlpSnk};
use rust_hdl::prelude::*;
use stellar_wire::hw::ats::{
    Invalidated, RqInvalidateCompletion, CODE_INVALIDATE_COMPLETION, REQUEST_ATS_MESSAGE,
    ROUTED_BY_ID,
};
use stellar_wire::hw::read::ReadTlpHeader;
use stellar_wire::hw::rq::{
    ReadSlot, RqDescriptor, SlotRun, REQUEST_MEMORY_READ, REQUEST_MEMORY_WRITE,
};
use stellar_wire::hw::FromBits;

use crate::bundles::SlotsSrc;

/// Double words of a slot, and of the descriptor.
const SLOT_DWORDS: u64 = 8;
const DESCRIPTOR_DWORDS: u64 = 4;

/// Copies of an Invalidate Completion: the card uses one traffic class.
const COMPLETION_COUNT: u64 = 1;

/// The descriptor of an Invalidate Completion.
#[hdl_fn]
fn completion_of(invalidated: Invalidated) -> Bits<128> {
    let target = invalidated.target;
    let itags = invalidated.itags;
    let descriptor = RqInvalidateCompletion {
        target_bus: target.get_bits::<8>(8),
        target_function: target.get_bits::<8>(0),
        count: bits(COMPLETION_COUNT),
        itags_24: itags.get_bits::<8>(24),
        itags_16: itags.get_bits::<8>(16),
        itags_8: itags.get_bits::<8>(8),
        itags_0: itags.get_bits::<8>(0),
        request_type: bits(REQUEST_ATS_MESSAGE),
        code: bits(CODE_INVALIDATE_COMPLETION),
        routing: bits(ROUTED_BY_ID),
        ..Default::default()
    };
    Bits::<128>::from(descriptor)
}

/// Cuts write TLPs into slots of 32 bytes, with the descriptor in front, and makes a slot of each read request and of each message.
///
/// Messages go the way of reads, so they stay behind the writes that came before them. PCIe orders them so, too: both are posted.
///
/// A beat has `W` bits, which are `N` double words. It becomes up to `W` / 256 + 1 slots, `C` = `W` + 256 bits: 16 bytes of a TLP stay behind until
/// its next beat. Levels: 4 (slots of the last beat).
#[derive(LogicBlock, Default)]
pub struct RequestSlots<const W: usize, const N: usize, const C: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// Discards the TLP in progress: reset its source at the same time.
    pub reset: Signal<In, Bit>,
    /// With `reset`: writes are taken, and discarded.
    pub link_down: Signal<In, Bit>,

    pub write: TlpSnk<W>,
    /// The write on offer is taken, and discarded: a message of a masked vector, which is one beat.
    pub revoked: Signal<In, Bit>,
    pub read: OfferSnk<ReadTlpHeader>,
    /// Becomes an Invalidate Completion.
    pub message: Snk<Invalidated>,
    pub slots: SlotsSrc<C>,
    pub reads: Src<ReadSlot>,
    /// The next cycle has slots too.
    pub follows: Signal<Out, Bit>,

    /// The last 16 bytes of the beat before.
    carried: DFF<Bits<128>>,
    valid: DFF<Bit>,
    run: DFF<SlotRun>,
    data: DFF<Bits<C>>,
    /// Reads and messages that wait for their place. No path leads from the packing of beats to who reads: a second one may wait here.
    waiting: StreamSkid<ReadSlot>,
}

impl<const W: usize, const N: usize, const C: usize> Parameters for RequestSlots<W, N, C> {
    fn check() {
        assert!(
            matches!((W, N, C), (512, 16, 768) | (1024, 32, 1280)),
            "RequestSlots<{W}, {N}, {C}>: use <512, 16, 768> or <1024, 32, 1280>"
        );
    }
}

impl<const W: usize, const N: usize, const C: usize> Logic for RequestSlots<W, N, C> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, carried, valid, run, data);
        clock_reset!(self, waiting);

        // cut: the last beat ends with all its double words and those that stayed behind; every other one fills whole slots.
        let write = self.write.header.val();
        let room = !self.valid.q.val() | self.slots.ready.val() | self.link_down.val();
        let first = self.write.first.val();
        let last = self.write.last.val();
        let beat = self.write.data.val();
        let request = RqDescriptor {
            at: write.at,
            address_dw: write.address_dw,
            dword_count: write.length_dw,
            request_type: bits(REQUEST_MEMORY_WRITE),
            ..Default::default()
        };
        let front = if first {
            Bits::<128>::from(request)
        } else {
            self.carried.q.val()
        };
        let in_beat = (write.length_dw - 1).get_bits::<6>(0) & bits::<6>(N as u64 - 1);
        let end_dword = in_beat + DESCRIPTOR_DWORDS;
        let last_slot = end_dword.get_bits::<3>(3);
        let whole = (beat << 128) | bit_cast::<W, 128>(front);
        let revoked = self.revoked.val();
        self.write.ready.next = room | revoked;
        if room {
            self.valid.d.next = self.write.valid.val() & !revoked;
            self.run.d.next = SlotRun {
                count: if last {
                    last_slot + 1
                } else {
                    bits::<3>(N as u64 / SLOT_DWORDS)
                },
                overflows: last & (last_slot == N as u64 / SLOT_DWORDS),
                first,
                last,
                end_dword: end_dword.get_bits::<3>(0),
                first_be: write.first_be,
                last_be: write.last_be,
                message: write.message,
            };
            self.data.d.next = if last {
                (bit_cast::<C, W>(beat) << 128) | bit_cast::<C, 128>(front)
            } else {
                bit_cast::<C, W>(whole)
            };
        }
        if room & self.write.valid.val() & !revoked {
            self.carried.d.next = beat.get_bits::<128>(W - 128);
        }
        self.slots.valid.next = self.valid.q.val();
        self.slots.run.next = self.run.q.val();
        self.slots.data.next = self.data.q.val();

        // ask
        let read = self.read.record.val();
        let read_room = self.waiting.in_.ready.val();
        let has_message = self.message.valid.val();
        self.message.ready.next = read_room;
        self.read.ready.next = read_room & !has_message;
        self.waiting.in_.valid.next = has_message | self.read.valid.val();
        self.waiting.in_.data.next = if has_message {
            ReadSlot {
                descriptor: RqDescriptor::from_bits(completion_of(self.message.record.val())),
                first_be: bits(0),
                last_be: bits(0),
            }
        } else {
            ReadSlot {
                descriptor: RqDescriptor {
                    at: read.at,
                    address_dw: read.address_dw,
                    dword_count: read.length_dw,
                    request_type: bits(REQUEST_MEMORY_READ),
                    tag: read.tag,
                    ..Default::default()
                },
                first_be: read.first_be,
                last_be: read.last_be,
            }
        };
        join!(
            self,
            waiting.out.valid => reads.valid,
            waiting.out.data => reads.record,
            reads.ready => waiting.out.ready,
        );
        // If there is no room, a second read waits, and is offered in the next cycle.
        self.follows.next =
            (self.write.valid.val() & !revoked) | self.read.valid.val() | has_message | !read_room;

        if self.reset.val() {
            self.valid.d.next = false;
        }
    }
}
