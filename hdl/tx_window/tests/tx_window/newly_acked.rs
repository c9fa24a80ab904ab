//! Packets that a SACK acknowledges, according to the reference.

use std::collections::BTreeMap;

use stellar_transport::requester::{SackView, SlotState, Window, SLOTS};

/// Packets that a SACK acknowledges for the first time.
#[derive(Default)]
pub struct NewlyAcked {
    pub packets: u32,
    pub bytes: u32,
    pub spurious: u32,
    /// The number of packets in each bank, by word of slots.
    words: BTreeMap<u32, [u32; 4]>,
}

impl NewlyAcked {
    /// Does what `MrcRequester::acknowledge` does.
    pub fn take(window: &mut Window, view: &SackView) -> Self {
        let una = window.una();
        let cumulative = if view.cack.is_behind(una) {
            0
        } else {
            view.cack.distance_from(una) + 1
        };
        let mut newly_acked = Self::default();
        let cumulative = (0..cumulative).map(|i| una.plus(i));
        for psn in cumulative.chain(view.bits()).chain([view.acked]) {
            if let Some((sent, state)) = window.acknowledge(psn) {
                newly_acked.packets += 1;
                newly_acked.bytes += u32::from(sent.length);
                newly_acked.spurious += u32::from(state == SlotState::Lost);
                let slot = psn.value() % SLOTS;
                newly_acked.words.entry(slot / 64).or_default()[(slot % 4) as usize] += 1;
            }
        }
        newly_acked
    }

    /// Returns the maximum number of cycles of the SACK.
    pub fn cycles(&self) -> u32 {
        let reads = |banks: &[u32; 4]| *banks.iter().max().expect("four");
        let walks: u32 = self.words.values().map(|word| 1 + reads(word)).sum();
        // Up to four words have no newly acknowledged packet. There are up to three searches, each of which may go to another word.
        2 + walks + 4 * 2 + 3 * 4 + 1
    }
}
