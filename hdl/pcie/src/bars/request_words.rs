//! Takes the requests of the host apart: writes into 64-bit words, and everything else into whole requests.

use hdl_macros::hdl;
use hdl_primitives::{Checked, Parameters, Src};
use rust_hdl::prelude::*;
use stellar_wire::hw::completer::{
    BarAccess, CompleterWork, CqDescriptor, CQ_DWORDS, REQUEST_MEMORY_WRITE, REQUEST_MESSAGE,
};
use stellar_wire::hw::FromBits;
use stellar_wire::pcie::sideband::completer_request::discontinue;

use crate::bundles::AxisSnk;

/// For 1,024 bits (CPM5, PG346): `tuser` of 465 bits, the byte enables of the first TLP at bits 3:0 and 19:16, `discontinue` at bit 196: behind
/// 128 byte enables, 4 starts with positions of 2 bits and 4 ends with positions of 5 bits.
pub type RequestWords1024 = RequestWords<1024, 32, 465, 196>;
/// For 512 bits (PCIE4, PCIE4C, PL PCIE5; PG213, PG343): `tuser` of 183 bits, the byte enables at bits 3:0 and 11:8, `discontinue` at bit 96.
pub type RequestWords512 = RequestWords<512, 16, 183, 96>;

/// Takes AMD's completer request stream apart. A memory write becomes accesses to aligned 64-bit words, one per cycle; an access without a byte to write
/// is left out. A request that needs a completion becomes one record. Messages are dropped: [`crate::ats`] looks
/// at the stream for those that matter.
///
/// A beat has `W` bits, which are `N` = W / 32 double words. `tuser` has `U` bits, of which bit `D` is `discontinue`.
///
/// The stream is in the dword-aligned mode without straddle. A beat is stored, and leaves word by word from the low end, so one beat of a single word
/// per cycle passes. A word whose halves are in two beats waits for the second. `discontinue` in a beat means an uncorrectable error in the block's
/// memories: nothing of that beat is written. Levels: 8 (byte enables, what is left, ready).
#[derive(LogicBlock, Default)]
pub struct RequestWords<const W: usize, const N: usize, const U: usize, const D: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// Discards the request in progress, and what follows of it.
    pub reset: Signal<In, Bit>,

    pub cq: AxisSnk<W, N, U>,
    pub work: Src<CompleterWork>,
    /// Counter: one cycle per beat that the block had marked as damaged.
    pub damaged: Signal<Out, Bit>,

    /// A request has begun, and its last beat has not come.
    open: DFF<Bit>,
    /// The rest of this request is dropped.
    drops: DFF<Bit>,
    /// The request, and its byte enables.
    descriptor: DFF<CqDescriptor>,
    first_be: DFF<Bits<4>>,
    last_be: DFF<Bits<4>>,
    /// The request in `descriptor` needs a completion, and is at the output.
    completes: DFF<Bit>,
    /// What is left of the beat, the next double word lowest.
    data: DFF<Bits<W>>,
    /// Double words of the write in `data`.
    lanes: DFF<Bits<6>>,
    /// Double words of the write that have not left.
    left: DFF<Bits<11>>,
    /// The next double word is the first of the write.
    first: DFF<Bit>,
    /// The low half of the next word has come, or is not part of the write.
    has_low: DFF<Bit>,
    low: DFF<Bits<32>>,
    low_enable: DFF<Bits<4>>,
    /// Next word, in the BAR.
    address: DFF<Bits<28>>,
    counts_damaged: DFF<Bit>,
}

impl<const W: usize, const N: usize, const U: usize, const D: usize> Parameters
    for RequestWords<W, N, U, D>
{
    fn check() {
        assert!(
            matches!((W, N, U, D), (512, 16, 183, 96) | (1024, 32, 465, 196))
                && D == discontinue(W),
            "RequestWords<{W}, {N}, {U}, {D}>: use <512, 16, 183, 96> or <1024, 32, 465, 196>"
        );
    }
}

