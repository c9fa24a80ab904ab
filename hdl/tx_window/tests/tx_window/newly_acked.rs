//! Packets that a SACK acknowledges, according to the reference.

use std::collections::BTreeMap;

use stellar_transport::requester::{SackView, SlotState, Window};

/// Packets that a SACK acknowledges for the first time.
#[derive(Default)]
pub struct NewlyAcked {
    pub packets: u32,
    pub bytes: u32,
    pub spurious: u32,
    /// The number of packets in each bank, by block.
    blocks: BTreeMap<u32, [u32; 4]>,
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
                let place = psn.value();
                newly_acked.blocks.entry(place / 32).or_default()[(place % 4) as usize] += 1;
            }
        }
        newly_acked
    }

    /// Returns the maximum number of cycles of a SACK that visits this number of blocks.
    pub fn cycles(&self, visits: u32) -> u32 {
        // A visit without reads takes one cycle too.
        let reads = |banks: &[u32; 4]| *banks.iter().max().expect("four") - 1;
        let reads: u32 = self.blocks.values().map(reads).sum();
        // Request, row, first block; visits; the block of the answered packet waits for the banks; latency of the last read; response.
        3 + visits + reads + 1 + 2
    }
}
