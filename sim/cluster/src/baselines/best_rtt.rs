//! The path with the shortest round trip (BestRTT of STELLAR's figure 9, which gives no rules).

use stellar_transport::spray::{EvIndex, PathAck, PathPolicy, Paths};
use stellar_transport::time::Ticks;

use super::round_trips::slots;
use super::RoundTrips;

/// Paths without a round trip come first, in the oblivious order; then the one with the shortest, the lowest slot of equal ones.
#[derive(Clone, Debug, Default)]
pub(super) struct BestRtt {
    planes: [RoundTrips; 2],
}

impl PathPolicy for BestRtt {
    fn choose(&mut self, paths: &mut Paths, plane: u8, candidates: u64) -> u8 {
        let known = &self.planes[usize::from(plane)];
        let unknown = candidates & known.unknown();
        let best = slots(candidates).min_by_key(|&slot| known.of(slot));
        match best {
            Some(slot) if unknown == 0 => slot,
            _ => paths.next_in_order(plane, unknown),
        }
    }

    fn on_ack(&mut self, paths: &mut Paths, index: Option<EvIndex>, ack: &PathAck, _: Ticks) {
        RoundTrips::sample(&mut self.planes, paths, index, ack);
    }

    fn copy(&self) -> Box<dyn PathPolicy> {
        Box::new(self.clone())
    }
}
