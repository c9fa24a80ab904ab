//! Schedule of the queue pairs at a port (reference: `stellar_transport::endpoint::scheduler::Schedule`).

use hdl_macros::{clock, clock_reset, hdl, join};
use hdl_primitives::{Checked, Parameters};
use rust_hdl::prelude::*;
use stellar_wire::hw::tenant::COST_BITS;
use stellar_wire::hw::{Qpn, QPN_BITS};
use stellar_wire::rows::TENANT_BITS;

use crate::bundles::{ChargeSrc, ScheduleSnk, ShareSnk};
use crate::limit_client::LimitClient;
use crate::schedule_inbox::ScheduleInbox;
use crate::schedule_step::{next_step, return_ends, wake_ends, Endings, ScheduleStep};
use crate::share_rows::ShareRows;
use crate::tenant_queues::TenantQueues;
use crate::tenant_tag::TenantTag;
use crate::tenant_wheel::TenantWheel;

/// Maximum number of cycles from `rotate` or `deactivate` to the next valid head, if no tenant has a limit. With limits, the answer to a charge is waited for, too.
pub const TURN_CYCLES: u64 = 16;
/// Maximum number of cycles from an accepted wake-up until the next one can be accepted. By then the first one has taken effect.
pub const WAKE_CYCLES: u64 = 15;

/// Schedules the queue pairs that may have something to send at one port. Tenants share the port in proportion to their weights, and the queue pairs of a tenant take turns.
///
/// * A wake-up appends a queue pair to the queue of its tenant. A tenant that had no queue goes into the wheel. A wake-up of a queue pair that is present changes
///   nothing.
/// * `rotate`: the head has sent a burst of `cost` bytes; it moves to the end of the queue, and its tenant goes into the wheel at its new tag.
/// * `deactivate`: the head has nothing to send and is removed; its tenant keeps its turn if it has other queue pairs.
///
/// `head_qp` is stable while `head_valid` is high. `rotate` and `deactivate` are pulses of one cycle. They exclude each other, and are ignored while
/// `head_valid` is low. In the cycle after such a pulse `head_valid` falls; it rises at most [`TURN_CYCLES`] after the pulse, if there is another head and no tenant has a
/// limit. A wake-up is accepted while `wake_ready` is high; `wake_ready` is high again at most [`WAKE_CYCLES`] later. Turns and wake-ups are executed in the order in which
/// they arrive. A wake-up that is accepted in the cycle of `rotate` or `deactivate` is executed after it, so a queue pair that is deactivated and woken in
/// the same cycle stays present.
///
/// **Wheel** (`TenantWheel`). The tenant that has its turn is in no bucket. If no other tenant is in the wheel, the tenant keeps its turn, and its next queue pair is
/// the head four cycles after `rotate`.
///
/// **Limits.** A tenant with a limit pays at `charge` after each burst, and rests if it has no tokens left. While tenants rest, the block asks for one of them after the other
/// with a cost of 0, every 16 cycles or later. That has a turn between turns and wake-ups: if turns are ten cycles apart, as those of a requester are, and there was none for 128 cycles, no
/// wake-up is accepted until there is one. `wake_ready` is low while a resting tenant is moved.
///
/// The queue of a tenant is a list (`TenantQueues`). The head of a tenant that waits does not change. After reset the queues are cleared, which takes 2^`Q` + 1 cycles in which `wake_ready`
/// is low. The shares are cleared meanwhile (`ShareRows`). Virtual time and tags (`TenantTag`) go on over a reset.
///
/// `Q` is the log2 of the number of queue pairs, at most [`QPN_BITS`]. `P` is the log2 of the number of tenants, at most 12. Levels: 7 (the first bucket from the present one on).
#[derive(LogicBlock, Default)]
pub struct QpSchedule<const Q: usize = 10, const P: usize = 12> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Wake-ups: the queue pair may have something to send.
    pub wake: ScheduleSnk,
    // Shares of tenants. A new one counts from the tenant's next burst on.
    pub share: ShareSnk,
    // Tokens of tenants.
    pub charge: ChargeSrc,
    /// High for one cycle: a resting tenant about which the answer has come is moved.
    pub returns: Signal<Out, Bit>,

    // Sequencer.
    pub head_valid: Signal<Out, Bit>,
    pub head_qp: Signal<Out, Qpn>,
    pub rotate: Signal<In, Bit>,
    /// Bytes of the burst on the wire. Valid in the cycle after `rotate`.
    pub cost: Signal<In, Bits<COST_BITS>>,
    pub deactivate: Signal<In, Bit>,

    queues: TenantQueues<Q, P>,
    tag: TenantTag<P>,
    shares: ShareRows<Q, P>,
    limits: LimitClient<P>,
    wheel: TenantWheel<Q>,
    inbox: ScheduleInbox<Q, P>,

    step: DFF<ScheduleStep>,
    /// There is a head.
    serving: DFF<Bit>,
    head: DFF<Bits<Q>>,
    /// A wake-up is executed; a resting tenant is moved.
    waking: DFF<Bit>,
    returning: DFF<Bit>,
    /// Head and number of the tenant to place, and whether it rests.
    moved: DFF<Bits<Q>>,
    moved_tenant: DFF<Bits<P>>,
    rests: DFF<Bit>,
    /// Bytes that it has sent.
    paid: DFF<Bits<COST_BITS>>,
    limited: DFF<Bit>,
    /// No other tenant is in the wheel: it keeps its turn.
    keeps: DFF<Bit>,
}

