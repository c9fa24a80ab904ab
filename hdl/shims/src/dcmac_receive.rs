//! Frames of a 200G port of AMD's DCMAC to beats of 1,024 bits.

use hdl_macros::hdl;
use hdl_primitives::{ByteMask, MacRxSrc};
use rust_hdl::prelude::*;

use crate::bundles::DcmacSegmentSnk;
use crate::segment_cycle::{first_of, second_of, SegmentCycle};

/// Shifts the segments of each frame to the low end of beats. Everything is on the MAC's clock, 390.625 MHz.
///
/// A frame begins at any segment, right behind the end of the one before (PG369). A beat takes 8 segments. So a cycle of 4 segments completes at most two beats:
/// a full one, and the last one of a frame of which segments are left. The second of them waits in `held` and leaves in the next cycle; if that completes a beat
/// too, that one waits. `held` does not overflow: a frame has 4 segments at least, so frames have no more beats than cycles, and one whose last cycle completes
/// two beats has completed none in the cycle before.
///
/// A frame without its beginning, behind a reset, is skipped. Frames of less than 49 bytes, which the MAC does not deliver, are not supported.
///
/// Latency 5. LUT levels: 2, and multiplexers behind them.
#[derive(LogicBlock, Default)]
pub struct DcmacReceive {
    pub clock: Signal<In, Clock>,
    /// The MAC is in reset. A frame that is under way is lost; its beats that have left end without a last one.
    pub reset: Signal<In, Bit>,

    pub rx_axis_tvalid: Signal<In, Bit>,
    pub rx_axis: [DcmacSegmentSnk; 4],
    pub rx: MacRxSrc<1024>,

    // The cycle as it came.
    valid: DFF<Bit>,
    data: DFF<Bits<512>>,
    ena: DFF<Bits<4>>,
    sop: DFF<Bits<4>>,
    eop: DFF<Bits<4>>,
    err: DFF<Bits<4>>,
    mty: DFF<Bits<16>>,
    valid_bytes: ByteMask<512, 64>,
    /// A frame is under way behind the cycles so far.
    open: DFF<Bit>,

    // The cycle by frames.
    cycle_valid: DFF<Bit>,
    cycle: DFF<SegmentCycle>,
    /// Segments of the frame under way in its last beat, in front of `cycle`.
    fill: DFF<Bits<3>>,

    // Its segments at their places in beats: the beat that is under way, and what is beyond it.
    placed_valid: DFF<Bit>,
    placed: DFF<Bits<1408>>,
    /// Segments of the frame under way in its beat and beyond.
    total: DFF<Bits<4>>,
    ends: DFF<Bit>,
    begins: DFF<Bit>,
    second: DFF<Bits<384>>,
    empty: DFF<Bits<4>>,
    error: DFF<Bit>,

    /// The beat under way; zero behind its segments.
    beat: DFF<Bits<1024>>,

    // The beat that waits.
    held: DFF<Bit>,
    held_data: DFF<Bits<1024>>,
    held_bytes: DFF<Bits<8>>,
    held_last: DFF<Bit>,
    held_error: DFF<Bit>,

    offers: DFF<Bit>,
    out_data: DFF<Bits<1024>>,
    out_bytes: DFF<Bits<8>>,
    out_last: DFF<Bit>,
    out_error: DFF<Bit>,
}

