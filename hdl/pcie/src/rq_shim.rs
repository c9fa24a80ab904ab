//! Converts write TLPs to AMD's requester request stream: the descriptor in band, then the payload, one TLP at a time.

use hdl_macros::hdl;
use hdl_primitives::{Checked, Parameters, TlpSnk};
use rust_hdl::prelude::*;
use stellar_wire::hw::rq::{RqDescriptor, REQUEST_MEMORY_WRITE};

/// For 1,024 bits (CPM5, PG346): `tuser` of 373 bits, byte enables of the first TLP at bits 3:0 and 19:16.
pub type RqShim1024 = RqShim<1024, 7, 32, 373>;
/// For 512 bits (PCIE4, PCIE4C, PL PCIE5; PG213, PG343): `tuser` of 137 bits, byte enables of the first TLP at bits 3:0 and 11:8.
pub type RqShim512 = RqShim<512, 6, 16, 137>;

/// Converts write TLPs to AMD's requester request stream: the descriptor in band, then the payload, one TLP at a time.
///
/// A beat has `W` bits: `B` = log2(W / 8), and `N` = W / 32 double words. `tuser` has `U` bits.
///
/// It supports the dword-aligned mode without straddle. A TLP of `n` double words takes ceil((16 + 4 n) / (W / 8)) beats: 256 bytes are 3 beats of
/// 1,024 bits or 5 of 512, so at a maximum payload size of 256 two thirds (four fifths) of the beats' payload rate remain.
/// `tuser` carries the byte enables; a block without straddle needs no start and end positions. Output is registered.
/// Levels: 4 (last beat: subtract, thermometer).
#[derive(LogicBlock, Default)]
pub struct RqShim<const W: usize, const B: usize, const N: usize, const U: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub tlp: TlpSnk<W>,

    pub rq_tvalid: Signal<Out, Bit>,
    pub rq_tready: Signal<In, Bit>,
    pub rq_tdata: Signal<Out, Bits<W>>,
    /// One bit per double word.
    pub rq_tkeep: Signal<Out, Bits<N>>,
    pub rq_tlast: Signal<Out, Bit>,
    pub rq_tuser: Signal<Out, Bits<U>>,
    /// The shim holds no beat. If this is high after a fence of `dma_write`, all TLPs have reached the PCIe block.
    pub empty: Signal<Out, Bit>,

    valid: DFF<Bit>,
    data: DFF<Bits<W>>,
    keep: DFF<Bits<N>>,
    last: DFF<Bit>,
    user: DFF<Bits<U>>,
    /// The last 16 bytes of the previous beat, which go into the next output beat.
    carried: DFF<Bits<128>>,
    /// The TLP has ended, and the carried bytes need a beat of their own.
    flush: DFF<Bit>,
    /// `tkeep` of that beat.
    flush_keep: DFF<Bits<N>>,
}

impl<const W: usize, const B: usize, const N: usize, const U: usize> Parameters
    for RqShim<W, B, N, U>
{
    fn check() {
        assert!(
            matches!(
                (W, B, N, U),
                (512, 6, 16, 137) | (512, 6, 16, 183) | (1024, 7, 32, 373)
            ),
            "RqShim<{W}, {B}, {N}, {U}>: use <512, 6, 16, 137> (or 183), or <1024, 7, 32, 373>"
        );
    }
}

impl<const W: usize, const B: usize, const N: usize, const U: usize> Logic for RqShim<W, B, N, U> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, data, keep, last, user, carried, flush, flush_keep);
        let room = !self.valid.q.val() | self.rq_tready.val();
        let header = self.tlp.header.val();
        let beat = self.tlp.data.val();

        // make_descriptor
        let descriptor = RqDescriptor {
            at: header.at,
            address_dw: header.address_dw,
            dword_count: header.length_dw,
            request_type: bits(REQUEST_MEMORY_WRITE),
            ..Default::default()
        };
        let front = if self.tlp.first.val() {
            Bits::<128>::from(descriptor)
        } else {
            self.carried.q.val()
        };

        // Double words of this beat minus one, valid in the last beat. Together with the 4 carried ones they may not fit.
        let dwords = bit_cast::<N, 11>(header.length_dw - 1) & bits(N as u64 - 1);
        let spills = self.tlp.last.val() & (dwords > (N as u64 - 5));
        let all = bit_cast::<N, N>(Bits::<N>::mask());
        let carried = beat.get_bits::<128>(W - 128);

        if room {
            if self.flush.q.val() {
                self.valid.d.next = true;
                self.data.d.next = bit_cast::<W, 128>(self.carried.q.val());
                self.keep.d.next = self.flush_keep.q.val();
                self.last.d.next = true;
                self.flush.d.next = false;
            } else {
                self.valid.d.next = self.tlp.valid.val();
                self.data.d.next = (beat << 128) | bit_cast::<W, 128>(front);
                self.keep.d.next = if self.tlp.last.val() & !spills {
                    all >> (bits::<N>(N as u64 - 5) - dwords)
                } else {
                    all
                };
                self.last.d.next = self.tlp.last.val() & !spills;
                self.flush.d.next = self.tlp.valid.val() & spills;
                self.flush_keep.d.next = if spills {
                    all >> (bits::<N>(2 * N as u64 - 5) - dwords)
                } else {
                    all
                };
                // The carried bytes stay during a pause in the middle of a TLP.
                if self.tlp.valid.val() {
                    self.carried.d.next = carried;
                }
                // `tuser` has slots for N / 8 TLPs per beat: the first byte enables of all of them, then the last byte enables.
                self.user.d.next = bit_cast::<U, 4>(header.first_be)
                    | (bit_cast::<U, 4>(header.last_be) << (N as u64 / 2));
            }
        }

        self.tlp.ready.next = room & !self.flush.q.val();
        self.rq_tvalid.next = self.valid.q.val();
        self.rq_tdata.next = self.data.q.val();
        self.rq_tkeep.next = self.keep.q.val();
        self.rq_tlast.next = self.last.q.val();
        self.rq_tuser.next = self.user.q.val();
        self.empty.next = !self.valid.q.val() & !self.flush.q.val();

        if self.reset.val() {
            self.valid.d.next = false;
            self.flush.d.next = false;
        }
    }
}
