//! The rotator: every offset, a window per cycle, gaps.

use hdl_primitives::ByteRotator;
use hdl_testkit::equivalence::{check, check_gated, Random};
use hdl_testkit::Dut;
use proptest::prelude::*;
use rust_hdl::prelude::*;

fn drive<const W: usize>(uut: &mut ByteRotator<W>, rng: &mut hdl_testkit::equivalence::TestRng) {
    uut.in_valid.next = bool::random(rng);
    uut.in_low.next = Bits::random(rng);
    uut.in_high.next = Bits::random(rng);
    uut.in_offset.next = Bits::random(rng);
}

#[test]
fn agrees_with_its_simulation() {
    check(
        ByteRotator::<64>::default,
        Some(|u| &mut u.clock),
        drive,
        200,
        1,
    )
    .unwrap();
    check(
        ByteRotator::<512>::default,
        Some(|u| &mut u.clock),
        drive,
        60,
        1,
    )
    .unwrap();
}

#[test]
fn its_gated_model_agrees_too() {
    check_gated(ByteRotator::<64>::default, |u| &mut u.clock, drive, 800, 2).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn any_beat_of_the_window_comes_two_clocks_later(
        window in prop::collection::vec(any::<u8>(), 256),
        gaps in prop::collection::vec(any::<bool>(), 128),
    ) {
        let mut dut = Dut::new::<ByteRotator<1024>>();
        let mut expected = vec![None, None];
        for (offset, gap) in gaps.iter().enumerate() {
            for valid in [!gap, true] {
                dut.set("in_valid", valid.into());
                dut.set_bytes("in_low", &window[..128]);
                dut.set_bytes("in_high", &window[128..]);
                dut.set("in_offset", offset as u64);
                dut.settle();
                let due = expected.remove(0);
                prop_assert_eq!(dut.get("out_valid") == 1, due.is_some());
                if let Some(offset) = due {
                    prop_assert_eq!(&dut.bytes("out_data")[..], &window[offset..offset + 128]);
                }
                expected.push(valid.then_some(offset));
                dut.clock();
            }
        }
    }
}

#[test]
#[should_panic(expected = "ByteRotator of 100 bits: use a power of two")]
fn an_odd_width_is_refused() {
    let _ = ByteRotator::<100>::default();
}
