//! Pulses from one clock to another.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

use crate::crossing_source::CrossingSource;
use crate::level_synchroniser::LevelSynchroniser;

/// Makes of a pulse on `from_clock` one pulse on `to_clock`, each one cycle long.
///
/// A pulse changes `toggle`, a level that crosses. Its value comes back as the acknowledgement, and until then `busy` is high: a pulse in that time is
/// ignored, so nothing arrives merged or twice. `STAGES` is that of both [`LevelSynchroniser`]s.
///
/// There is no reset, and no reset rule: both toggles start as 0, and a reset of one alone would make a pulse out of nothing.
#[derive(LogicBlock, Default)]
pub struct PulseHandshake<const STAGES: usize> {
    pub from_clock: Signal<In, Clock>,
    pub to_clock: Signal<In, Clock>,

    /// A pulse, on `from_clock`.
    pub pulse: Signal<In, Bit>,
    /// The last pulse is under way, and another one would be ignored. On `from_clock`.
    pub busy: Signal<Out, Bit>,
    /// The pulse, on `to_clock`.
    pub out: Signal<Out, Bit>,

    toggle: CrossingSource<1>,
    toggle_seen: LevelSynchroniser<1, STAGES>,
    /// The toggle that has made its pulse, which goes back as the acknowledgement.
    done: CrossingSource<1>,
    done_seen: LevelSynchroniser<1, STAGES>,
}

impl<const STAGES: usize> Logic for PulseHandshake<STAGES> {
    #[hdl]
    fn update(&mut self) {
        self.toggle.clock.next = self.from_clock.val();
        self.done_seen.clock.next = self.from_clock.val();
        self.toggle_seen.clock.next = self.to_clock.val();
        self.done.clock.next = self.to_clock.val();

        let sent = self.toggle.q.val().get_bit(0);
        let waits = sent ^ self.done_seen.synchronised.val().get_bit(0);
        let starts = self.pulse.val() & !waits;
        self.toggle.d.next = bit_cast::<1, 1>((sent ^ starts).into());
        self.busy.next = waits;
        self.toggle_seen.level.next = self.toggle.q.val();

        self.done.d.next = self.toggle_seen.synchronised.val();
        self.out.next = self.toggle_seen.synchronised.val() != self.done.q.val();
        self.done_seen.level.next = self.done.q.val();
    }
}
