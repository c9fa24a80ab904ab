//! Beats of 1,024 bits to a 200G port of AMD's DCMAC.

use hdl_macros::{clock, hdl, hdl_fn};
use hdl_primitives::StreamSkid;
use rust_hdl::prelude::*;

use crate::bundles::{DcmacSegmentSrc, FrameTxSnk};
use crate::segment_cycle::{Segment, SEGMENTS};

/// Segments of a beat.
const BEAT_SEGMENTS: usize = 8;
/// Segments of a beat behind those of a cycle that is not complete.
const ALIGNED: usize = BEAT_SEGMENTS + SEGMENTS - 1;
/// Segments that wait. A beat is added if at most one complete cycle is in front of it.
const PACKED: usize = ALIGNED + SEGMENTS;

/// Bit i: segment i is the last one of a beat of this many bytes, of which the low seven bits are enough. Levels: 2.
#[hdl_fn]
fn last_segment(bytes: Bits<7>) -> Bits<8> {
    let partial = bytes.get_bits::<4>(0).any();
    let whole = bytes.get_bits::<3>(4);
    let mut last = bits::<8>(0);
    for i in 0..BEAT_SEGMENTS {
        let is_last = if partial {
            whole == (i as u64)
        } else {
            whole == ((i as u64 + 1) % 8)
        };
        last = last.replace_bit(i, is_last);
    }
    last
}

/// Bit i: segment i is in use in a beat with this last segment. Levels: 2.
#[hdl_fn]
fn in_use(last: Bits<8>) -> Bits<8> {
    let mut used = bits::<8>(0);
    for i in 0..BEAT_SEGMENTS {
        used = used.replace_bit(i, (last >> (i as u64)).any());
    }
    used
}

/// Bytes that a last segment lacks if it has this many, modulo 16. Without a carry chain. Levels: 1.
#[hdl_fn]
fn lacks(bytes: Bits<4>) -> Bits<4> {
    let mut lacks = bits::<4>(0);
    for i in 0..4 {
        let below = bytes & bits::<4>((1 << i) - 1);
        lacks = lacks.replace_bit(i, bytes.get_bit(i) ^ below.any());
    }
    lacks
}

/// Packs beats into cycles of four segments, on the MAC's clock, 390.625 MHz. A frame begins at the segment behind the end of the one before (PG369, *Transmit
/// Segmented AXI4-Stream*) if its first beat is on offer when the last one of the frame before leaves the first stage. Otherwise the frame before does not wait: the rest
/// of its last cycle stays empty, and the next frame begins at segment 0.
///
/// So frames that follow each other take a cycle for four segments. A frame needs 4 segments at least (PG369, *Aborting a Transmission*), and its beats must come
/// without a gap. Then its cycles have none either: a full beat completes two cycles, and the last beat of a frame, which may complete none, is added
/// while the second of them waits.
///
/// Latency 3. LUT levels: 3, and no carry chain.
#[derive(LogicBlock, Default)]
pub struct DcmacSend {
    pub clock: Signal<In, Clock>,
    /// The MAC is in reset.
    pub reset: Signal<In, Bit>,

    pub tx: FrameTxSnk<1024>,
    pub tx_axis_tvalid: Signal<Out, Bit>,
    pub tx_axis_tready: Signal<In, Bit>,
    pub tx_axis: [DcmacSegmentSrc; SEGMENTS],

    // A beat at its place in cycles.
    aligned_valid: DFF<Bit>,
    aligned: [DFF<Segment>; ALIGNED],
    /// Bit i: it completes more than i cycles.
    completes: DFF<Bits<2>>,
    /// It ends inside a cycle.
    ends_inside: DFF<Bit>,
    /// Segment at which the next beat begins.
    offset: DFF<Bits<2>>,
    /// The next beat does not begin a frame.
    inside: DFF<Bit>,

    /// Segments that wait. Those behind them are not in use.
    packed: [DFF<Segment>; PACKED],
    /// Bit i: more than i complete cycles wait.
    waiting: DFF<Bits<4>>,

    /// One for each segment of a cycle. They move together.
    out: [StreamSkid<Segment>; SEGMENTS],
}

