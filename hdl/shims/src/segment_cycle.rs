//! A cycle of four segments of AMD's DCMAC.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

/// Segments of a cycle of a 200G port.
pub const SEGMENTS: usize = 4;
/// Bytes of a segment.
pub const SEGMENT_BYTES: usize = 16;

/// A segment that leaves. If it is not in use, all but `ena` may be anything.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Segment {
    pub data: Bits<128>,
    /// It is in use.
    pub ena: Bit,
    /// It begins a frame.
    pub sop: Bit,
    /// It ends a frame.
    pub eop: Bit,
    /// The frame is damaged. Zero without `eop`.
    pub err: Bit,
    /// Bytes at its end that are not valid. Zero without `eop`.
    pub mty: Bits<4>,
}

/// What a cycle adds to the frame that is under way, and to the next one. Bytes that are not valid are zero.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct SegmentCycle {
    pub data: Bits<512>,
    /// Segments of the frame under way, from segment 0: 1 to 4.
    pub count: Bits<3>,
    /// The frame under way ends in the last one of them.
    pub ends: Bit,
    /// The next frame begins behind them, and has the rest of the cycle.
    pub begins: Bit,
    /// With `ends`: bytes at its end that are not valid, and whether it is damaged.
    pub empty: Bits<4>,
    pub error: Bit,
}

/// The segments of the frame under way; zero behind them.
#[hdl_fn]
pub fn first_of(cycle: SegmentCycle) -> Bits<512> {
    let mut first = bits::<512>(0);
    for i in 0..SEGMENTS {
        let segment = cycle.data.get_bits::<128>(128 * i);
        let in_use = if cycle.count > (i as u64) {
            segment
        } else {
            bits::<128>(0)
        };
        first = first | (bit_cast::<512, 128>(in_use) << (128 * i as u64));
    }
    first
}

/// The segments of the next frame, the first one lowest.
#[hdl_fn]
pub fn second_of(cycle: SegmentCycle) -> Bits<384> {
    let high = cycle.data.get_bits::<384>(128);
    if !cycle.begins {
        bits::<384>(0)
    } else if cycle.count == 1 {
        high
    } else if cycle.count == 2 {
        high >> 128
    } else {
        high >> 256
    }
}