impl Logic for DcmacReceive {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, data, ena, sop, eop, err, mty, open);
        dff_setup!(self, clock, cycle_valid, cycle, fill);
        dff_setup!(
            self,
            clock,
            placed_valid,
            placed,
            total,
            ends,
            begins,
            second,
            empty,
            error,
            beat
        );
        dff_setup!(self, clock, held, held_data, held_bytes, held_last, held_error);
        dff_setup!(self, clock, offers, out_data, out_bytes, out_last, out_error);

        // As it came.
        self.valid.d.next = self.rx_axis_tvalid.val();
        let mut data = bits::<512>(0);
        let mut ena = bits::<4>(0);
        let mut sop = bits::<4>(0);
        let mut eop = bits::<4>(0);
        let mut err = bits::<4>(0);
        let mut mty = bits::<16>(0);
        for i in 0..4 {
            data = data | (bit_cast::<512, 128>(self.rx_axis[i].tdata.val()) << (128 * i as u64));
            ena = ena.replace_bit(i, self.rx_axis[i].ena.val());
            sop = sop.replace_bit(i, self.rx_axis[i].sop.val());
            eop = eop.replace_bit(i, self.rx_axis[i].eop.val());
            err = err.replace_bit(i, self.rx_axis[i].err.val());
            mty = mty | (bit_cast::<16, 4>(self.rx_axis[i].mty.val()) << (4 * i as u64));
        }
        self.data.d.next = data;
        self.ena.d.next = ena;
        self.sop.d.next = sop;
        self.eop.d.next = eop & ena;
        self.err.d.next = err;
        self.mty.d.next = mty;

        // By frames.
        let came = self.valid.q.val() & self.ena.q.val().get_bit(0);
        let sops = self.sop.q.val() & self.ena.q.val();
        let eops = self.eop.q.val();
        let mut count = bits::<3>(4);
        let mut empty = bits::<4>(0);
        let mut error = false;
        let mut begins = false;
        for i in (0..4).rev() {
            count = if eops.get_bit(i) {
                bits::<3>(i as u64 + 1)
            } else {
                count
            };
            empty = if eops.get_bit(i) {
                self.mty.q.val().get_bits::<4>(4 * i)
            } else {
                empty
            };
            error = if eops.get_bit(i) {
                self.err.q.val().get_bit(i)
            } else {
                error
            };
        }
        for i in (0..3).rev() {
            begins = if eops.get_bit(i) {
                sops.get_bit(i + 1)
            } else {
                begins
            };
        }
        let belongs = self.open.q.val() | sops.get_bit(0);
        let mut lanes = bits::<64>(0);
        for i in 0..4 {
            let whole = if eops.get_bit(i) {
                bits::<16>(0xffff) >> bit_cast::<16, 4>(self.mty.q.val().get_bits::<4>(4 * i))
            } else {
                bits::<16>(0xffff)
            };
            let valid = if self.ena.q.val().get_bit(i) {
                whole
            } else {
                bits::<16>(0)
            };
            lanes = lanes | (bit_cast::<64, 16>(valid) << (16 * i as u64));
        }
        self.valid_bytes.data.next = self.data.q.val();
        self.valid_bytes.lanes.next = lanes;
        let ends = eops.any();
        if came & (belongs | begins) {
            self.open.d.next = !ends | begins;
        }
        self.cycle_valid.d.next = came & (belongs | begins);
        self.cycle.d.next = SegmentCycle {
            data: self.valid_bytes.masked.val(),
            count,
            ends: ends & belongs,
            begins: ends & begins,
            empty,
            error,
        };

        // At their places.
        let cycle = self.cycle.q.val();
        let fill = self.fill.q.val();
        let total = bit_cast::<4, 3>(fill) + bit_cast::<4, 3>(cycle.count);
        if self.cycle_valid.q.val() {
            self.fill.d.next = if cycle.begins {
                bits::<3>(4) - cycle.count
            } else if cycle.ends {
                bits::<3>(0)
            } else {
                total.get_bits::<3>(0)
            };
        }
        self.placed_valid.d.next = self.cycle_valid.q.val();
        self.placed.d.next =
            bit_cast::<1408, 512>(first_of(cycle)) << (bit_cast::<1408, 3>(fill) << 7);
        self.total.d.next = total;
        self.ends.d.next = cycle.ends;
        self.begins.d.next = cycle.begins;
        self.second.d.next = second_of(cycle);
        self.empty.d.next = cycle.empty;
        self.error.d.next = cycle.error;

        // Into beats.
        let moves = self.placed_valid.q.val();
        let ends = moves & self.ends.q.val();
        let whole = self.beat.q.val() | self.placed.q.val().get_bits::<1024>(0);
        let beyond = bit_cast::<1024, 384>(self.placed.q.val().get_bits::<384>(1024));
        let total = self.total.q.val();
        let full = moves & total.get_bit(3);
        let over = full & (total != 8);
        let length = bit_cast::<8, 3>(total.get_bits::<3>(0)) << 4;
        let tail_bytes = length - bit_cast::<8, 4>(self.empty.q.val());
        let completes = full | ends;
        let bytes = if over | (full & !ends) {
            bits::<8>(128)
        } else if full {
            bits::<8>(128) - bit_cast::<8, 4>(self.empty.q.val())
        } else {
            tail_bytes
        };
        let last = ends & !over;
        let error = last & self.error.q.val();
        if moves {
            self.beat.d.next = if self.begins.q.val() {
                bit_cast::<1024, 384>(self.second.q.val())
            } else if ends {
                bits::<1024>(0)
            } else if full {
                beyond
            } else {
                whole
            };
        }

        // Out, or behind what waits.
        let two = ends & over;
        let held = self.held.q.val();
        self.held.d.next = two | (held & completes);
        self.held_data.d.next = if held { whole } else { beyond };
        self.held_bytes.d.next = if held { bytes } else { tail_bytes };
        self.held_last.d.next = if held { last } else { true };
        self.held_error.d.next = if held { error } else { self.error.q.val() };
        self.offers.d.next = held | completes;
        self.out_data.d.next = if held { self.held_data.q.val() } else { whole };
        self.out_bytes.d.next = if held { self.held_bytes.q.val() } else { bytes };
        self.out_last.d.next = if held { self.held_last.q.val() } else { last };
        self.out_error.d.next = if held { self.held_error.q.val() } else { error };

        self.rx.valid.next = self.offers.q.val();
        self.rx.data.next = self.out_data.q.val();
        self.rx.bytes.next = self.out_bytes.q.val();
        self.rx.last.next = self.out_last.q.val();
        self.rx.error.next = self.out_error.q.val();

        if self.reset.val() {
            self.valid.d.next = false;
            self.open.d.next = false;
            self.cycle_valid.d.next = false;
            self.fill.d.next = bits(0);
            self.placed_valid.d.next = false;
            self.beat.d.next = bits(0);
            self.held.d.next = false;
            self.offers.d.next = false;
        }
    }
}
