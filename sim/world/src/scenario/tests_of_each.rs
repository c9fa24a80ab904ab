//! One test for each scenario, for test programs of any kind of NIC.

/// Writes a test for each scenario, which calls the function `$check` with the scenario's name, and a test that compares this list with
/// [`Scenario::ALL`](crate::scenario::Scenario::ALL).
#[macro_export]
macro_rules! test_each_scenario {
    ($check:path) => {
        $crate::test_each_scenario! {
            $check;
            permutation: "permutation",
            duplicates: "duplicates",
            lost_sacks: "lost-sacks",
            lost_last_packet: "lost-last-packet",
            every_packet_lost_once: "every-packet-lost-once",
            go_back_n: "go-back-n",
            psn_wrap: "psn-wrap",
            window_full: "window-full",
            ecn_on_every_packet: "ecn-on-every-packet",
            plane_dead_and_back: "plane-dead-and-back",
            retry_budget_exhausted: "retry-budget-exhausted",
            deregistration: "deregistration",
            foreign_doorbell: "foreign-doorbell",
            all_queue_pairs: "all-queue-pairs",
            tiny_messages: "tiny-messages",
            gibibyte: "gibibyte",
            unaligned: "unaligned",
        }
    };
    ($check:path; $($test:ident: $name:literal,)+) => {
        $(
            #[test]
            fn $test() {
                $check($name);
            }
        )+

        #[test]
        fn every_scenario_has_a_test() {
            let all = $crate::scenario::Scenario::<$crate::ReferenceNic>::ALL;
            assert_eq!(all.map(|scenario| scenario.name), [$($name),+]);
        }
    };
}
