//! Planes and the path a retransmission avoids.

use proptest::prelude::*;
use stellar_transport::spray::ReversePaths;
use stellar_transport::spray::{PlaneMask, Policy, Spray, SprayConfig};
use stellar_transport::time::Ticks;
use stellar_wire::mrc::Entropy;

use crate::spray::common::{config, ev, indices, next, spray, used};

#[test]
fn packets_alternate_between_the_planes() {
    for policy in [Policy::Obs, Policy::RoundRobin, Policy::EvState] {
        let mut spray = spray(policy, 128);
        let planes: Vec<_> = (0..1_000).map(|_| next(&mut spray)).collect();
        assert!(
            planes.windows(2).all(|pair| pair[0].plane != pair[1].plane),
            "{policy:?}"
        );
        assert!(planes.iter().all(|path| path.plane == path.index.plane()));
    }
}

#[test]
fn one_plane_takes_everything_while_the_other_is_down() {
    let mut spray = spray(Policy::Obs, 128);
    indices(&mut spray, 77);
    spray.set_plane(0, false);
    assert!(indices(&mut spray, 500).iter().all(|index| index & 1 == 1));
    spray.set_plane(0, true);
    let odd = indices(&mut spray, 500)
        .iter()
        .filter(|index| **index & 1 == 1)
        .count();
    assert_eq!(odd, 250, "balanced again");
    spray.set_plane(0, false);
    spray.set_plane(1, false);
    assert_eq!(spray.choose(None, PlaneMask::BOTH), None);
}

#[test]
fn a_port_that_asks_gets_paths_of_its_plane() {
    let mut spray = spray(Policy::Obs, 128);
    for plane in [0, 0, 0, 1, 1, 0, 0] {
        let path = spray
            .choose(None, PlaneMask::only(plane))
            .expect("a usable path");
        assert_eq!(path.plane, plane);
    }
    assert_eq!(spray.choose(None, PlaneMask::NONE), None);
    // The last packet took plane 0.
    assert_eq!(next(&mut spray).plane, 1);
}

#[test]
fn a_single_path_waits_for_its_port_and_moves_when_the_port_is_down() {
    let mut spray = spray(Policy::SinglePath, 2);
    let home = next(&mut spray).plane;
    assert_eq!(spray.choose(None, PlaneMask::only(1 - home)), None);
    spray.set_plane(home, false);
    assert_eq!(next(&mut spray).plane, 1 - home);
}

#[test]
fn the_only_path_is_used_again_although_avoided() {
    let mut spray = spray(Policy::Obs, 2);
    assert_eq!(used_avoiding(&mut spray, 0, 50), [1]);
    spray.set_plane(1, false);
    assert_eq!(
        used_avoiding(&mut spray, 0, 50),
        [0],
        "nothing else is left"
    );
}

#[test]
fn avoiding_waits_for_the_port_of_the_other_path() {
    let mut spray = spray(Policy::Obs, 2);
    assert_eq!(spray.choose(Some(ev(0)), PlaneMask::only(0)), None);
    assert_eq!(
        spray
            .choose(Some(ev(0)), PlaneMask::only(1))
            .map(|path| path.index),
        Some(ev(1))
    );
}

fn used_avoiding(spray: &mut Spray, avoid: u8, count: usize) -> Vec<u8> {
    let mut used: Vec<_> = (0..count)
        .map(|_| {
            spray
                .choose(Some(ev(avoid)), PlaneMask::BOTH)
                .expect("a usable path")
                .index
                .value()
        })
        .collect();
    used.sort_unstable();
    used.dedup();
    used
}

proptest! {
    #[test]
    fn an_avoided_path_is_not_chosen(
        half in 2_u8..=64,
        seed in 1_u32..,
        avoid in any::<prop::sample::Index>(),
        policy in prop::sample::select(vec![Policy::Obs, Policy::RoundRobin, Policy::EvState]),
        mask in prop::sample::select(vec![PlaneMask::only(0), PlaneMask::only(1), PlaneMask::BOTH]),
    ) {
        let mut spray = Spray::new(SprayConfig { seed, ..config(policy, 2 * half) }).expect("usual");
        let avoid = ev(avoid.index(2 * usize::from(half)) as u8);
        for _ in 0..200 {
            let path = spray.choose(Some(avoid), mask).expect("another path in the same plane");
            prop_assert_ne!(path.index, avoid);
        }
    }

    #[test]
    fn planes_stay_balanced_within_one_packet(paths in 1_u8..=64, seed in 1_u32.., packets in 1_usize..400) {
        let mut spray = Spray::new(SprayConfig { seed, ..config(Policy::Obs, 2 * paths) }).expect("usual");
        let odd = indices(&mut spray, packets).iter().filter(|index| **index & 1 == 1).count();
        prop_assert!(odd.abs_diff(packets - odd) <= 1);
    }
}

#[test]
fn denied_paths_are_left_out_by_every_policy() {
    for policy in [Policy::Obs, Policy::RoundRobin, Policy::EvState] {
        let mut spray = spray(policy, 8);
        spray.deny(ev(2));
        spray.deny(ev(5));
        assert_eq!(used(&mut spray, 100), [0, 1, 3, 4, 6, 7], "{policy:?}");
        spray.allow(ev(2));
        spray.allow(ev(5));
        assert_eq!(used(&mut spray, 100).len(), 8, "{policy:?}");
    }
}

#[test]
fn control_packets_take_the_newest_good_value_of_their_plane() {
    let mut reverse = ReversePaths::default();
    let now = Ticks(5);
    let pick = |reverse: &ReversePaths| (reverse.pick(0, now), reverse.pick(1, now));
    assert_eq!(pick(&reverse), (None, None));
    reverse.note_good(0, Entropy(7), now);
    reverse.note_good(1, Entropy(8), now);
    reverse.note_good(0, Entropy(9), now);
    assert_eq!(pick(&reverse), (Some(Entropy(9)), Some(Entropy(8))));
}

#[test]
fn a_good_value_is_forgotten_when_nothing_confirms_it() {
    // Also around the wrap of the clock.
    for start in [Ticks(0), Ticks(0u32.wrapping_sub(ReversePaths::LIFE.0))] {
        let after =
            |lives: u32, ticks: u32| start.plus(Ticks(lives * ReversePaths::LIFE.0 + ticks));
        let mut reverse = ReversePaths::default();
        reverse.note_good(1, Entropy(8), after(0, 100));
        assert_eq!(reverse.pick(1, after(1, 99)), Some(Entropy(8)));
        assert_eq!(reverse.pick(1, after(2, 99)), None);
        reverse.note_good(1, Entropy(8), after(3, 0));
        assert_eq!(reverse.pick(1, after(4, 99)), Some(Entropy(8)));
        assert_eq!(reverse.pick(1, after(5, 0)), None);
    }
}
