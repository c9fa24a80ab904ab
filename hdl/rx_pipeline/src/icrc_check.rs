//! Invariant CRC of the aligned frame (`stellar_wire::icrc` says what it covers).

use hdl_macros::{clock_reset, hdl};
use hdl_primitives::Crc32Wide;
use rust_hdl::prelude::*;
use stellar_wire::hw::layout::icrc_masked_bits;
use stellar_wire::icrc::{REGISTER_AFTER_LRH, REGISTER_RESIDUE};

use crate::bundles::BeatFlowSnk;
use crate::lane_width::LaneWidth;

/// Cycles from the last beat to the result, at either width.
pub const LATENCY: usize = 9;

/// Mask of the variant fields, which routers may change, from the start of the IP header. The iCRC counts them as ones.
fn icrc_variant_mask<const W: usize>(version6: bool) -> Bits<W> {
    icrc_masked_bits(version6)
        .into_iter()
        .fold(Bits::default(), |mask, bit| mask.replace_bit(bit, true))
}

/// Checks the invariant CRC of each aligned frame. There is one result per frame, in order. It is undefined for frames that are not RoCE.
/// LUT levels: masking 1, comparison with the residue 3; the rest is [`Crc32Wide`].
#[derive(LogicBlock)]
pub struct IcrcCheck<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub in_: BeatFlowSnk<W>,

    pub out_valid: Signal<Out, Bit>,
    pub out_good: Signal<Out, Bit>,

    valid: DFF<Bit>,
    last: DFF<Bit>,
    bytes: DFF<Bits<8>>,
    masked: DFF<Bits<W>>,
    crc: Crc32Wide<W>,
    /// Delay line of the result: the CRC of 512 bits takes one cycle less, and waits.
    done: [DFF<Bit>; 2],
    good: [DFF<Bit>; 2],
    _ipv4_mask: Bits<W>,
    _ipv6_mask: Bits<W>,
    _width: LaneWidth<W>,
}

impl<const W: usize> Default for IcrcCheck<W> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            in_: Default::default(),
            out_valid: Default::default(),
            out_good: Default::default(),
            valid: Default::default(),
            last: Default::default(),
            bytes: Default::default(),
            masked: Default::default(),
            crc: Crc32Wide::new(REGISTER_AFTER_LRH),
            done: Default::default(),
            good: Default::default(),
            _ipv4_mask: icrc_variant_mask(false),
            _ipv6_mask: icrc_variant_mask(true),
            _width: Default::default(),
        }
    }
}

/// Cycles by which the CRC of this width is faster than the CRC of 1,024 bits. They are added, so that both widths have one latency.
const fn spare_cycles(crc_latency: usize) -> usize {
    LATENCY - 2 - crc_latency
}

impl<const W: usize> Logic for IcrcCheck<W> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, last, bytes, masked);
        clock_reset!(self, crc);
        let beat = self.in_.beat.val();
        let data = self.in_.data.val();
        self.valid.d.next = self.in_.valid.val();
        self.last.d.next = beat.last;
        // The CRC block accepts no empty beat. A frame without an IP header is dropped whatever its CRC.
        self.bytes.d.next = if beat.bytes.any() {
            beat.bytes
        } else {
            bits::<8>(1)
        };
        self.masked.d.next = if !beat.first {
            data
        } else if beat.outer.ipv6 {
            data | self._ipv6_mask
        } else {
            data | self._ipv4_mask
        };

        self.crc.in_valid.next = self.valid.q.val();
        self.crc.in_data.next = self.masked.q.val();
        self.crc.in_bytes.next = self.bytes.q.val();
        self.crc.in_last.next = self.last.q.val();

        for i in 0..2 {
            self.done[i].clock.next = self.clock.val();
            self.good[i].clock.next = self.clock.val();
        }
        let done = self.crc.out_valid.val();
        let good = self.crc.crc.val() == u64::from(REGISTER_RESIDUE);
        if spare_cycles(Crc32Wide::<W>::LATENCY) == 0 {
            self.done[1].d.next = false;
            self.good[1].d.next = false;
            self.done[0].d.next = done;
            self.good[0].d.next = good;
        } else {
            self.done[1].d.next = done;
            self.good[1].d.next = good;
            self.done[0].d.next = self.done[1].q.val();
            self.good[0].d.next = self.good[1].q.val();
        }
        self.out_valid.next = self.done[0].q.val();
        self.out_good.next = self.good[0].q.val();
        if self.reset.val() {
            self.valid.d.next = false;
            self.done[0].d.next = false;
            self.done[1].d.next = false;
        }
    }
}
