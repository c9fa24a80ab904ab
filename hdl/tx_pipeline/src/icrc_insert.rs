//! Computes the invariant CRC of each frame and inserts it behind the pad (`stellar_wire::icrc` defines what it covers).

use hdl_macros::{clock_reset, hdl};
use hdl_primitives::{Crc32Wide, Delay, WordMask};
use rust_hdl::prelude::*;
use stellar_wire::hw::layout::{icrc_masked_bits, shift_bytes, ICRC_MASK_BYTES};
use stellar_wire::icrc;

use crate::records::{Nesting, TxBeat};

/// Cycles from a beat in to the same beat out, at either width.
pub const LATENCY: usize = 2 + CRC_CLOCKS;
/// Latency of [`Crc32Wide`] at 1,024 bits; a narrower one is delayed to it.
const CRC_CLOCKS: usize = Crc32Wide::<1024>::LATENCY;
/// Cycles that a beat waits for its frame's CRC.
const WAIT: usize = 1 + CRC_CLOCKS;
/// The flags beside the data leave the delay one cycle earlier, to choose byte lanes.
const BEAT_WAIT: usize = WAIT - 1;

/// Kinds of [`Nesting`].
const NESTINGS: usize = 8;

/// Index of a [`Nesting`].
fn nesting_bits(index: usize) -> (bool, bool, bool) {
    (index & 1 != 0, index & 2 != 0, index & 4 != 0)
}

/// Masks that convert beat `beat` to the input of the CRC: bits that stay, and bits that become ones.
///
/// The CRC register starts at 0. Bytes before the IP header become zeros, which do not change it, except for the last four, which become ones. These
/// bring the register to the state after the eight bytes of ones that the iCRC has for the local route header (`icrc::REGISTER_AFTER_LRH`).
fn masks<const W: usize>(nesting: usize, beat: usize) -> (Bits<W>, Bits<W>) {
    let (tagged, encapsulated, version6) = nesting_bits(nesting);
    let packet_at = shift_bytes(tagged, encapsulated);
    let ones: Vec<usize> = icrc_masked_bits(version6)
        .into_iter()
        .map(|bit| 8 * packet_at + bit)
        .chain(8 * (packet_at - icrc::LEN)..8 * packet_at)
        .collect();
    (0..W).fold((Bits::mask(), Bits::default()), |(stays, set), i| {
        let bit = beat * W + i;
        (
            stays.replace_bit(i, bit >= 8 * packet_at),
            set.replace_bit(i, ones.contains(&bit)),
        )
    })
}

/// Computes the invariant CRC of each frame and inserts it behind the pad. A beat has `W` bits, `N` = W / 8. It passes one beat per cycle, without
/// stalls. Pauses inside a frame are allowed.
///
/// A beat waits for the CRC of its frame, which is ready when the beat with its first byte leaves. If the second half of the CRC is in the next beat,
/// the same CRC is still there, because the next frame's comes later. LUT levels: mask 2, lanes 3, insertion 1; the rest is [`Crc32Wide`].
#[derive(LogicBlock)]
pub struct IcrcInsert<const W: usize, const N: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub in_valid: Signal<In, Bit>,
    /// Bytes from the end of the pad on are zero.
    pub in_data: Signal<In, Bits<W>>,
    pub in_beat: Signal<In, TxBeat>,

    pub out_valid: Signal<Out, Bit>,
    pub out_data: Signal<Out, Bits<W>>,
    /// Number of bytes in the output beat.
    pub out_bytes: Signal<Out, Bits<8>>,
    pub out_last: Signal<Out, Bit>,

    crc_valid: DFF<Bit>,
    crc_last: DFF<Bit>,
    crc_bytes: DFF<Bits<8>>,
    masked: DFF<Bits<W>>,
    crc: Crc32Wide<W>,
    /// The CRC of one cycle before, for a narrow lane.
    crc_before: DFF<Bits<32>>,

    valid: [DFF<Bit>; LATENCY],
    data_wait: Delay<Bits<W>, WAIT>,
    beat_wait: Delay<TxBeat, BEAT_WAIT>,
    lanes: DFF<Bits<N>>,
    insert: WordMask<W, N>,
    bytes: [DFF<Bits<8>>; 2],
    last: [DFF<Bit>; 2],
    data: DFF<Bits<W>>,

    /// The results of `masks` by nesting: bits of a first beat that stay (in later beats all bits stay), and bits of the first two beats that become ones.
    _stays: [Bits<W>; NESTINGS],
    _ones: [[Bits<W>; 2]; NESTINGS],
}

