//! The tags of reads.

use hdl_macros::{clock_reset, hdl, join};
use hdl_pcie::read::records::TagUse;
use hdl_pcie::read::tag_pool::TagPool;
use hdl_primitives::Src;
use rust_hdl::prelude::*;

/// The pool's tags are those from 1 to 3, of 4.
const FIRST: usize = 1;
const END: usize = 4;

/// Properties of [`TagPool`] with three of four tags.
#[derive(LogicBlock)]
pub struct TagPoolProof {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub free: Src<TagUse>,
    pub return_valid: Signal<In, Bit>,
    pub returned: Signal<In, TagUse>,

    /// Nothing is taken or returned during the sweep.
    pub given_swept: Signal<Out, Bit>,
    /// Only a tag that is in use returns, with the phase of its use.
    pub given_return_of_used: Signal<Out, Bit>,

    /// No tag is offered that is in use: a tag has one outstanding request at most.
    pub holds_unused: Signal<Out, Bit>,
    /// Only tags of the pool's range are offered.
    pub holds_in_range: Signal<Out, Bit>,
    /// The phase of a use differs from that of the tag's use before, and that of the first use from the cleared tables'.
    pub holds_phase: Signal<Out, Bit>,
    /// A tag is offered at most two cycles after one is free: none is lost.
    pub holds_offer: Signal<Out, Bit>,
    /// Two cycles after a tag was taken, and until one after the last has returned, `some_used` is high.
    pub holds_some_used: Signal<Out, Bit>,
    /// All tags can be in use.
    pub reaches_all_used: Signal<Out, Bit>,
    /// A tag can be used a second time.
    pub reaches_second_use: Signal<Out, Bit>,

    pool: TagPool<2, 3>,
    /// The tags that are in use, and the phase of each tag's latest use.
    used: DFF<Bits<4>>,
    phases: DFF<Bits<4>>,
    was_used: DFF<Bit>,
    /// Cycles with a free tag, and none offered.
    silent: DFF<Bits<2>>,
}

impl Default for TagPoolProof {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            free: Default::default(),
            return_valid: Default::default(),
            returned: Default::default(),
            given_swept: Default::default(),
            given_return_of_used: Default::default(),
            holds_unused: Default::default(),
            holds_in_range: Default::default(),
            holds_phase: Default::default(),
            holds_offer: Default::default(),
            holds_some_used: Default::default(),
            reaches_all_used: Default::default(),
            reaches_second_use: Default::default(),
            pool: TagPool::new(FIRST, END),
            used: Default::default(),
            phases: Default::default(),
            was_used: Default::default(),
            silent: Default::default(),
        }
    }
}

impl Logic for TagPoolProof {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, used, phases, was_used, silent);
        clock_reset!(self, pool);
        join!(self, pool.free => free, return_valid => pool.return_valid, returned => pool.returned);

        let used = self.used.q.val();
        let phases = self.phases.q.val();
        let sweeping = self.pool.sweeping.val();
        let offered = self.pool.free.valid.val();
        let takes = offered & self.free.ready.val();
        let returns = self.return_valid.val();
        let returned = self.returned.val();
        let free = self.pool.free.record.val();
        let back = returned.tag.get_bits::<2>(0);
        let next = free.tag.get_bits::<2>(0);
        let freed = if returns {
            bits::<4>(1) << bit_cast::<4, 2>(back)
        } else {
            bits::<4>(0)
        };
        let taken = if takes {
            bits::<4>(1) << bit_cast::<4, 2>(next)
        } else {
            bits::<4>(0)
        };
        self.given_swept.next = !sweeping | !(takes | returns);
        let back_phase = (phases >> bit_cast::<4, 2>(back)).get_bit(0);
        self.given_return_of_used.next =
            !returns | ((used & freed).any() & (returned.tag < 4) & (returned.phase == back_phase));

        self.used.d.next = (used & !freed) | taken;
        if takes {
            self.phases.d.next = phases ^ taken;
        }
        self.was_used.d.next = used.any();
        let all = used == 14;
        self.silent.d.next = if offered | sweeping | all {
            bits::<2>(0)
        } else {
            self.silent.q.val() + 1
        };

        let ready = offered & !sweeping;
        let here = bits::<4>(1) << bit_cast::<4, 2>(next);
        self.holds_unused.next = !ready | !(used & here).any();
        self.holds_in_range.next =
            !offered | ((free.tag >= (FIRST as u64)) & (free.tag < (END as u64)));
        self.holds_phase.next = !ready | (free.phase != (phases & here).any());
        self.holds_offer.next = self.silent.q.val() < 2;
        self.holds_some_used.next =
            !(self.was_used.q.val() & used.any()) | self.pool.some_used.val();
        self.reaches_all_used.next = all;
        self.reaches_second_use.next = takes & !free.phase;
        if self.reset.val() {
            self.used.d.next = bits(0);
            self.phases.d.next = bits(0);
            self.was_used.d.next = false;
            self.silent.d.next = bits(0);
        }
    }
}
