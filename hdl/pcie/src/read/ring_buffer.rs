//! The buffer for the bytes of reads until they are returned.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

use super::byte_ram::ByteRam;

/// Words of `W` bits in two banks of 2^`A`, even and odd words, so that a beat at any byte is written in one cycle: its first bytes end one word and
/// its last bytes begin the next. `N` = `W` / 8.
///
/// Levels: 3 before the memory (address increment), 1 behind it (bank select).
#[derive(LogicBlock, Default)]
pub struct RingBuffer<const W: usize, const N: usize, const A: usize> {
    pub clock: Signal<In, Clock>,

    /// Word of `write_low`; bits from `A` + 1 on are ignored, here and in `read_word`.
    pub write_word: Signal<In, Bits<14>>,
    pub write_data: Signal<In, Bits<W>>,
    /// Byte lanes written in that word.
    pub write_low: Signal<In, Bits<N>>,
    /// Byte lanes to write in the word after it.
    pub write_high: Signal<In, Bits<N>>,

    pub read_word: Signal<In, Bits<14>>,
    /// [`READ_LATENCY`] cycles after `read_word`.
    pub read_data: Signal<Out, Bits<W>>,

    even: ByteRam<W, N, A>,
    odd: ByteRam<W, N, A>,
    read_odd: DFF<Bit>,
    read: DFF<Bits<W>>,
}

/// Cycles from `read_word` to `read_data`.
pub const READ_LATENCY: usize = 2;

impl<const W: usize, const N: usize, const A: usize> Logic for RingBuffer<W, N, A> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, read_odd, read);
        clock!(self, clock, even, odd);

        let row = self.write_word.val().get_bits::<A>(1);
        let starts_odd = self.write_word.val().get_bit(0);
        self.odd.write_address.next = row;
        self.even.write_address.next = if starts_odd { row + 1 } else { row };
        self.odd.write_data.next = self.write_data.val();
        self.even.write_data.next = self.write_data.val();
        self.odd.write_lanes.next = if starts_odd {
            self.write_low.val()
        } else {
            self.write_high.val()
        };
        self.even.write_lanes.next = if starts_odd {
            self.write_high.val()
        } else {
            self.write_low.val()
        };

        self.odd.read_address.next = self.read_word.val().get_bits::<A>(1);
        self.even.read_address.next = self.read_word.val().get_bits::<A>(1);
        self.read_odd.d.next = self.read_word.val().get_bit(0);
        self.read.d.next = if self.read_odd.q.val() {
            self.odd.read_data.val()
        } else {
            self.even.read_data.val()
        };
        self.read_data.next = self.read.q.val();
    }
}
