//! Flow control for a stream that reaches a FIFO without `ready`: the sender holds credits for free entries.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

/// Counts the entries that were sent and have not yet left the FIFO. `room` is a register, so it may be used anywhere in the sender.
///
/// `C` is the width of the count. At most `limit` entries are in flight or in the FIFO, so a FIFO with `limit` entries is never full when one
/// arrives. `room` describes the state of the previous cycle. Therefore one entry always stays free, and `limit - 1` entries are usable. `room` is
/// false in the cycle after reset.
/// LUT levels: 2 (compare), 3 (count).
#[derive(LogicBlock)]
pub struct Credit<const C: usize> {
    pub clock: Signal<In, Clock>,
    /// Sets the count to 0. It must be asserted only when the FIFO is empty, or is reset as well.
    pub reset: Signal<In, Bit>,
    /// An entry is sent. This is allowed only with `room`.
    pub take: Signal<In, Bit>,
    /// An entry left the FIFO.
    pub give: Signal<In, Bit>,
    pub room: Signal<Out, Bit>,

    used: DFF<Bits<C>>,
    open: DFF<Bit>,
    _limit: u64,
}

impl<const C: usize> Credit<C> {
    /// Makes the counter for a FIFO of `limit` entries.
    pub fn new(limit: usize) -> Self {
        assert!(
            limit >= 2 && limit < 1 << C,
            "Credit<{C}> for {limit} entries: use 2 to {}, or a wider count",
            (1 << C) - 1
        );
        Self {
            clock: Default::default(),
            reset: Default::default(),
            take: Default::default(),
            give: Default::default(),
            room: Default::default(),
            used: Default::default(),
            open: Default::default(),
            _limit: limit as u64,
        }
    }
}

impl<const C: usize> Logic for Credit<C> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, used, open);
        let used = self.used.q.val();
        assert!(used.index() as u64 <= self._limit, "Credit overdrawn");
        if self.take.val() & !self.give.val() {
            self.used.d.next = used + 1;
        }
        if self.give.val() & !self.take.val() {
            self.used.d.next = used - 1;
        }
        // Entries that are sent in this cycle and in the next one are not yet in `used`.
        self.open.d.next = used < self._limit - 1;
        self.room.next = self.open.q.val();
        if self.reset.val() {
            self.used.d.next = bits(0);
            self.open.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "Credit<3> for 8 entries: use 2 to 7")]
    fn a_limit_the_count_cannot_hold_is_refused() {
        let _ = Credit::<3>::new(8);
    }
}