impl Logic for DcmacSend {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, aligned_valid, completes, ends_inside);
        dff_setup!(self, clock, offset, inside, waiting);
        clock!(self, clock, aligned[..], packed[..], out[..]);
        let waiting = self.waiting.q.val();
        let leaves = self.out[0].in_.ready.val() & waiting.get_bit(0);
        let left = if self.out[0].in_.ready.val() {
            waiting >> 1
        } else {
            waiting
        };
        let takes = self.aligned_valid.q.val() & !left.get_bit(1);
        let ready = !self.aligned_valid.q.val() | !left.get_bit(1);
        let enters = self.tx.valid.val() & ready;
        self.tx.ready.next = ready;

        // align
        let offset = self.offset.q.val();
        let last = self.tx.last.val();
        let bytes = self.tx.bytes.val();
        let ends = last_segment(bytes.get_bits::<7>(0));
        let used = in_use(ends);
        let lacks = lacks(bytes.get_bits::<4>(0));
        let mut completes = bits::<2>(0);
        let mut next_offset = bits::<2>(0);
        for place in 0..ALIGNED {
            let mut data = bits::<128>(0);
            let mut begins_here = false;
            let mut ends_here = false;
            let mut used_here = false;
            for shift in 0..SEGMENTS {
                let shifted = offset == (shift as u64);
                // What is outside of the beat is not in use, so its data may be anything.
                let segment = place.saturating_sub(shift).min(BEAT_SEGMENTS - 1);
                data = if shifted {
                    self.tx.data.val().get_bits::<128>(128 * segment)
                } else {
                    data
                };
                if place == shift {
                    begins_here = shifted;
                }
                if (shift..shift + BEAT_SEGMENTS).contains(&place) {
                    ends_here = ends_here | (shifted & ends.get_bit(segment));
                    used_here = used_here | (shifted & used.get_bit(segment));
                }
            }
            for cycle in 0..2 {
                if place + 1 >= SEGMENTS * (cycle + 1) {
                    let more = completes.get_bit(cycle) | ends_here;
                    completes = completes.replace_bit(cycle, more);
                }
            }
            next_offset = if ends_here {
                bits::<2>((place as u64 + 1) % 4)
            } else {
                next_offset
            };
            let eop = last & ends_here;
            self.aligned[place].d.next = self.aligned[place].q.val();
            if enters {
                self.aligned[place].d.next = Segment {
                    data,
                    ena: used_here,
                    sop: begins_here & !self.inside.q.val(),
                    eop,
                    err: eop & self.tx.error.val(),
                    mty: if eop { lacks } else { bits::<4>(0) },
                };
            }
        }
        if enters {
            self.aligned_valid.d.next = true;
            self.completes.d.next = completes;
            self.ends_inside.d.next = next_offset.any();
            self.offset.d.next = next_offset;
            self.inside.d.next = !last;
        } else if takes {
            // Nothing follows, so the frame ends with its cycle.
            self.aligned_valid.d.next = false;
            self.offset.d.next = bits(0);
        }

        // pack
        for place in 0..PACKED {
            let here = self.packed[place].q.val();
            let behind = if place + SEGMENTS < PACKED {
                self.packed[place + SEGMENTS].q.val()
            } else {
                Segment { ena: false, ..here }
            };
            let kept = if leaves { behind } else { here };
            let new = if place < SEGMENTS {
                self.aligned[place].q.val()
            } else if place >= ALIGNED || left.get_bit(0) {
                self.aligned[place - SEGMENTS].q.val()
            } else {
                self.aligned[place].q.val()
            };
            // The first cycle of a beat may be one that the beat before has begun.
            let replaced = if place < SEGMENTS {
                !left.get_bit(0) & new.ena
            } else if place < 2 * SEGMENTS {
                new.ena
            } else if place < ALIGNED {
                true
            } else {
                left.get_bit(0)
            };
            self.packed[place].d.next = if takes & replaced { new } else { kept };
        }
        let completes = bit_cast::<4, 2>(self.completes.q.val());
        let closes = self.ends_inside.q.val() & !self.tx.valid.val();
        let added = if closes {
            (completes << 1) | bits::<4>(1)
        } else {
            completes
        };
        let behind = if left.get_bit(0) {
            (added << 1) | bits::<4>(1)
        } else {
            added
        };
        self.waiting.d.next = if takes { behind } else { left };

        // out
        for i in 0..SEGMENTS {
            self.out[i].reset.next = self.reset.val();
            self.out[i].in_.valid.next = waiting.get_bit(0);
            self.out[i].in_.data.next = self.packed[i].q.val();
            self.out[i].out.ready.next = self.tx_axis_tready.val();
            let segment = self.out[i].out.data.val();
            self.tx_axis[i].tdata.next = segment.data;
            self.tx_axis[i].ena.next = segment.ena;
            self.tx_axis[i].sop.next = segment.sop;
            self.tx_axis[i].eop.next = segment.eop;
            self.tx_axis[i].err.next = segment.err;
            self.tx_axis[i].mty.next = segment.mty;
        }
        self.tx_axis_tvalid.next = self.out[0].out.valid.val();

        if self.reset.val() {
            self.aligned_valid.d.next = false;
            self.offset.d.next = bits(0);
            self.inside.d.next = false;
            self.waiting.d.next = bits(0);
            for place in 0..PACKED {
                self.packed[place].d.next.ena = false;
            }
        }
    }
}
