//! Tags of tenants: their places in virtual time.

use hdl_congestion::DspMultiply;
use hdl_macros::{clock, hdl};
use hdl_primitives::BlockRam;
use rust_hdl::prelude::*;
use stellar_wire::hw::tenant::COST_BITS;
use stellar_wire::rows::STEP_SHIFT;

use crate::schedule_step::ScheduleStep;
use crate::virtual_time::{charged, present, Tag, TURN_BITS};

/// Tags of 2^`P` tenants, and the tag of the one that is moved: it is charged with its burst, or comes back to the present. Virtual time goes on over a reset. Levels: a carry chain and 3.
#[derive(LogicBlock, Default)]
pub struct TenantTag<const P: usize> {
    pub clock: Signal<In, Clock>,

    pub step: Signal<In, ScheduleStep>,
    /// Tenant whose tag is read in the next cycle.
    pub tenant: Signal<In, Bits<P>>,
    /// `Turn`: virtual time per byte, and bytes of the burst.
    pub per_byte: Signal<In, Bits<16>>,
    pub cost: Signal<In, Bits<COST_BITS>>,
    /// `Return`: present virtual time, and whether the tenant goes into the wheel.
    pub now: Signal<In, Bits<TURN_BITS>>,
    pub may_send: Signal<In, Bit>,
    /// `Place`: the tenant that is moved. Its tag is written.
    pub moved_tenant: Signal<In, Bits<P>>,
    /// Bucket of the tag of the tenant that is moved.
    pub turn: Signal<Out, Bits<TURN_BITS>>,

    tags: BlockRam<Tag, P>,
    weigh: DspMultiply<16, COST_BITS, { 16 + COST_BITS }>,
    tag: DFF<Tag>,
}

impl<const P: usize> Logic for TenantTag<P> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, tag);
        clock!(self, clock, tags, weigh);
        let tag = self.tag.q.val();
        self.tags.read_address.next = self.tenant.val();
        let old_tag = self.tags.read_data.val();

        self.weigh.a.next = self.per_byte.val();
        self.weigh.b.next = self.cost.val();
        let virtual_time =
            bit_cast::<32, { 16 + COST_BITS }>(self.weigh.product.val() >> STEP_SHIFT as u64);
        let charged = charged(tag, virtual_time);
        match self.step.val() {
            ScheduleStep::Turn => self.tag.d.next = old_tag,
            ScheduleStep::Charge => self.tag.d.next = charged,
            ScheduleStep::Return => {
                self.tag.d.next = if self.may_send.val() {
                    present(old_tag, self.now.val())
                } else {
                    old_tag
                };
            }
            _ => {}
        }
        self.tags.write_enable.next = self.step.val() == ScheduleStep::Place;
        self.tags.write_address.next = self.moved_tenant.val();
        self.tags.write_data.next = tag;
        self.turn.next = tag.turn;
    }
}
