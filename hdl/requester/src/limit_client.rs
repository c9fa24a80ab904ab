//! What a schedule asks the limits of tenants.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::tenant::{TenantCharge, COST_BITS};
use stellar_wire::rows::TENANT_BITS;

use crate::bundles::ChargeSrc;

/// log2 of the cycles after which a question, or the return of a tenant, is overdue.
const PAUSE_BITS: usize = 7;
/// Cycles between two questions.
const PAUSE_CYCLES: u64 = 16;

/// Pays for bursts of tenants that have a limit, and asks with a cost of 0 whether a tenant that rests has tokens again. A question goes before a payment, and its answer
/// stays until the tenant `returns`. Levels: 2 (4 with the answer of `charge`).
#[derive(LogicBlock, Default)]
pub struct LimitClient<const P: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub charge: ChargeSrc,

    // Payment: stable from `pays` on until `paid`.
    pub pays: Signal<In, Bit>,
    pub payer: Signal<In, Bits<P>>,
    pub cost: Signal<In, Bits<COST_BITS>>,
    pub paid: Signal<Out, Bit>,
    /// Valid with `paid`: it has tokens left.
    pub may_go_on: Signal<Out, Bit>,

    // Question.
    /// One cycle: asks for this tenant. Only while `may_ask` is high.
    pub asks: Signal<In, Bit>,
    pub asked: Signal<In, Bits<P>>,
    pub may_ask: Signal<Out, Bit>,
    /// The answer is there, about this tenant.
    pub answered: Signal<Out, Bit>,
    pub answered_tenant: Signal<Out, Bits<P>>,
    pub may_send: Signal<Out, Bit>,
    /// One cycle: the answer has been used.
    pub returns: Signal<In, Bit>,
    /// Neither a question nor a return had its turn for 128 cycles.
    pub overdue: Signal<Out, Bit>,

    /// It is asked whether a tenant has tokens again; the answer is there.
    asking: DFF<Bit>,
    asked_tenant: DFF<Bits<P>>,
    answer: DFF<Bit>,
    tokens: DFF<Bit>,
    pause: DFF<Bits<PAUSE_BITS>>,
}

impl<const P: usize> Logic for LimitClient<P> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, asking, asked_tenant, answer, tokens, pause);
        let asking = self.asking.q.val();
        let asked_tenant = self.asked_tenant.q.val();
        let answer = self.answer.q.val();
        let pause = self.pause.q.val();
        let charged = self.charge.ready.val();

        let charged_tenant = if asking {
            asked_tenant
        } else {
            self.payer.val()
        };
        self.charge.valid.next = asking | self.pays.val();
        self.charge.record.next = TenantCharge {
            tenant: bit_cast::<TENANT_BITS, P>(charged_tenant),
            cost: if asking {
                bits::<COST_BITS>(0)
            } else {
                self.cost.val()
            },
        };
        self.paid.next = self.pays.val() & !asking & charged;
        self.may_go_on.next = self.charge.may_send.val();

        self.may_ask.next = !asking & !answer & (pause < (1 << PAUSE_BITS) - PAUSE_CYCLES);
        self.answered.next = answer;
        self.answered_tenant.next = asked_tenant;
        self.may_send.next = self.tokens.q.val();
        self.overdue.next = !asking & !pause.any();
        if asking & charged {
            self.asking.d.next = false;
            self.answer.d.next = true;
            self.tokens.d.next = self.charge.may_send.val();
        }
        if pause.any() {
            self.pause.d.next = pause - 1;
        }
        if self.asks.val() {
            self.asked_tenant.d.next = self.asked.val();
            self.asking.d.next = true;
        }
        if self.returns.val() {
            self.answer.d.next = false;
        }
        if self.asks.val() | self.returns.val() {
            self.pause.d.next = Bits::<PAUSE_BITS>::mask();
        }
        if self.reset.val() {
            self.asking.d.next = false;
            self.answer.d.next = false;
        }
    }
}
