//! Slots of all queue pairs.

use hdl_macros::{hdl, hdl_fn};
use hdl_primitives::ram::BlockRam;
use rust_hdl::prelude::*;

use crate::slots::{SlotWord, WORDS};

/// Selects one of four words. 1 level.
#[hdl_fn]
fn one_of_four(
    word_0: SlotWord,
    word_1: SlotWord,
    word_2: SlotWord,
    word_3: SlotWord,
    select: Bits<2>,
) -> SlotWord {
    let low = if select.get_bit(0) { word_1 } else { word_0 };
    let high = if select.get_bit(0) { word_3 } else { word_2 };
    if select.get_bit(1) {
        high
    } else {
        low
    }
}

/// Stores the slots of all queue pairs. There is one bank for each of the 16 words, so all words of a queue pair are read together and cleared together.
///
/// A read returns the contents before the cycle: a word written in cycle n is read by an address of cycle n + 1 or later. LUT levels: 2 behind the memory.
#[derive(LogicBlock, Default)]
pub struct SlotMemory<const Q: usize> {
    pub clock: Signal<In, Clock>,

    pub read_qp: Signal<In, Bits<Q>>,
    /// Word of the queue pair that was addressed in the previous cycle.
    pub select: Signal<In, Bits<4>>,
    pub word: Signal<Out, SlotWord>,

    pub write_qp: Signal<In, Bits<Q>>,
    pub write: Signal<In, Bit>,
    pub write_index: Signal<In, Bits<4>>,
    pub write_word: Signal<In, SlotWord>,
    /// Clears all words of the queue pair.
    pub clear: Signal<In, Bit>,

    banks: [BlockRam<SlotWord, Q>; WORDS],
}

impl<const Q: usize> Logic for SlotMemory<Q> {
    #[hdl]
    fn update(&mut self) {
        let clear = self.clear.val();
        let empty = SlotWord {
            in_flight: bits::<64>(0),
            lost_0: bits::<64>(0),
            lost_1: bits::<64>(0),
        };
        let written = if clear { empty } else { self.write_word.val() };
        for i in 0..WORDS {
            self.banks[i].clock.next = self.clock.val();
            self.banks[i].read_address.next = self.read_qp.val();
            self.banks[i].write_address.next = self.write_qp.val();
            self.banks[i].write_data.next = written;
            self.banks[i].write_enable.next =
                clear | (self.write.val() & (self.write_index.val() == (i as u64)));
        }
        let select = self.select.val();
        let low = select.get_bits::<2>(0);
        let quarter_0 = one_of_four(
            self.banks[0].read_data.val(),
            self.banks[1].read_data.val(),
            self.banks[2].read_data.val(),
            self.banks[3].read_data.val(),
            low,
        );
        let quarter_1 = one_of_four(
            self.banks[4].read_data.val(),
            self.banks[5].read_data.val(),
            self.banks[6].read_data.val(),
            self.banks[7].read_data.val(),
            low,
        );
        let quarter_2 = one_of_four(
            self.banks[8].read_data.val(),
            self.banks[9].read_data.val(),
            self.banks[10].read_data.val(),
            self.banks[11].read_data.val(),
            low,
        );
        let quarter_3 = one_of_four(
            self.banks[12].read_data.val(),
            self.banks[13].read_data.val(),
            self.banks[14].read_data.val(),
            self.banks[15].read_data.val(),
            low,
        );
        self.word.next = one_of_four(
            quarter_0,
            quarter_1,
            quarter_2,
            quarter_3,
            select.get_bits::<2>(2),
        );
    }
}
