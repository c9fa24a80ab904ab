//! What the baselines keep of round trips.

use stellar_transport::rx::Psn;
use stellar_transport::spray::{EvIndex, PathAck, Paths};

use super::SLOTS;

/// Smoothed round trips of a plane's slots: an eighth of every sample counts.
#[derive(Clone, Debug)]
pub(super) struct RoundTrips([u32; SLOTS]);

impl Default for RoundTrips {
    fn default() -> Self {
        Self([0; SLOTS])
    }
}

impl RoundTrips {
    /// Takes the sample of an acknowledgement into its plane, if it has one and its path is in use.
    pub fn sample(planes: &mut [Self; 2], paths: &Paths, index: Option<EvIndex>, ack: &PathAck) {
        let Some(index) = index.filter(|_| ack.sampled) else {
            return;
        };
        if let Some(slot) = paths.slot_in_service(index) {
            let eighths = &mut planes[usize::from(index.plane())].0[usize::from(slot)];
            let sample = u32::from(ack.round_trip.max(1));
            *eighths = if *eighths == 0 {
                8 * sample
            } else {
                *eighths - *eighths / 8 + sample
            };
        }
    }

    /// The round trip of a slot in eighths of a tick; `None` if there was no sample.
    pub fn of(&self, slot: u8) -> Option<u32> {
        Some(self.0[usize::from(slot)]).filter(|&eighths| eighths > 0)
    }

    /// The slots without a sample.
    pub fn unknown(&self) -> u64 {
        slots(u64::MAX)
            .filter(|&slot| self.of(slot).is_none())
            .fold(0, |map, slot| map | 1 << slot)
    }
}

/// The slots of a map, in their order.
pub(super) fn slots(map: u64) -> impl Iterator<Item = u8> {
    (0..SLOTS as u8).filter(move |slot| map >> slot & 1 == 1)
}

/// Round trips as FlowBender counts them: a round ends when everything is acknowledged that was sent before it began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds(Option<Psn>);

impl Rounds {
    /// Whether a round ends with an acknowledgement. The first one begins a round, and ends none.
    pub fn ends(&mut self, ack: &PathAck) -> bool {
        if self.0.is_some_and(|end| ack.una.is_behind(end)) {
            return false;
        }
        self.0.replace(ack.next_psn).is_some()
    }
}
