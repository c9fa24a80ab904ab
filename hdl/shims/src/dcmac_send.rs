//! Beats of 1,024 bits to a 200G port of AMD's DCMAC.

use hdl_macros::hdl;
use hdl_primitives::StreamSkid;
use rust_hdl::prelude::*;

use crate::bundles::{DcmacSegmentSrc, FrameTxSnk};

/// A cycle of segments to the DCMAC. All segments up to the last one of the frame are in use.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct SentCycle {
    pub data: Bits<512>,
    pub first: Bit,
    pub last: Bit,
    pub error: Bit,
    /// Valid bytes: 64 unless `last`.
    pub bytes: Bits<7>,
}

/// Sends a beat as one or two cycles of four segments, on the MAC's clock, 390.625 MHz. A frame begins at segment 0. If beats come without a gap inside a frame,
/// so do the cycles: a beat of more than 64 bytes takes two.
///
/// 200 Gb/s are 64 bytes per cycle, and a frame takes 24 bytes more on the wire than it has. So frames leave at line rate if their last cycle has 40 bytes or more, or
/// none is needed for it. A frame of 65 bytes, the worst one, needs 2 cycles where the wire needs 1.4.
///
/// Latency 1. LUT levels: 2.
#[derive(LogicBlock, Default)]
pub struct DcmacSend {
    pub clock: Signal<In, Clock>,
    /// The MAC is in reset.
    pub reset: Signal<In, Bit>,

    pub tx: FrameTxSnk<1024>,
    pub tx_axis_tvalid: Signal<Out, Bit>,
    pub tx_axis_tready: Signal<In, Bit>,
    pub tx_axis: [DcmacSegmentSrc; 4],

    /// The low half of the beat has left.
    high: DFF<Bit>,
    /// A frame is under way.
    inside: DFF<Bit>,
    out: StreamSkid<SentCycle>,
}

impl Logic for DcmacSend {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, high, inside);
        self.out.clock.next = self.clock.val();
        self.out.reset.next = self.reset.val();
        let bytes = self.tx.bytes.val();
        let both = bytes > 64;
        let high = self.high.q.val();
        let last_half = high | !both;
        let moves = self.tx.valid.val() & self.out.in_.ready.val();
        let in_half = if high {
            bytes - 64
        } else if both {
            bits::<8>(64)
        } else {
            bytes
        };
        let ends = self.tx.last.val() & last_half;
        self.out.in_.valid.next = self.tx.valid.val();
        self.out.in_.data.next = SentCycle {
            data: if high {
                self.tx.data.val().get_bits::<512>(512)
            } else {
                self.tx.data.val().get_bits::<512>(0)
            },
            first: !self.inside.q.val(),
            last: ends,
            error: self.tx.error.val(),
            bytes: in_half.get_bits::<7>(0),
        };
        self.tx.ready.next = self.out.in_.ready.val() & last_half;
        if moves {
            self.high.d.next = !last_half;
            self.inside.d.next = !ends;
        }

        let cycle = self.out.out.data.val();
        self.tx_axis_tvalid.next = self.out.out.valid.val();
        self.out.out.ready.next = self.tx_axis_tready.val();
        // The last segment, and the bytes that it lacks.
        let before = cycle.bytes - 1;
        let last_segment = before.get_bits::<2>(4);
        let used = bit_cast::<3, 2>(last_segment) + 1;
        let empty = bits::<4>(15) - before.get_bits::<4>(0);
        for i in 0..4 {
            let is_last = last_segment == (i as u64);
            self.tx_axis[i].tdata.next = cycle.data.get_bits::<128>(128 * i);
            self.tx_axis[i].ena.next = used > (i as u64);
            self.tx_axis[i].sop.next = (i == 0) & cycle.first;
            self.tx_axis[i].eop.next = is_last & cycle.last;
            self.tx_axis[i].err.next = is_last & cycle.last & cycle.error;
            self.tx_axis[i].mty.next = if is_last & cycle.last {
                empty
            } else {
                bits::<4>(0)
            };
        }
        if self.reset.val() {
            self.high.d.next = false;
            self.inside.d.next = false;
        }
    }
}
