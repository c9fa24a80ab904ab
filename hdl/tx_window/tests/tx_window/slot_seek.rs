//! `SlotSeek` alone: every distance in a word, and every other word of the ring.

use hdl_testkit::equivalence::TestRng;
use hdl_testkit::Dut;
use hdl_tx_window::slot_seek::SlotSeek;
use rand::{Rng, SeedableRng};
use stellar_transport::rx::Psn;

const WORDS: u32 = 16;

/// Starts a search from `from` on, and runs until its first result is there.
fn start(dut: &mut Dut, from: Psn, word: u64, summary: u64) {
    dut.set("start", 1);
    dut.set("from", from.value().into());
    dut.set("summary", summary);
    dut.set("set_word", word);
    dut.clock();
    dut.set("start", 0);
    dut.eval();
}

#[test]
fn the_first_slot_of_a_word_at_or_after_any_psn() {
    let mut rng = TestRng::seed_from_u64(1);
    let mut dut = Dut::new::<SlotSeek>();
    for at in 0..64 {
        for lowest in 0..=64 {
            // Slots before the PSN do not count, and those behind the lowest one make no difference.
            let behind = u64::MAX.checked_shl(lowest + 1).unwrap_or(0) & rng.random::<u64>();
            let before = ((1 << at) - 1) & rng.random::<u64>();
            let found = 1_u64.checked_shl(lowest).unwrap_or(0);
            let word = found | behind | before;
            let base = Psn::new(rng.random::<u32>() & 0xff_ffc0);
            start(&mut dut, base.plus(at), word, 0);
            let expected = (at..64).find(|&slot| word >> slot & 1 == 1);
            assert_eq!(dut.is("hit"), expected.is_some());
            assert!(!dut.is("more"));
            if let Some(slot) = expected {
                let psn = base.plus(slot).value();
                assert_eq!(dut.get("psn"), u64::from(psn), "slot {slot} from {at}");
            }
        }
    }
}

#[test]
fn the_first_slot_of_another_word_or_of_the_same_one_after_a_turn() {
    let mut rng = TestRng::seed_from_u64(2);
    let mut dut = Dut::new::<SlotSeek>();
    for distance in 1..=WORDS {
        for slot in 0..64 {
            let base = Psn::new(rng.random::<u32>() & 0xff_ffc0);
            let number = |word: Psn| word.value() / 64 % WORDS;
            let there = base.plus(64 * distance);
            // Words between here and there are empty.
            let beyond = (distance..=WORDS).filter(|_| rng.random());
            let others = beyond.map(|words| 1_u64 << number(base.plus(64 * words)));
            let summary = others.fold(1 << number(there), |all, word| all | word);
            start(&mut dut, base.plus(rng.random_range(0..64)), 0, summary);
            assert!(!dut.is("hit") && dut.is("more"));
            dut.clock();
            assert_eq!(dut.get("far_word"), u64::from(number(there)));
            let behind = u64::MAX.checked_shl(slot + 1).unwrap_or(0) & rng.random::<u64>();
            dut.set("set_word", 1 << slot | behind);
            dut.set("far", 1);
            dut.clock();
            dut.set("far", 0);
            dut.eval();
            assert!(dut.is("hit") && !dut.is("more"));
            let psn = there.plus(slot).value();
            assert_eq!(
                dut.get("psn"),
                u64::from(psn),
                "{distance} words, slot {slot}"
            );
        }
    }
}
