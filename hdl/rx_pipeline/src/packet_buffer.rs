//! Ring buffer for the beats of aligned frames, until their payload is placed.

use hdl_macros::hdl;
use hdl_primitives::{BufferFreeSnk, BufferReadSnk, UltraRam};
use rust_hdl::prelude::*;
use stellar_wire::hw::core::BufferSpan;

use crate::bundles::BeatFlowSnk;
use crate::lane_width::LaneWidth;
use crate::layout::MAX_IP_BYTES;

/// Cycles from `read_beat` to `read_low` and `read_high`.
pub const READ_LATENCY: usize = 2;
/// Cycles from the last beat to `out_stored`.
pub const LATENCY: usize = 1;

/// Whether the frame is stored, and if not, why.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum FrameFate {
    Stored,
    /// The ring had no space for one of the beats.
    BufferFull,
    /// The frame is longer than any packet. Only its first beat is kept.
    Oversize,
    /// There was no space for the token of the frame.
    NoToken,
}

/// The result of storing a frame.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct StoredFrame {
    pub fate: FrameFate,
    /// Beats that the token of the frame frees: none after `BufferFull` and `NoToken`.
    pub span: BufferSpan,
    pub mac_error: Bit,
}

/// Stores received frames until their payload is written. It has 2^(`A`+1) beats of `W` bits in two banks of 2^`A`, for even and odd beats, so that two neighbouring beats are read in one cycle.
///
/// Beats are written as they arrive. If there is no space for a beat, the whole frame is removed and its other beats are ignored. A frame without
/// end occupies one beat. Frames are freed in order, by number of beats, and the space is available one cycle after `free_valid`.
/// LUT levels: occupancy 2 (13-bit subtraction of registers), fate 2, next write pointer 2; reading 2 before the memory, 1 after it.
#[derive(LogicBlock, Default)]
pub struct PacketBuffer<const W: usize, const A: usize> {
    pub clock: Signal<In, Clock>,
    /// Empties the ring.
    pub reset: Signal<In, Bit>,

    pub in_: BeatFlowSnk<W>,
    /// Used in the first beat of a frame: there is space for its token.
    pub token_room: Signal<In, Bit>,

    /// One pulse per frame.
    pub out_valid: Signal<Out, Bit>,
    pub out_stored: Signal<Out, StoredFrame>,

    pub read: BufferReadSnk<W>,

    pub free: BufferFreeSnk,

    even: UltraRam<Bits<W>, A>,
    odd: UltraRam<Bits<W>, A>,
    /// Beats written and freed since reset, modulo 2^13; the ring address is the low `A` + 1 bits.
    written: DFF<Bits<13>>,
    freed: DFF<Bits<13>>,
    /// Value of `written` before the current frame.
    frame_start: DFF<Bits<13>>,
    frame_beats: DFF<Bits<8>>,
    fate: DFF<FrameFate>,
    stored_valid: DFF<Bit>,
    stored: DFF<StoredFrame>,
    /// Parity of `read_beat`, as old as the data of the memories.
    read_odd: [DFF<Bit>; READ_LATENCY],
    _width: LaneWidth<W>,
    _ring: RingSize<A>,
}

/// The supported sizes: the ring must hold the longest frame of the narrower lane, and its addresses have 12 bits.
struct RingSize<const A: usize>;

impl<const A: usize> Default for RingSize<A> {
    fn default() -> Self {
        assert!(
            (7..=11).contains(&A),
            "a packet buffer of 2 x 2^{A} beats: use A = 7 (256 beats) to 11 (4,096 beats)"
        );
        Self
    }
}

impl<const W: usize, const A: usize> Logic for PacketBuffer<W, A> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, written, freed, frame_start, frame_beats, fate);
        dff_setup!(self, clock, stored_valid, stored);
        clock!(self, clock, even, odd);

        let longest = (MAX_IP_BYTES / (W / 8)) as u64;
        let ring_mask = (2u64 << A) - 1;
        let beat = self.in_.beat.val();
        let at = self.written.q.val();
        let full = (at - self.freed.q.val()).get_bit(A + 1);
        let start = if beat.first {
            at
        } else {
            self.frame_start.q.val()
        };
        let earlier = if beat.first {
            bits::<8>(0)
        } else {
            self.frame_beats.q.val()
        };
        let so_far = if !beat.first {
            self.fate.q.val()
        } else if self.token_room.val() {
            FrameFate::Stored
        } else {
            FrameFate::NoToken
        };
        let storing = so_far == FrameFate::Stored;
        let fate = if !storing {
            so_far
        } else if full {
            FrameFate::BufferFull
        } else if earlier == longest {
            FrameFate::Oversize
        } else {
            FrameFate::Stored
        };
        let store = storing & !full & (earlier != longest) & self.in_.valid.val();

        let kept = if fate == FrameFate::Stored {
            earlier + 1
        } else if fate == FrameFate::Oversize {
            bits::<8>(1)
        } else {
            bits::<8>(0)
        };
        if self.in_.valid.val() {
            self.frame_start.d.next = start;
            self.fate.d.next = fate;
            self.frame_beats.d.next = kept;
            self.written.d.next = start + bit_cast::<13, 8>(kept);
            self.stored.d.next = StoredFrame {
                fate,
                span: BufferSpan {
                    start: start.get_bits::<12>(0) & ring_mask,
                    beats: kept,
                },
                mac_error: beat.error,
            };
        }
        self.stored_valid.d.next = self.in_.valid.val() & beat.last;
        if self.free.valid.val() {
            self.freed.d.next = self.freed.q.val() + bit_cast::<13, 8>(self.free.beats.val());
        }

        self.even.write_enable.next = store & !at.get_bit(0);
        self.odd.write_enable.next = store & at.get_bit(0);
        self.even.write_address.next = at.get_bits::<A>(1);
        self.odd.write_address.next = at.get_bits::<A>(1);
        self.even.write_data.next = self.in_.data.val();
        self.odd.write_data.next = self.in_.data.val();

        // Of the pair (n, n + 1), the even beat is at (n + 1) / 2 of its bank, the odd one at n / 2.
        let from = self.read.beat.val();
        let after = from + 1;
        self.even.read_address.next = after.get_bits::<A>(1);
        self.odd.read_address.next = from.get_bits::<A>(1);
        for i in 0..READ_LATENCY {
            self.read_odd[i].clock.next = self.clock.val();
            if i == 0 {
                self.read_odd[i].d.next = from.get_bit(0);
            } else {
                self.read_odd[i].d.next = self.read_odd[i - 1].q.val();
            }
        }
        if self.read_odd[READ_LATENCY - 1].q.val() {
            self.read.low.next = self.odd.read_data.val();
            self.read.high.next = self.even.read_data.val();
        } else {
            self.read.low.next = self.even.read_data.val();
            self.read.high.next = self.odd.read_data.val();
        }
        self.out_valid.next = self.stored_valid.q.val();
        self.out_stored.next = self.stored.q.val();

        if self.reset.val() {
            self.written.d.next = bits(0);
            self.freed.d.next = bits(0);
            self.fate.d.next = FrameFate::Stored;
            self.frame_beats.d.next = bits(0);
            self.stored_valid.d.next = false;
        }
    }
}
