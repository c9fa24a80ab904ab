//! Counter of WRITEs with immediate, without order.

/// Counts the WRITEs with immediate of one queue pair whose payload has been placed completely, in any order. The count has 32 bits and wraps. It
/// raises an event once when it reaches an armed threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImmCounter {
    count: u32,
    threshold: Option<u32>,
}

impl ImmCounter {
    /// Number of WRITEs with immediate counted so far.
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// Arms one event for when the count is `threshold`. Returns whether it already is, in which case the event is due
    /// now and nothing stays armed.
    pub fn arm(&mut self, threshold: u32) -> bool {
        let reached = self.count == threshold;
        self.threshold = (!reached).then_some(threshold);
        reached
    }

    /// Counts one. Returns whether that raises the event.
    pub fn increment(&mut self) -> bool {
        self.count = self.count.wrapping_add(1);
        let reached = self.threshold == Some(self.count);
        if reached {
            self.threshold = None;
        }
        reached
    }
}
