//! Paths in turn, weighted by their round trips (DWRR of STELLAR's figure 9: deficit weighted round robin, Kwon and Fahmy, SPIE 1998). STELLAR gives no
//! rules, so all numbers are ours.

use stellar_transport::spray::{EvIndex, PathAck, PathPolicy, Paths};
use stellar_transport::time::Ticks;

use super::round_trips::slots;
use super::{RoundTrips, Rounds, SLOTS};

/// Weight of the path with the shortest round trip, and of paths without one. A path has a part of it that is the ratio of both round trips, rounded.
const MOST: u32 = 8;
/// Packets of a plane of which one takes a path that has lost all weight.
const RETRY: u32 = 64;

#[derive(Clone, Debug)]
struct Plane {
    weight: [u8; SLOTS],
    credit: [u8; SLOTS],
    /// The slot from which the next one with credit is searched.
    from: u8,
    packets: u32,
}

impl Plane {
    fn with(&self, candidates: u64, of: impl Fn(&Self, usize) -> bool) -> u64 {
        slots(candidates)
            .filter(|&slot| of(self, slot.into()))
            .fold(0, |map, slot| map | 1 << slot)
    }

    /// The next slot of `map`, which is not 0, going round.
    fn next(&mut self, map: u64) -> u8 {
        let turned = map.rotate_right(self.from.into());
        let slot = (self.from + turned.trailing_zeros() as u8) % SLOTS as u8;
        self.from = (slot + 1) % SLOTS as u8;
        slot
    }

    fn choose(&mut self, candidates: u64) -> u8 {
        self.packets += 1;
        let idle = self.with(candidates, |plane, slot| plane.weight[slot] == 0);
        if idle != 0 && self.packets.is_multiple_of(RETRY) {
            return self.next(idle);
        }
        let funded = |plane: &Self| plane.with(candidates, |plane, slot| plane.credit[slot] > 0);
        let mut map = funded(self);
        if map == 0 {
            self.credit = self.weight;
            map = funded(self);
        }
        if map == 0 {
            // None of them has any weight.
            map = candidates;
        }
        let slot = self.next(map);
        let credit = &mut self.credit[usize::from(slot)];
        *credit = credit.saturating_sub(1);
        slot
    }

    fn weigh(&mut self, round_trips: &RoundTrips) {
        let known = |slot: usize| round_trips.of(slot as u8);
        let Some(shortest) = (0..SLOTS).filter_map(known).min() else {
            return;
        };
        for (slot, weight) in self.weight.iter_mut().enumerate() {
            let part = known(slot).map_or(MOST, |own| (MOST * shortest + own / 2) / own);
            *weight = part as u8;
        }
    }
}

/// Weights change once in a round trip.
#[derive(Clone, Debug)]
pub(super) struct Dwrr {
    planes: [Plane; 2],
    round_trips: [RoundTrips; 2],
    rounds: Rounds,
}

impl Default for Dwrr {
    fn default() -> Self {
        let plane = Plane {
            weight: [MOST as u8; SLOTS],
            credit: [MOST as u8; SLOTS],
            from: 0,
            packets: 0,
        };
        Self {
            planes: [plane.clone(), plane],
            round_trips: Default::default(),
            rounds: Rounds::default(),
        }
    }
}

impl PathPolicy for Dwrr {
    fn choose(&mut self, _: &mut Paths, plane: u8, candidates: u64) -> u8 {
        self.planes[usize::from(plane)].choose(candidates)
    }

    fn on_ack(&mut self, paths: &mut Paths, index: Option<EvIndex>, ack: &PathAck, _: Ticks) {
        RoundTrips::sample(&mut self.round_trips, paths, index, ack);
        if self.rounds.ends(ack) {
            for (plane, round_trips) in self.planes.iter_mut().zip(&self.round_trips) {
                plane.weigh(round_trips);
            }
        }
    }

    fn copy(&self) -> Box<dyn PathPolicy> {
        Box::new(self.clone())
    }
}
