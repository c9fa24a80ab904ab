//! Collects the first bytes of a frame, which contain the headers, and counts all bytes.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::mtu::LENGTH_BITS;

use crate::bundles::BeatFlowSnk;
use crate::frame_info::FrameInfo;
use crate::lane_width::LaneWidth;
use crate::layout::{MAX_IP_BYTES, WINDOW_BITS};

/// Cycles from the last input beat to the window.
pub const LATENCY: usize = 1;

/// Bits of the window that are in the first beat, at either width.
const LOW_BITS: usize = 512;
const HIGH_BITS: usize = WINDOW_BITS - LOW_BITS;

/// Collects the first bytes of each frame, which contain the headers, and counts all bytes.
///
/// Each frame has one window, which leaves after its last beat: one per cycle if all frames are single beats.
/// If the frame is shorter than the window, the bytes after its last one are undefined and may belong to another frame.
/// LUT levels: 2 (beat count 8 bits; length is a concatenation and an 8-bit add, 2).
#[derive(LogicBlock, Default)]
pub struct HeaderWindow<const W: usize> {
    pub clock: Signal<In, Clock>,

    pub in_: BeatFlowSnk<W>,

    pub out_valid: Signal<Out, Bit>,
    pub out_window: Signal<Out, Bits<WINDOW_BITS>>,
    pub out_info: Signal<Out, FrameInfo>,

    /// Beats of this frame before the current one, saturating.
    beats: DFF<Bits<8>>,
    valid: DFF<Bit>,
    low: DFF<Bits<LOW_BITS>>,
    high: DFF<Bits<HIGH_BITS>>,
    info: DFF<FrameInfo>,
    _width: LaneWidth<W>,
}

impl<const W: usize> Logic for HeaderWindow<W> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, beats, valid, low, high, info);
        let limit = (MAX_IP_BYTES / (W / 8)) as u64;
        let beat = self.in_.beat.val();
        let earlier = if beat.first {
            bits::<8>(0)
        } else {
            self.beats.q.val()
        };
        let oversize = earlier == limit;
        self.valid.d.next = self.in_.valid.val() & beat.last;
        if self.in_.valid.val() {
            self.beats.d.next = if oversize { earlier } else { earlier + 1 };
            if beat.first {
                self.low.d.next = self.in_.data.val().get_bits::<LOW_BITS>(0);
            }
            if W > LOW_BITS {
                if beat.first {
                    self.high.d.next = self.in_.data.val().get_bits::<HIGH_BITS>(LOW_BITS);
                }
            } else if earlier == 1 {
                self.high.d.next = self.in_.data.val().get_bits::<HIGH_BITS>(0);
            }
            self.info.d.next = FrameInfo {
                outer: beat.outer,
                bytes: (bit_cast::<LENGTH_BITS, 8>(earlier) << ((W / 8).trailing_zeros() as u64))
                    + bit_cast::<LENGTH_BITS, 8>(beat.bytes),
                oversize,
                mac_error: beat.error,
            };
        }
        self.out_valid.next = self.valid.q.val();
        self.out_window.next = bit_cast::<WINDOW_BITS, LOW_BITS>(self.low.q.val())
            | (bit_cast::<WINDOW_BITS, HIGH_BITS>(self.high.q.val()) << (LOW_BITS as u64));
        self.out_info.next = self.info.q.val();
    }
}
