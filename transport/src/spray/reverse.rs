//! Entropy values for control packets.

use stellar_wire::mrc::Entropy;
use stellar_wire::time::CONTROL_PATH_EPOCH_LOG2;

use crate::time::Ticks;

/// The newest known-good entropy value of each plane, for SACK, NACK and probe answers, which must not wait for a path
/// to be tried. The caller decides what counts as good: a data packet on it was acknowledged without a mark.
///
/// A value is forgotten when nothing has confirmed it for one to two [`Self::LIFE`]s. A queue pair that only receives hears nothing about its own paths, and would
/// lose every answer if it held on to one that has died since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReversePaths {
    newest: [Option<Noted>; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Noted {
    entropy: Entropy,
    epoch: u16,
}

impl ReversePaths {
    /// Length of an epoch. A value lives in the epoch in which it was noted, and in the next one.
    pub const LIFE: Ticks = Ticks(1 << CONTROL_PATH_EPOCH_LOG2);

    /// Notes that `entropy` works in `plane`, 0 or 1.
    pub fn note_good(&mut self, plane: u8, entropy: Entropy, now: Ticks) {
        self.newest[usize::from(plane & 1)] = Some(Noted {
            entropy,
            epoch: epoch(now),
        });
    }

    /// Returns the newest good value of `plane`. Returns `None` while none is known.
    pub fn pick(&self, plane: u8, now: Ticks) -> Option<Entropy> {
        let noted = self.newest[usize::from(plane & 1)]?;
        (epoch(now).wrapping_sub(noted.epoch) <= 1).then_some(noted.entropy)
    }
}

/// The number of the epoch, which wraps after 17 s.
const fn epoch(now: Ticks) -> u16 {
    (now.0 / ReversePaths::LIFE.0) as u16
}
