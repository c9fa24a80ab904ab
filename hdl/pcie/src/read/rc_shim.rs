//! Converts AMD's requester completion stream to completions: the descriptor leaves the stream and becomes the header.

use hdl_macros::hdl;
use hdl_primitives::{Checked, CompletionSrc, Parameters};
use rust_hdl::prelude::*;
use stellar_wire::hw::read::{rc_descriptor, CompletionHeader, STATUS_SUCCESSFUL};

/// For 1,024 bits (CPM5, PG346): `tuser` of 337 bits. `discontinue` is bit 208: behind 128 byte enables, 8 starts with positions of 3 bits and
/// 8 ends with positions of 5 bits, before 128 parity bits.
pub type RcShim1024 = RcShim<1024, 32, 337, 208>;
/// For 512 bits (PCIE4, PCIE4C, PL PCIE5; PG213, PG343): `tuser` of 161 bits, `discontinue` is bit 96.
pub type RcShim512 = RcShim<512, 16, 161, 96>;

/// Double words of the descriptor.
const DESCRIPTOR_DWORDS: usize = rc_descriptor::BITS / 32;

/// Converts AMD's requester completion stream to completions: the descriptor leaves the stream and becomes the header.
///
/// A beat has `W` bits, which are `N` = W / 32 double words. `tuser` has `U` bits, of which bit `D` is `discontinue`.
///
/// The shim is for the dword-aligned mode without straddle, and never stalls. The 12-byte descriptor shifts the payload, so each output beat consists
/// of the rest of one input beat and the first 12 bytes of the next. Every input beat is therefore stored until the next one arrives. The rest of the
/// last beat leaves one cycle later as a beat of its own; the next completion may begin to arrive in that cycle. Payload passes in two cycles.
///
/// If AMD's block reports an error (code above 1), there are two cases. If that block regards the request as ended, the completion gets a failing
/// status, and the DMA read engine frees its tag. Otherwise it becomes a completion without data, and the engine quarantines the tag. `discontinue`
/// at the end means an uncorrectable error in the block's memories; it becomes `completion_error`. Levels: 3.
#[derive(LogicBlock, Default)]
pub struct RcShim<const W: usize, const N: usize, const U: usize, const D: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub rc_tvalid: Signal<In, Bit>,
    /// Always high.
    pub rc_tready: Signal<Out, Bit>,
    pub rc_tdata: Signal<In, Bits<W>>,
    /// One bit per double word.
    pub rc_tkeep: Signal<In, Bits<N>>,
    pub rc_tlast: Signal<In, Bit>,
    pub rc_tuser: Signal<In, Bits<U>>,

    /// The completion as header and data. The header is the same on every beat of a completion.
    pub completion: CompletionSrc<W>,

    /// A completion has begun and not ended.
    open: DFF<Bit>,
    /// The beat in `held_data` is incomplete until the next beat arrives, or leaves alone.
    held: DFF<Bit>,
    held_last: DFF<Bit>,
    held_error: DFF<Bit>,
    held_data: DFF<Bits<W>>,
    header: DFF<CompletionHeader>,
    valid: DFF<Bit>,
    data: DFF<Bits<W>>,
    last: DFF<Bit>,
    error: DFF<Bit>,
    out_header: DFF<CompletionHeader>,
}

impl<const W: usize, const N: usize, const U: usize, const D: usize> Parameters
    for RcShim<W, N, U, D>
{
    fn check() {
        assert!(
            matches!((W, N, U, D), (512, 16, 161, 96) | (1024, 32, 337, 208)),
            "RcShim<{W}, {N}, {U}, {D}>: use <512, 16, 161, 96> or <1024, 32, 337, 208>"
        );
    }
}

impl<const W: usize, const N: usize, const U: usize, const D: usize> Logic for RcShim<W, N, U, D> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, open, held, held_last, held_error, held_data, header);
        dff_setup!(self, clock, valid, data, last, error, out_header);
        let arrives = self.rc_tvalid.val();
        let beat = self.rc_tdata.val();
        let first = !self.open.q.val();
        let ends = self.rc_tlast.val();
        let discontinued = self.rc_tuser.val().get_bit(D);

        // read_descriptor
        let status = beat.get_bits::<3>(rc_descriptor::STATUS);
        let wrong =
            beat.get_bits::<4>(rc_descriptor::ERROR_CODE) > rc_descriptor::ERROR_CODE_POISONED;
        let over = beat.get_bit(rc_descriptor::REQUEST_COMPLETED);
        if arrives & first {
            self.header.d.next = CompletionHeader {
                tag: beat.get_bits::<8>(rc_descriptor::TAG),
                byte_count: beat.get_bits::<13>(rc_descriptor::BYTE_COUNT),
                lower_address: beat.get_bits::<7>(rc_descriptor::LOWER_ADDRESS),
                length_dw: if wrong {
                    bits(0)
                } else {
                    beat.get_bits::<11>(rc_descriptor::DWORD_COUNT)
                },
                status: if wrong & over {
                    status | 4
                } else if wrong {
                    bits(STATUS_SUCCESSFUL)
                } else {
                    status
                },
                poisoned: beat.get_bit(rc_descriptor::POISONED),
            };
        }

        // hold_beat: the last one has a beat of its own if it holds more than completes its predecessor.
        let remains = first | !ends | self.rc_tkeep.val().get_bit(DESCRIPTOR_DWORDS);
        let flush = self.held.q.val() & self.held_last.q.val();
        let joins = self.held.q.val() & !self.held_last.q.val() & arrives;
        if arrives {
            self.open.d.next = !ends;
            self.held.d.next = remains;
            self.held_last.d.next = ends;
            self.held_error.d.next = discontinued;
            self.held_data.d.next = beat;
        } else if flush {
            self.held.d.next = false;
        }

        // send
        let rest = self.held_data.q.val() >> (rc_descriptor::BITS as u64);
        let front = bit_cast::<W, 96>(beat.get_bits::<96>(0));
        self.valid.d.next = flush | joins;
        self.data.d.next = if flush {
            rest
        } else {
            rest | (front << (W as u64 - rc_descriptor::BITS as u64))
        };
        self.last.d.next = flush | !remains;
        self.error.d.next = if flush {
            self.held_error.q.val()
        } else {
            discontinued
        };
        self.out_header.d.next = self.header.q.val();

        self.rc_tready.next = true;
        self.completion.valid.next = self.valid.q.val();
        self.completion.record.next = self.out_header.q.val();
        self.completion.data.next = self.data.q.val();
        self.completion.last.next = self.last.q.val();
        self.completion.error.next = self.error.q.val();

        if self.reset.val() {
            self.open.d.next = false;
            self.held.d.next = false;
            self.valid.d.next = false;
        }
    }
}
