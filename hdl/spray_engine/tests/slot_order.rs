//! `slot_order` and `slot_at` against the reference's permutation.

use hdl_spray_engine::order::{order_key, OrderKey};
use hdl_spray_engine::slot_at::{self, SlotAt};
use hdl_spray_engine::slot_order::{self, SlotOrder};
use hdl_testkit::equivalence::{check, Random};
use hdl_testkit::library;
use proptest::prelude::*;
use rust_hdl::prelude::*;
use stellar_transport::spray::Permutation;
use stellar_wire::hw::pack::to_words;

fn key_record(key: u32) -> OrderKey {
    order_key(u64::from(key).to_bits())
}

/// Returns both permutations of a map under a key.
fn permuted(key: u32, map: u64) -> [u64; 2] {
    let mut model = library::<SlotOrder>().instantiate();
    let port = |name: &str| model.port(name).expect("port");
    let (clock, ordered, located) = (port("clock"), port("ordered"), port("located"));
    let (key_port, slots, positions) = (port("key"), port("slots"), port("positions"));
    model.set(key_port, &to_words(key_record(key)));
    model.set_u64(slots, map);
    model.set_u64(positions, map);
    for _ in 0..slot_order::LATENCY {
        model.clock(clock);
    }
    [ordered, located].map(|port| model.get_u64(port))
}

fn slot_at(key: u32, position: u8) -> u8 {
    let mut model = library::<SlotAt>().instantiate();
    let port = |name: &str| model.port(name).expect("port");
    let (clock, key_port, at, slot) = (port("clock"), port("key"), port("position"), port("slot"));
    model.set_u64(key_port, key.into());
    model.set_u64(at, position.into());
    for _ in 0..slot_at::LATENCY {
        model.clock(clock);
    }
    model.get_u64(slot) as u8
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn maps_and_slots_are_permuted_as_the_reference_does(key in 0..1_u32 << 28, map in any::<u64>()) {
        let reference = Permutation::new(key);
        let (mut ordered, mut located) = (0, 0);
        for position in 0..64 {
            let slot = reference.slot(position);
            ordered |= (map >> slot & 1) << position;
            located |= (map >> position & 1) << slot;
            prop_assert_eq!(slot_at(key, position), slot);
        }
        prop_assert_eq!(permuted(key, map), [ordered, located]);
    }
}

#[test]
fn verilog_agrees_with_rust_hdl() {
    let drive = |block: &mut SlotOrder, rng: &mut _| {
        block.key.next = order_key(Bits::random(rng));
        block.slots.next = Bits::random(rng);
        block.positions.next = Bits::random(rng);
    };
    check(SlotOrder::default, Some(|b| &mut b.clock), drive, 200, 1).unwrap();
    let drive = |block: &mut SlotAt, rng: &mut _| {
        block.key.next = Bits::random(rng);
        block.position.next = Bits::random(rng);
    };
    check(SlotAt::default, Some(|b| &mut b.clock), drive, 500, 2).unwrap();
}