impl<const W: usize, const N: usize, const U: usize, const D: usize> Logic
    for RequestWords<W, N, U, D>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, open, drops, descriptor, first_be, last_be, completes);
        dff_setup!(self, clock, data, lanes, left, first, has_low, low, low_enable);
        dff_setup!(self, clock, address, counts_damaged);

        // next_word: two double words, or one beside a half that waits. The last double word may be alone.
        let lanes = self.lanes.q.val();
        let left = self.left.q.val();
        let has_low = self.has_low.q.val();
        let front = self.data.q.val().get_bits::<32>(0);
        let behind = self.data.q.val().get_bits::<32>(32);
        let any = lanes.any();
        let alone = lanes == bits::<6>(1);
        let front_is_last = left == bits::<11>(1);
        let behind_is_last = left == bits::<11>(2);
        let front_enable = if self.first.q.val() {
            self.first_be.q.val()
        } else if front_is_last {
            self.last_be.q.val()
        } else {
            bits::<4>(15)
        };
        let behind_enable = if front_is_last {
            bits::<4>(0)
        } else if behind_is_last {
            self.last_be.q.val()
        } else {
            bits::<4>(15)
        };
        // The other half of the word is in the next beat.
        let stores_low = !has_low & alone & !front_is_last;
        let takes_two = !has_low & !alone;
        let low = if has_low { self.low.q.val() } else { front };
        let high = if has_low { front } else { behind };
        let low_enable = if has_low {
            self.low_enable.q.val()
        } else {
            front_enable
        };
        let high_enable = if has_low { front_enable } else { behind_enable };
        let writes = any & !stores_low & (low_enable.any() | high_enable.any());

        // offer
        let completes = self.completes.q.val();
        let descriptor = self.descriptor.q.val();
        self.work.valid.next = completes | writes;
        self.work.record.next = CompleterWork {
            completes,
            descriptor,
            first_be: self.first_be.q.val(),
            last_be: self.last_be.q.val(),
            word: BarAccess {
                write: true,
                bar: descriptor.bar_id,
                address: self.address.q.val(),
                data: (bit_cast::<64, 32>(high) << 32) | bit_cast::<64, 32>(low),
                enable: (bit_cast::<8, 4>(high_enable) << 4) | bit_cast::<8, 4>(low_enable),
            },
        };

        // step: the word leaves, or its low half is stored.
        let steps = any & (self.work.ready.val() | !writes);
        let by = if takes_two {
            bits::<6>(2)
        } else {
            bits::<6>(1)
        };
        let left_after = left - bit_cast::<11, 6>(by);
        if steps {
            self.left.d.next = left_after;
            self.data.d.next = if takes_two {
                self.data.q.val() >> 64
            } else {
                self.data.q.val() >> 32
            };
            self.lanes.d.next = lanes - by;
            self.first.d.next = false;
            self.has_low.d.next = stores_low;
            self.low.d.next = front;
            self.low_enable.d.next = front_enable;
            if !stores_low {
                self.address.d.next = self.address.q.val() + 8;
            }
        }
        if self.work.ready.val() {
            self.completes.d.next = false;
        }

        // take_beat
        let beat = self.cq.tdata.val();
        let begins = !self.open.q.val();
        let ends_beat = steps & (lanes == by);
        let ready = (!any | ends_beat) & (!completes | self.work.ready.val());
        let takes = ready & self.cq.tvalid.val();
        let damaged = self.cq.tuser.val().get_bit(D);
        let drops = damaged | (self.drops.q.val() & !begins);
        let arriving = CqDescriptor::from_bits(beat);
        let request_type = if begins {
            arriving.request_type
        } else {
            descriptor.request_type
        };
        let is_write = request_type == REQUEST_MEMORY_WRITE;
        let is_message = request_type >= REQUEST_MESSAGE;
        // The last word of the beat before leaves in this cycle, unless it has left before.
        let due = if begins {
            arriving.dword_count
        } else if any {
            left_after
        } else {
            left
        };
        let room = if begins {
            bits::<11>((N - CQ_DWORDS) as u64)
        } else {
            bits::<11>(N as u64)
        };
        let fits = if due < room { due } else { room };
        self.cq.tready.next = ready;
        self.counts_damaged.d.next = takes & damaged;
        self.damaged.next = self.counts_damaged.q.val();
        if takes {
            self.open.d.next = !self.cq.tlast.val();
            self.drops.d.next = drops;
            self.data.d.next = if begins {
                beat >> (32 * CQ_DWORDS as u64)
            } else {
                beat
            };
            self.lanes.d.next = if is_write & !drops {
                bit_cast::<6, 11>(fits)
            } else {
                bits::<6>(0)
            };
        }
        if takes & begins {
            self.descriptor.d.next = arriving;
            self.first_be.d.next = self.cq.tuser.val().get_bits::<4>(0);
            self.last_be.d.next = self.cq.tuser.val().get_bits::<4>(N / 2);
            self.completes.d.next = !is_write & !is_message & !damaged;
            self.left.d.next = arriving.dword_count;
            self.first.d.next = true;
            self.has_low.d.next = arriving.address_dw.get_bit(0);
            self.low_enable.d.next = bits::<4>(0);
            self.address.d.next = bit_cast::<28, 25>(arriving.address_dw.get_bits::<25>(1)) << 3;
        }

        // The rest of a request that has begun is dropped.
        if self.reset.val() {
            self.drops.d.next = true;
            self.lanes.d.next = bits::<6>(0);
            self.completes.d.next = false;
        }
    }
}
