use hdl_macros::hdl;
use hdl_primitives::{ByteMask, WordMask};
use hdl_testkit::equivalence::{check, check_gated, Random, TestRng};
use rust_hdl::prelude::*;

/// Both masks, with a clock, which gated models need.
#[derive(LogicBlock, Default)]
struct Masks {
    clock: Signal<In, Clock>,
    data: Signal<In, Bits<128>>,
    word: Signal<In, Bits<32>>,
    lanes: Signal<In, Bits<16>>,
    masked: Signal<Out, Bits<128>>,
    word_masked: Signal<Out, Bits<128>>,
    bytes: ByteMask<128, 16>,
    words: WordMask<128, 16>,
    held: DFF<Bits<128>>,
}

impl Logic for Masks {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, held);
        self.bytes.data.next = self.data.val();
        self.bytes.lanes.next = self.lanes.val();
        self.words.word.next = self.word.val();
        self.words.lanes.next = self.lanes.val();
        self.held.d.next = self.bytes.masked.val();
        self.masked.next = self.held.q.val();
        self.word_masked.next = self.words.masked.val();
    }
}

fn drive(uut: &mut Masks, rng: &mut TestRng) {
    uut.data.next = Bits::random(rng);
    uut.word.next = Bits::random(rng);
    uut.lanes.next = Bits::random(rng);
}

#[test]
fn every_mask_of_lanes() {
    check(Masks::default, Some(|u| &mut u.clock), drive, 200, 5).unwrap();
    check_gated(Masks::default, |u| &mut u.clock, drive, 500, 6).unwrap();
}

#[test]
#[should_panic(expected = "WordMask<16, 2>: 2 byte lanes need W = 16, and come in fours")]
fn lanes_come_in_fours() {
    let _ = WordMask::<16, 2>::default();
}

#[test]
#[should_panic(expected = "ByteMask<100, 16>: 16 byte lanes need W = 128")]
fn lanes_are_bytes() {
    let _ = ByteMask::<100, 16>::default();
}
