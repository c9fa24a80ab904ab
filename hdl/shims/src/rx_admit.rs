//! Received frames on their way into the FIFO, or not.

use hdl_macros::hdl;
use hdl_primitives::{ByteMask, Checked, DataFlowSrc, Parameters};
use rust_hdl::prelude::*;

use crate::bundles::CmacRxSnk;
use crate::frame_beat::{bytes_of, FrameBeat, BEAT_BYTES};

/// Beats of the longest frame: 9,600 bytes, a frame of 9,216 bytes of payload with all headers.
pub const MOST_BEATS: usize = 9_600 / BEAT_BYTES;
/// Entries that may have been written and are not in `count` yet: in the register `offers`, in the FIFO's pointer, and in the register `room`. One to spare.
const UNCOUNTED: usize = 4;

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Part {
    /// The next beat is the first one of a frame.
    Between,
    /// The beats of the frame are admitted.
    Admits,
    /// The beats of the frame are dropped.
    Drops,
}

/// Admits frames from a CMAC to a FIFO of 2^(`C` - 1) entries on the MAC's clock.
///
/// The CMAC cannot wait, so the decision is made at the first beat: there must be room for the longest frame. A frame is admitted whole or dropped whole, and
/// after an overrun the next frame that finds room is admitted. A frame with more than [`MOST_BEATS`] beats is cut there and marked as damaged.
///
/// Latency 2. LUT levels: 2.
#[derive(LogicBlock, Default)]
pub struct RxAdmit<const C: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// The MAC is in reset: the next beat begins a frame.
    pub mac_reset: Signal<In, Bit>,
    /// The FIFO is in reset: nothing enters.
    pub fifo_reset: Signal<In, Bit>,

    pub rx_axis: CmacRxSnk,
    /// Entries of the FIFO, as its write side knows.
    pub count: Signal<In, Bits<C>>,
    /// To the FIFO, which has room.
    pub out: DataFlowSrc<FrameBeat>,
    /// High for one cycle: a frame was dropped, or cut because it is too long.
    pub dropped: Signal<Out, Bit>,

    // The beat as it came. Its data is masked on the way to the next register.
    arrives: DFF<Bit>,
    data: DFF<Bits<512>>,
    keep: DFF<Bits<64>>,
    last: DFF<Bit>,
    error: DFF<Bit>,
    valid_bytes: ByteMask<512, 64>,

    part: DFF<Part>,
    /// Beats of the frame that have been admitted.
    beats: DFF<Bits<8>>,
    room: DFF<Bit>,
    offers: DFF<Bit>,
    beat: DFF<FrameBeat>,
    lost: DFF<Bit>,
}

impl<const C: usize> RxAdmit<C> {
    /// Entries of the FIFO up to which a frame is admitted.
    const ADMITS_UP_TO: u64 = ((1 << (C - 1)) - MOST_BEATS - UNCOUNTED) as u64;
}

impl<const C: usize> Parameters for RxAdmit<C> {
    fn check() {
        assert!(
            (9..=16).contains(&C),
            "RxAdmit with C = {C}: use 9 to 16, so that the longest frame of {MOST_BEATS} beats fits"
        );
    }
}

impl<const C: usize> Logic for RxAdmit<C> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self, clock, arrives, data, keep, last, error, part, beats, room, offers, beat, lost
        );
        self.arrives.d.next = self.rx_axis.tvalid.val() & !self.mac_reset.val();
        self.data.d.next = self.rx_axis.tdata.val();
        self.keep.d.next = self.rx_axis.tkeep.val();
        self.last.d.next = self.rx_axis.tlast.val();
        self.error.d.next = self.rx_axis.tuser.val();
        self.valid_bytes.data.next = self.data.q.val();
        self.valid_bytes.lanes.next = self.keep.q.val();

        self.room.d.next = (self.count.val() <= Self::ADMITS_UP_TO) & !self.fifo_reset.val();
        let arrives = self.arrives.q.val();
        let last = self.last.q.val();
        let part = self.part.q.val();
        let first = part == Part::Between;
        let begins = arrives & first & self.room.q.val();
        let goes_on = arrives & (part == Part::Admits) & !self.fifo_reset.val();
        let cut = goes_on & !last & (self.beats.q.val() == MOST_BEATS as u64 - 1);
        self.offers.d.next = begins | goes_on;
        self.beat.d.next = FrameBeat {
            data: self.valid_bytes.masked.val(),
            bytes: bytes_of(self.keep.q.val()),
            last: last | cut,
            error: (last & self.error.q.val()) | cut,
        };
        self.lost.d.next = cut | (arrives & first & !self.room.q.val());
        if arrives {
            self.beats.d.next = if first {
                bits::<8>(1)
            } else {
                self.beats.q.val() + 1
            };
            if last {
                self.part.d.next = Part::Between;
            } else if cut {
                self.part.d.next = Part::Drops;
            } else if first {
                if self.room.q.val() {
                    self.part.d.next = Part::Admits;
                } else {
                    self.part.d.next = Part::Drops;
                }
            } else if self.fifo_reset.val() {
                self.part.d.next = Part::Drops;
            }
        }
        // A reset of the FIFO loses the frame, also if no beat comes in that time.
        if self.fifo_reset.val() & (part == Part::Admits) & !arrives {
            self.part.d.next = Part::Drops;
        }
        if self.mac_reset.val() {
            self.part.d.next = Part::Between;
        }
        self.out.valid.next = self.offers.q.val();
        self.out.data.next = self.beat.q.val();
        self.dropped.next = self.lost.q.val();
    }
}
