//! `ConfigRegister`: rows arrive in order, and one that is not of a list is accepted only when its table has it.

use hdl_nic::ConfigRegister;
use hdl_testkit::equivalence::{Random, TestRng};
use hdl_testkit::{tools, Dut};
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::Bits;
use stellar_wire::hw::config::{ConfigSelect, ConfigWrite};
use stellar_wire::hw::pack::to_words;

fn row(rng: &mut TestRng) -> ConfigWrite {
    ConfigWrite {
        select: ConfigSelect::ALL[rng.random_range(0..ConfigSelect::ALL.len())],
        index: Bits::random(rng),
        entry: Bits::random(rng),
    }
}

#[test]
fn the_config_register_is_clean_verilog() {
    tools::assert_clean::<ConfigRegister>();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn rows_arrive_in_order_and_are_accepted_when_they_are_there(
        seed in any::<u64>(), comes in 0.2..1.0, ready in 0.1..1.0, list in 0.0..1.0,
    ) {
        let mut rng = TestRng::seed_from_u64(seed);
        let mut dut = Dut::new::<ConfigRegister>();
        dut.reset(1);
        let mut offered: Option<(Vec<u32>, bool)> = None;
        // Rows that were offered and have not arrived, and those of them that were accepted.
        let (mut expected, mut accepted) = (std::collections::VecDeque::new(), 0);
        let (mut arrived, mut arrived_alone) = (0, false);
        for _ in 0..1_500 {
            if offered.is_none() && rng.random_bool(comes) {
                let words = to_words(row(&mut rng));
                expected.push_back(words.clone());
                offered = Some((words, rng.random_bool(list)));
            }
            dut.set("in_valid", offered.is_some().into());
            if let Some((words, posted)) = &offered {
                dut.set_words("in", words);
                dut.set("posted", u64::from(*posted));
            }
            dut.set("out_ready", rng.random_bool(ready).into());
            dut.eval();
            prop_assert_eq!(dut.is("pending"), dut.is("out_valid"));
            prop_assert!(accepted == 0 || dut.is("pending"), "an accepted row is not reported");
            let takes = dut.moves("in_valid", "in_ready");
            if let Some((_, false)) = &offered {
                prop_assert_eq!(takes, arrived_alone, "accepted before its table has it");
            }
            let moves = dut.moves("out_valid", "out_ready");
            arrived_alone = moves && matches!(offered, Some((_, false))) && expected.len() == 1;
            if moves {
                prop_assert_eq!(Some(dut.words("out")), expected.pop_front());
                arrived += 1;
                accepted -= i32::from(accepted > 0);
            }
            if takes {
                let (_, posted) = offered.take().expect("a row");
                accepted += i32::from(posted);
            }
            dut.clock();
        }
        prop_assert!(arrived > 20, "{arrived} rows");
    }

    #[test]
    fn a_list_costs_a_cycle_for_each_row(seed in any::<u64>()) {
        let mut rng = TestRng::seed_from_u64(seed);
        let mut dut = Dut::new::<ConfigRegister>();
        dut.reset(1);
        dut.set_words("in", &to_words(row(&mut rng)));
        dut.set("in_valid", 1);
        dut.set("posted", 1);
        dut.set("out_ready", 1);
        for _ in 0..20 {
            dut.eval();
            prop_assert!(dut.is("in_ready"));
            dut.clock();
        }
    }
}
