//! Cuts requests into slots of 32 bytes, with the descriptor in front.

use hdl_macros::hdl;
use hdl_primitives::{Checked, OfferSnk, Parameters, TlpSnk};
use rust_hdl::prelude::*;
use stellar_wire::hw::read::ReadTlpHeader;
use stellar_wire::hw::rq::{RqDescriptor, SlotRun, REQUEST_MEMORY_READ, REQUEST_MEMORY_WRITE};

use crate::bundles::SlotsSrc;

/// Double words of a slot, and of the descriptor.
const SLOT_DWORDS: u64 = 8;
const DESCRIPTOR_DWORDS: u64 = 4;

/// Cuts write TLPs and read requests into slots of 32 bytes, each TLP with its descriptor in front. Writes and reads take turns, TLP by TLP, and a
/// read stays behind the writes that were accepted before it.
///
/// A beat has `W` bits, which are `N` double words. It becomes up to `W` / 256 + 1 slots, `C` = `W` + 256 bits: 16 bytes of a TLP stay behind until
/// its next beat. Levels: 4 (slots of the last beat).
#[derive(LogicBlock, Default)]
pub struct RequestSlots<const W: usize, const N: usize, const C: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// Discards the TLP in progress: reset its source at the same time.
    pub reset: Signal<In, Bit>,

    pub write: TlpSnk<W>,
    pub read: OfferSnk<ReadTlpHeader>,
    pub slots: SlotsSrc<C>,
    /// The next cycle has slots too.
    pub follows: Signal<Out, Bit>,

    /// A write has begun, and its last beat has not come.
    open: DFF<Bit>,
    /// The last TLP was a read.
    read_last: DFF<Bit>,
    /// The last 16 bytes of the beat before.
    carried: DFF<Bits<128>>,
    valid: DFF<Bit>,
    run: DFF<SlotRun>,
    data: DFF<Bits<C>>,
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
        dff_setup!(self, clock, open, read_last, carried, valid, run, data);
        let write = self.write.header.val();
        let read = self.read.record.val();

        // choose
        let open = self.open.q.val();
        let write_valid = self.write.valid.val();
        let read_valid = self.read.valid.val();
        let reads = !open & read_valid & (!write_valid | !self.read_last.q.val());
        let room = !self.valid.q.val() | self.slots.ready.val();
        let offered = write_valid | reads;
        self.write.ready.next = room & !reads;
        self.read.ready.next = room & reads;
        self.follows.next = offered;

        // make_descriptor
        let request = RqDescriptor {
            at: if reads { read.at } else { write.at },
            address_dw: if reads {
                read.address_dw
            } else {
                write.address_dw
            },
            dword_count: if reads {
                read.length_dw
            } else {
                write.length_dw
            },
            request_type: if reads {
                bits(REQUEST_MEMORY_READ)
            } else {
                bits(REQUEST_MEMORY_WRITE)
            },
            tag: if reads { read.tag } else { bits(0) },
            ..Default::default()
        };
        let descriptor = Bits::<128>::from(request);

        // cut: the last beat ends with all its double words and those that stayed behind; every other one fills whole slots.
        let beat = self.write.data.val();
        let first = reads | self.write.first.val();
        let last = reads | self.write.last.val();
        let front = if first {
            descriptor
        } else {
            self.carried.q.val()
        };
        let in_beat = (write.length_dw - 1).get_bits::<6>(0) & bits::<6>(N as u64 - 1);
        let end_dword = if reads {
            bits::<6>(DESCRIPTOR_DWORDS - 1)
        } else {
            in_beat + DESCRIPTOR_DWORDS
        };
        let whole = (beat << 128) | bit_cast::<W, 128>(front);
        if room {
            self.valid.d.next = offered;
            self.run.d.next = SlotRun {
                count: if last {
                    end_dword.get_bits::<3>(3) + 1
                } else {
                    bits::<3>(N as u64 / SLOT_DWORDS)
                },
                first,
                last,
                end_dword: end_dword.get_bits::<3>(0),
                first_be: if reads { read.first_be } else { write.first_be },
                last_be: if reads { read.last_be } else { write.last_be },
            };
            self.data.d.next = if reads {
                bit_cast::<C, 128>(front)
            } else if last {
                (bit_cast::<C, W>(beat) << 128) | bit_cast::<C, 128>(front)
            } else {
                bit_cast::<C, W>(whole)
            };
        }
        if room & offered {
            self.open.d.next = !last;
            self.read_last.d.next = reads;
        }
        if room & write_valid & !reads {
            self.carried.d.next = beat.get_bits::<128>(W - 128);
        }

        self.slots.valid.next = self.valid.q.val();
        self.slots.run.next = self.run.q.val();
        self.slots.data.next = self.data.q.val();

        if self.reset.val() {
            self.open.d.next = false;
            self.valid.d.next = false;
        }
    }
}