impl<const W: usize, const N: usize> Default for IcrcInsert<W, N> {
    fn default() -> Self {
        assert!(
            (W == 512 || W == 1024) && W == 8 * N,
            "IcrcInsert<{W}, {N}>: use <512, 64> or <1024, 128>"
        );
        let masks: [[_; 2]; NESTINGS] =
            std::array::from_fn(|nesting| std::array::from_fn(|beat| masks(nesting, beat)));
        Self {
            clock: Default::default(),
            reset: Default::default(),
            in_valid: Default::default(),
            in_data: Default::default(),
            in_beat: Default::default(),
            out_valid: Default::default(),
            out_data: Default::default(),
            out_bytes: Default::default(),
            out_last: Default::default(),
            crc_valid: Default::default(),
            crc_last: Default::default(),
            crc_bytes: Default::default(),
            masked: Default::default(),
            crc_before: Default::default(),
            valid: Default::default(),
            data_wait: Default::default(),
            beat_wait: Default::default(),
            lanes: Default::default(),
            insert: Default::default(),
            bytes: Default::default(),
            last: Default::default(),
            data: Default::default(),
            crc: Crc32Wide::new(0),
            _stays: masks.map(|[(stays, _), _]| stays),
            _ones: masks.map(|beats| beats.map(|(_, ones)| ones)),
        }
    }
}

// The masked fields lie in the first two beats, and the fields that are read as zeros in the first beat.
const _: () = assert!(shift_bytes(true, true) + ICRC_MASK_BYTES <= 2 * 512 / 8);
const _: () = assert!(shift_bytes(true, true) <= 512 / 8);

impl<const W: usize, const N: usize> Logic for IcrcInsert<W, N> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, crc_valid, crc_last, crc_bytes, masked, crc_before, lanes, data);
        clock_reset!(self, crc);
        clock!(self, clock, data_wait, beat_wait);
        let beat = self.in_beat.val();
        let nesting = beat.nesting;

        // mask: per bit a function of data, beat and nesting; a simulation evaluates one branch.
        self.masked.d.next = self.in_data.val();
        for i in 0..NESTINGS {
            let (tagged, encapsulated, version6) = nesting_bits(i);
            let these = Nesting {
                tagged,
                encapsulated,
                version6,
            };
            let chosen = nesting == these;
            if chosen & beat.first {
                self.masked.d.next = (self.in_data.val() & self._stays[i]) | self._ones[i][0];
            }
            if chosen & beat.second {
                self.masked.d.next = self.in_data.val() | self._ones[i][1];
            }
        }
        self.crc_valid.d.next = self.in_valid.val() & !beat.icrc_rest;
        self.crc_last.d.next = beat.icrc;
        self.crc_bytes.d.next = if beat.icrc {
            bit_cast::<8, 7>(beat.icrc_at)
        } else {
            bits::<8>(N as u64)
        };
        self.crc.in_valid.next = self.crc_valid.q.val();
        self.crc.in_data.next = self.masked.q.val();
        self.crc.in_bytes.next = self.crc_bytes.q.val();
        self.crc.in_last.next = self.crc_last.q.val();
        self.crc_before.d.next = self.crc.crc.val();

        // wait
        for i in 0..LATENCY {
            self.valid[i].clock.next = self.clock.val();
            if i == 0 {
                self.valid[i].d.next = self.in_valid.val() & !self.reset.val();
            } else {
                self.valid[i].d.next = self.valid[i - 1].q.val() & !self.reset.val();
            }
        }
        self.data_wait.data.next = self.in_data.val();
        self.beat_wait.data.next = beat;

        // choose_lanes: four lanes from the place of the iCRC on, as far as this beat has them. The next beat has the rest.
        let waiting = self.beat_wait.delayed.val();
        self.lanes.d.next = if waiting.icrc {
            bits::<N>(15) << waiting.icrc_at.to_u64()
        } else if waiting.icrc_rest {
            bits::<N>(3)
        } else {
            bits::<N>(0)
        };
        for i in 0..2 {
            self.bytes[i].clock.next = self.clock.val();
            self.last[i].clock.next = self.clock.val();
        }
        self.bytes[0].d.next = waiting.bytes;
        self.last[0].d.next = waiting.last;

        // insert: the iCRC begins at byte 2 of a group of four, so its halves lie crosswise in all of them.
        let trailer = if Crc32Wide::<W>::LATENCY == CRC_CLOCKS {
            !self.crc.crc.val()
        } else {
            !self.crc_before.q.val()
        };
        self.insert.word.next = (trailer << 16) | (trailer >> 16);
        self.insert.lanes.next = self.lanes.q.val();
        self.data.d.next = self.data_wait.delayed.val() | self.insert.masked.val();
        self.bytes[1].d.next = self.bytes[0].q.val();
        self.last[1].d.next = self.last[0].q.val();

        self.out_valid.next = self.valid[LATENCY - 1].q.val();
        self.out_data.next = self.data.q.val();
        self.out_bytes.next = self.bytes[1].q.val();
        self.out_last.next = self.last[1].q.val();
        if self.reset.val() {
            self.crc_valid.d.next = false;
        }
    }
}