impl<const Q: usize, const P: usize> Parameters for QpSchedule<Q, P> {
    fn check() {
        assert!(
            (1..=QPN_BITS).contains(&Q) && (1..=TENANT_BITS).contains(&P),
            "QpSchedule<{Q}, {P}>: use Q of 1 to {QPN_BITS} (2 to 65,536 queue pairs) and P of 1 to {TENANT_BITS} (2 to 4,096 tenants)"
        );
    }
}

impl<const Q: usize, const P: usize> Logic for QpSchedule<Q, P> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, serving, head, waking, returning);
        dff_setup!(self, clock, moved, moved_tenant, rests);
        dff_setup!(self, clock, paid, limited, keeps);
        clock_reset!(self, shares, limits, wheel, inbox);
        clock!(self, clock, queues, tag);
        let step = self.step.q.val();
        let head = self.head.q.val();
        let moved_tenant = self.moved_tenant.q.val();
        let rests = self.rests.q.val();
        let serving = self.serving.q.val();
        let waking = self.waking.q.val();
        let woken = self.inbox.woken.val();
        let woken_tenant = self.inbox.woken_tenant.val();
        let turns = self.inbox.turns.val();
        let leaves = self.inbox.leaves.val();
        let wheel_turns = self.wheel.any.val();
        let resting = self.wheel.resting.val();
        let rest_first = self.wheel.rest_first.val();
        let rest_tenant = self.limits.answered_tenant.val();
        let answered = self.limits.answered.val();

        // select
        let idles = step == ScheduleStep::Idle;
        let wakes = self.inbox.wakes.val();
        let free = idles & !turns & !self.inbox.wake_pending.val();
        let starts = idles & wakes & !serving & !wheel_turns & !resting;
        let returns = free & answered;
        let asks = free & resting & self.limits.may_ask.val();
        let overdue = (resting | answered) & self.limits.overdue.val();

        // accept
        self.inbox.serving.next = serving;
        self.inbox.accepts.next =
            (step != ScheduleStep::Sweep) & !returns & !self.returning.q.val() & !overdue;
        self.inbox.turn_ends.next = step == ScheduleStep::Turn;
        join!(
            self,
            rotate => inbox.rotate,
            deactivate => inbox.deactivate,
            cost => inbox.cost,
            wake => inbox.wake,
            share => shares.share,
            limits.charge => charge,
        );

        // read
        self.queues.row.next = if step == ScheduleStep::WakeRead {
            self.queues.last.val()
        } else if idles & wakes {
            woken
        } else if turns {
            head
        } else {
            rest_first
        };
        let row_tenant = self.queues.row_tenant.val();
        let of_row = if step == ScheduleStep::TurnRead {
            row_tenant
        } else if returns {
            rest_tenant
        } else {
            woken_tenant
        };
        self.shares.tenant.next = of_row;
        let share = self.shares.read.val();

        // keep the queues of tenants
        let next_in_tenant = self.queues.behind_head.val();
        let alone = self.queues.alone.val();
        self.queues.head.next = head;
        self.queues.tenant.next = of_row;
        self.queues.clears.next = step == ScheduleStep::Sweep;
        self.queues.turns.next = step == ScheduleStep::Turn;
        self.queues.rotates.next = (step == ScheduleStep::Turn) & !leaves & !alone;
        self.queues.removes.next = (step == ScheduleStep::Turn) & leaves;
        self.queues.looks.next = step == ScheduleStep::WakeRead;
        self.queues.adds.next = step == ScheduleStep::Wake;
        self.queues.starts.next = starts;
        join!(
            self,
            shares.row => queues.cleared,
            inbox.woken => queues.woken,
            inbox.woken_tenant => queues.woken_tenant,
        );

        // tag of the tenant to place
        let may_send = waking | self.limits.may_send.val();
        self.tag.step.next = step;
        self.tag.tenant.next = of_row;
        self.tag.per_byte.next = share.step;
        self.tag.may_send.next = may_send;
        self.tag.moved_tenant.next = moved_tenant;
        join!(
            self,
            inbox.burst_cost => tag.cost,
            wheel.now => tag.now,
            tag.turn => wheel.turn,
        );

        // limits
        self.limits.pays.next = step == ScheduleStep::Pay;
        self.limits.payer.next = moved_tenant;
        self.limits.cost.next = self.paid.q.val();
        self.limits.asks.next = step == ScheduleStep::AskRead;
        self.limits.asked.next = row_tenant;
        self.limits.returns.next = (step == ScheduleStep::Return) & !waking;

        // wheel
        let places = step == ScheduleStep::Place;
        let keeps = self.keeps.q.val();
        self.wheel.keeps.next = places & keeps;
        self.wheel.rests.next = places & !keeps & rests;
        self.wheel.enters.next = places & !keeps & !rests;
        self.wheel.head.next = self.moved.q.val();
        self.wheel.find.next = step == ScheduleStep::Find;
        self.wheel.take.next = step == ScheduleStep::Take;
        self.wheel.pop.next = step == ScheduleStep::Pop;
        self.wheel.wakes.next = (step == ScheduleStep::Return) & !waking;

        // step
        let present = self.queues.already_present.val() | self.queues.has_others.val();
        let endings = Endings {
            cleared: self.shares.queue_pairs_cleared.val(),
            starts,
            wakes,
            turns,
            returns,
            asks,
            leaves,
            alone,
            limited: self.limited.q.val(),
            paid: self.limits.paid.val(),
            serving,
            wheel_turns,
            present,
        };
        let wake_ends = wake_ends(step, endings, waking);
        let return_ends = return_ends(step, endings);
        self.inbox.wake_ends.next = wake_ends;
        self.step.d.next = next_step(step, endings);
        match step {
            ScheduleStep::Idle => {
                if starts {
                    // No queue pair is present: it is the head at once, and its tenant has the turn.
                    self.waking.d.next = true;
                    self.keeps.d.next = true;
                    self.head.d.next = woken;
                    self.serving.d.next = true;
                } else if wakes {
                    self.waking.d.next = true;
                } else if returns {
                    self.returning.d.next = true;
                }
            }
            ScheduleStep::Turn => {
                let next = if alone { head } else { next_in_tenant };
                let keeps = !wheel_turns & !share.limited;
                self.moved.d.next = next;
                self.moved_tenant.d.next = row_tenant;
                self.paid.d.next = self.inbox.burst_cost.val();
                self.limited.d.next = share.limited;
                self.keeps.d.next = keeps & !leaves;
                self.rests.d.next = false;
                self.head.d.next = if leaves { next_in_tenant } else { next };
                self.serving.d.next = if leaves { !alone } else { keeps };
            }
            ScheduleStep::Pay => {
                if self.limits.paid.val() {
                    self.rests.d.next = !self.limits.may_go_on.val();
                }
            }
            ScheduleStep::Place => self.keeps.d.next = false,
            ScheduleStep::Take => {
                self.head.d.next = self.wheel.first.val();
                self.serving.d.next = true;
            }
            ScheduleStep::Return => {
                self.moved.d.next = if waking { woken } else { rest_first };
                self.moved_tenant.d.next = if waking { woken_tenant } else { rest_tenant };
                self.rests.d.next = !may_send;
            }
            _ => {}
        }
        if wake_ends {
            self.waking.d.next = false;
        }
        if return_ends {
            self.returning.d.next = false;
        }

        self.returns.next = returns;
        self.head_valid.next = self.inbox.head_stable.val();
        self.head_qp.next = bit_cast::<QPN_BITS, Q>(head);
        if self.reset.val() {
            self.step.d.next = ScheduleStep::Sweep;
            self.serving.d.next = false;
            self.waking.d.next = false;
            self.returning.d.next = false;
            self.keeps.d.next = false;
        }
    }
}
