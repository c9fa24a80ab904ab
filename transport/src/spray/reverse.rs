//! Entropy values for control packets.

use stellar_wire::mrc::Entropy;

/// The newest known-good entropy value of each plane, for SACK, NACK and probe answers, which must not wait for a path
/// to be tried. The caller decides what counts as good: a data packet on it was acknowledged without a mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReversePaths {
    newest: [Option<Entropy>; 2],
}

impl ReversePaths {
    /// Notes that `entropy` works in `plane`, 0 or 1.
    pub fn note_good(&mut self, plane: u8, entropy: Entropy) {
        self.newest[usize::from(plane & 1)] = Some(entropy);
    }

    /// Returns the newest good value of `plane`. Returns `None` while none is known.
    pub fn pick(&self, plane: u8) -> Option<Entropy> {
        self.newest[usize::from(plane & 1)]
    }
}
