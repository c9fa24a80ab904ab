//! Contents of a SACK, checked against the window (hardware block `sack_flow`, first half).

use stellar_wire::mrc::Seth;

use super::window::{Window, SLOTS};
use crate::rx::Psn;

/// Why a SACK is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SackRefusal {
    /// Its cumulative PSN is more than a window before ours, so it is too old to contain news.
    OutOfWindow,
    /// It acknowledges a PSN that was never sent.
    Inconsistent,
}

/// A SACK in terms of PSNs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackView {
    /// Everything up to here was received.
    pub cack: Psn,
    /// The packet that is answered. It was received, whatever its bit says: the bitmap may be a snapshot from before it.
    pub acked: Psn,
    /// PSN of bit 0.
    pub base: Psn,
    /// Bit i: `base + i` was received.
    pub bitmap: u64,
}

impl SackView {
    /// The PSNs of a SETH.
    pub const fn of(seth: &Seth) -> Self {
        let cack = Psn::new(seth.cack_psn);
        Self {
            cack,
            acked: offset(cack, seth.ack_psn_offset),
            base: offset(cack, seth.sack_offset),
            bitmap: seth.bitmap,
        }
    }

    /// Checks it against the window.
    ///
    /// # Errors
    /// [`SackRefusal`].
    pub fn check(&self, window: &Window) -> Result<(), SackRefusal> {
        let before = window.una().previous();
        if self.cack.is_behind(before) && before.distance_from(self.cack) > SLOTS {
            return Err(SackRefusal::OutOfWindow);
        }
        let sent = |psn: Psn| psn.is_behind(window.next());
        if !sent(self.cack) || !sent(self.acked) {
            return Err(SackRefusal::Inconsistent);
        }
        // Bits of PSNs not sent yet: all from `sent_bits` on.
        let sent_bits = if sent(self.base) {
            window.next().distance_from(self.base)
        } else {
            0
        };
        let unsent = self.bitmap.checked_shr(sent_bits).unwrap_or(0);
        if unsent != 0 {
            return Err(SackRefusal::Inconsistent);
        }
        Ok(())
    }

    /// Whether it shows that a packet in flight had not arrived: it is the first missing one, its bit is clear, or it is at least `threshold` PSNs behind the
    /// packet that is answered, so that another SACK would have told about it. The packet is in flight after this SACK, so a bit that names it is clear.
    pub const fn shows_missing(&self, psn: Psn, threshold: u32) -> bool {
        psn.distance_from(self.cack) == 1
            || psn.distance_from(self.base) < u64::BITS
            || !self.acked.is_behind(psn.plus(threshold))
    }

    /// PSNs the bitmap names, lowest bit first.
    pub fn bits(&self) -> impl Iterator<Item = Psn> + use<> {
        let (base, mut rest) = (self.base, self.bitmap);
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| rest.trailing_zeros())?;
            rest &= rest - 1;
            Some(base.plus(bit))
        })
    }
}

/// A PSN with a signed 16-bit offset: 2^24 divides 2^32, so the sum may wrap there.
const fn offset(psn: Psn, offset: i16) -> Psn {
    Psn::new(psn.value().wrapping_add(offset as i32 as u32))
}
