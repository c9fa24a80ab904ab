//! Counters that software reads one at a time.

use hdl_macros::hdl;
use hdl_primitives::{Checked, Parameters};
use rust_hdl::prelude::*;

/// `N` counters of 48 bits, selected by `S` bits. Each counts up to one event per cycle; a read is answered one cycle later. LUT levels: 3 (select).
#[derive(LogicBlock)]
pub struct CounterBank<const N: usize, const S: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// Sets every counter to zero.
    pub reset: Signal<In, Bit>,

    /// Bit n: an event of counter n.
    pub events: Signal<In, Bits<N>>,

    pub select: Signal<In, Bits<S>>,
    /// The counter selected in the cycle before; zero beyond the last.
    pub value: Signal<Out, Bits<48>>,

    counters: [DFF<Bits<48>>; N],
    read: DFF<Bits<48>>,
}

impl<const N: usize, const S: usize> Default for CounterBank<N, S> {
    fn default() -> Self {
        Self {
            _parameters: Default::default(),
            clock: Default::default(),
            reset: Default::default(),
            events: Default::default(),
            select: Default::default(),
            value: Default::default(),
            counters: std::array::from_fn(|_| Default::default()),
            read: Default::default(),
        }
    }
}

impl<const N: usize, const S: usize> Parameters for CounterBank<N, S> {
    fn check() {
        assert!(
            N <= 1 << S,
            "CounterBank<{N}, {S}>: {S} bits do not select {N} counters, use more"
        );
    }
}

impl<const N: usize, const S: usize> Logic for CounterBank<N, S> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, read);
        let mut selected = bits::<48>(0);
        for i in 0..N {
            self.counters[i].clock.next = self.clock.val();
            let now = self.counters[i].q.val();
            let more = bit_cast::<48, 1>(self.events.val().get_bits::<1>(i));
            self.counters[i].d.next = if self.reset.val() {
                bits::<48>(0)
            } else {
                now + more
            };
            let here = if self.select.val() == i as u64 {
                now
            } else {
                bits::<48>(0)
            };
            selected = selected | here;
        }
        self.read.d.next = selected;
        self.value.next = self.read.q.val();
    }
}
