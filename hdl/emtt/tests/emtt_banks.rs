//! A small table in four banks against a plain list.

use hdl_emtt::emtt_banks::{EmttBanks, LATENCY};
use hdl_testkit::library;
use proptest::prelude::*;
use rust_hdl::prelude::*;
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::tables::{EmttEntry, Owner};

const BANK_BITS: usize = 2;
const ENTRIES: u64 = 1 << (BANK_BITS + 2);

#[derive(Clone, Copy, Debug)]
enum Op {
    Write { index: u64, frame: u64 },
    Read { index: u64 },
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        (0..ENTRIES + 3, 0..1u64 << 52).prop_map(|(index, frame)| Op::Write { index, frame }),
        (0..ENTRIES + 3).prop_map(|index| Op::Read { index }),
        (0..1u64 << 38).prop_map(|index| Op::Read { index }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn three_neighbours_are_read_as_last_written_and_nothing_lies_beyond(ops in prop::collection::vec(op(), 1..100)) {
        let mut model = library::<EmttBanks<BANK_BITS>>().instantiate();
        let port = |name: &str| model.port(name).unwrap();
        let (clock, write_enable, write_index, write_entry, page_index) =
            (port("clock"), port("write_enable"), port("write_index"), port("write_entry"), port("page_index"));
        let outputs = [port("first"), port("second"), port("third")];
        let mut list = vec![None; ENTRIES as usize];
        let mut expected = vec![];
        for clocks in 0..ops.len() + LATENCY {
            match ops.get(clocks) {
                Some(&Op::Write { index, frame }) => {
                    model.set_u64(write_enable, 1);
                    model.set_u64(write_index, index);
                    let entry = EmttEntry { valid: true, owner: Owner::Gpu, frame: frame.to_bits(), ..Default::default() };
                    model.set(write_entry, &to_words(entry));
                    if let Some(slot) = list.get_mut(index as usize) {
                        *slot = Some(frame);
                    }
                    expected.push(None);
                }
                Some(&Op::Read { index }) => {
                    model.set_u64(write_enable, 0);
                    model.set_u64(page_index, index);
                    let entry = |index: u64| list.get(index as usize).copied().flatten();
                    expected.push(Some([entry(index), entry(index + 1), entry(index + 2)]));
                }
                None => model.set_u64(write_enable, 0),
            }
            model.clock(clock);
            let answered = (clocks + 1).checked_sub(LATENCY).and_then(|n| expected.get(n).copied().flatten());
            for (output, expected) in outputs.iter().zip(answered.into_iter().flatten()) {
                let words = model.get_words(*output).to_vec();
                let entry = Record::<EmttEntry>::new(&words);
                prop_assert_eq!(entry.bool("valid").then(|| entry.u64("frame")), expected);
            }
        }
    }
}

#[test]
#[should_panic(expected = "a bank has 19 address bits; choose 1 to 18")]
fn a_bank_beyond_the_index_of_table_writes_is_refused() {
    EmttBanks::<19>::default();
}
