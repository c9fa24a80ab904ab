//! Schedule of the queue pairs at a port (reference: `stellar_transport::endpoint::scheduler::Schedule`).

use hdl_congestion::DspMultiply;
use hdl_macros::{clock, hdl, hdl_fn};
use hdl_primitives::{BlockRam, Checked, LutRam, Parameters};
use rust_hdl::prelude::*;
use stellar_wire::hw::tenant::{TenantCharge, COST_BITS};
use stellar_wire::hw::Qpn;
use stellar_wire::rows::{STEP_ONE, STEP_SHIFT, TENANT_BITS};

use crate::bundles::{ChargeSrc, ScheduleSnk, ShareSnk};
use crate::virtual_time::{first_from, present, Tag, BUCKET_BITS, TURN_BITS};

/// Maximum number of cycles from `rotate` or `deactivate` to the next valid head, if no tenant has a limit. With limits, the answer to a charge is waited for, too.
pub const TURN_CYCLES: u64 = 16;
/// Maximum number of cycles from an accepted wake-up until the next one can be accepted. By then the first one has taken effect.
pub const WAKE_CYCLES: u64 = 15;
/// log2 of the cycles after which no wake-up is accepted until a question, or the return of a tenant, has had its turn.
const PAUSE_BITS: usize = 7;
/// Cycles between two questions.
const PAUSE_CYCLES: u64 = 16;

/// What the block does in a cycle.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    /// Clears `present`, one queue pair per cycle.
    Sweep,
    /// Starts a pending turn or wake-up, the return of a tenant, or a question, and addresses its rows. If no queue pair is present, one that wakes up is the
    /// head in the next cycle.
    Idle,
    /// The row of the head is valid. Addresses the rows of its tenant.
    TurnRead,
    /// Moves the queue pair, or removes it. Multiplies the cost of its burst by the step of the tenant.
    Turn,
    Multiply,
    /// Adds the product to the tag.
    Charge,
    /// The tenant has a limit: it pays from its bucket.
    Pay,
    /// Puts the tenant into the wheel, or among the resting ones.
    Place,
    /// Finds the first bucket with tenants.
    Find,
    /// The first tenant of that bucket has its turn.
    Take,
    /// Removes it from the bucket.
    Pop,
    /// The rows of the queue pair to wake and of its tenant are valid. Addresses the row of the tenant's last queue pair.
    WakeRead,
    /// Links the queue pair in.
    Wake,
    /// Computes the tag of a tenant that comes to the wheel.
    Return,
    /// The row of the first resting tenant is valid. Asks for it.
    AskRead,
}

/// What the schedule knows of a tenant's share.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Share {
    /// Virtual time per byte.
    step: Bits<16>,
    /// The tenant has a rate limit.
    limited: Bit,
}

/// The tenant of a doorbell page: the pages from the last tenant's on are one tenant (`stellar_wire::rows::tenant_of`).
#[hdl_fn]
fn tenant_of<const P: usize>(page: Bits<16>) -> Bits<P> {
    let further = page >> (P as u64);
    if further.any() {
        Bits::<P>::mask()
    } else {
        page.get_bits::<P>(0)
    }
}

/// Schedules the queue pairs that may have something to send at one port. Tenants share the port in proportion to their weights, and the queue pairs of a tenant
/// take turns.
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
/// **Wheel.** A bucket is a list of tenants, in the order in which they came. The tenant that has its turn is in no bucket. The next one is the first of the first bucket
/// that is not empty, from the present bucket on. If no other tenant is in the wheel, the tenant keeps its turn, and its next queue pair is the head four cycles after `rotate`.
///
/// **Limits.** A tenant with a limit pays at `charge` after each burst, and rests if it has no tokens left. While tenants rest, the block asks for one of them after the other
/// with a cost of 0, every 16 cycles or later. That has a turn between turns and wake-ups: if turns are ten cycles apart, as those of a requester are, and there was none for 128 cycles, no
/// wake-up is accepted until there is one. `wake_ready` is low while a resting tenant is moved.
///
/// The lists are links in block RAM. `queue_next` links the queue pairs of a tenant, and `tenant_next` links the heads of the tenants' queues. The head of a tenant
/// that waits does not change. A `tail` is valid only if the queue pair that it names is present and belongs to this tenant, so tails need no initialisation. After reset `present` is cleared,
/// which takes 2^`Q` + 1 cycles in which `wake_ready` is low. The shares are cleared meanwhile, which takes as many cycles as there are rows in the longer table; until then `share_ready` is low, and
/// all tenants have the default share. Virtual time and tags go on over a reset.
///
/// `Q` is the log2 of the number of queue pairs, at most 10. `P` is the log2 of the number of tenants, at most 12. Levels: 7 (the first bucket from the present one on).
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

    /// One bit per queue pair: it is in the schedule.
    present: BlockRam<Bit, Q>,
    /// Tenant of each queue pair that is in the schedule.
    tenant: BlockRam<Bits<P>, Q>,
    /// For each queue pair, the next queue pair of its tenant, if it is not the last.
    queue_next: BlockRam<Bits<Q>, Q>,
    /// For each head of a tenant, the head of the next tenant of its bucket or among the resting ones, if its own is not the last.
    tenant_next: BlockRam<Bits<Q>, Q>,
    /// Last queue pair of each tenant that has queue pairs.
    tail: BlockRam<Bits<Q>, P>,
    tags: BlockRam<Tag, P>,
    shares: BlockRam<Share, P>,
    /// Heads of the first and of the last tenant of each bucket that has tenants.
    first: LutRam<Bits<Q>, BUCKET_BITS>,
    last: LutRam<Bits<Q>, BUCKET_BITS>,
    weigh: DspMultiply<16, COST_BITS, { 16 + COST_BITS }>,

    step: DFF<Step>,
    /// Rows that are cleared; all are, and the last one can be read.
    swept: DFF<Bits<13>>,
    all_swept: DFF<Bit>,
    /// There is a head.
    serving: DFF<Bit>,
    head: DFF<Bits<Q>>,
    /// The head was rotated or deactivated, but is not moved yet.
    turn_pending: DFF<Bit>,
    /// It was deactivated.
    head_leaves: DFF<Bit>,
    cost_comes: DFF<Bit>,
    cost_held: DFF<Bits<COST_BITS>>,
    wake_pending: DFF<Bit>,
    /// The pending wake-up came before the pending turn.
    wake_first: DFF<Bit>,
    /// A wake-up is executed; a resting tenant is moved.
    waking: DFF<Bit>,
    returning: DFF<Bit>,
    woken: DFF<Bits<Q>>,
    woken_tenant: DFF<Bits<P>>,
    /// The queue pair to wake is present.
    already_present: DFF<Bit>,
    tenant_tail: DFF<Bits<Q>>,
    /// Head and number of the tenant to place, its tag, and whether it rests.
    moved: DFF<Bits<Q>>,
    moved_tenant: DFF<Bits<P>>,
    tag: DFF<Tag>,
    rests: DFF<Bit>,
    /// Bytes that it has sent.
    paid: DFF<Bits<COST_BITS>>,
    limited: DFF<Bit>,
    /// No other tenant is in the wheel: it keeps its turn.
    keeps: DFF<Bit>,
    /// Bit b: bucket b has tenants.
    occupied: DFF<Bits<32>>,
    /// Virtual time in buckets.
    now: DFF<Bits<TURN_BITS>>,
    found: DFF<Bits<TURN_BITS>>,
    was_last: DFF<Bit>,
    /// There are resting tenants; heads of the first and of the last one.
    resting: DFF<Bit>,
    rest_first: DFF<Bits<Q>>,
    rest_last: DFF<Bits<Q>>,
    /// It is asked whether the first one has tokens again; the answer is there.
    asking: DFF<Bit>,
    asked_tenant: DFF<Bits<P>>,
    answered: DFF<Bit>,
    may_send: DFF<Bit>,
    pause: DFF<Bits<PAUSE_BITS>>,
}

impl<const Q: usize, const P: usize> Parameters for QpSchedule<Q, P> {
    fn check() {
        assert!(
            (1..=10).contains(&Q) && (1..=TENANT_BITS).contains(&P),
            "QpSchedule<{Q}, {P}>: use Q of 1 to 10 (2 to 1,024 queue pairs) and P of 1 to {TENANT_BITS} (2 to 4,096 tenants)"
        );
    }
}

impl<const Q: usize, const P: usize> Logic for QpSchedule<Q, P> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            swept,
            all_swept,
            serving,
            head,
            turn_pending,
            head_leaves,
            cost_comes,
            cost_held,
            wake_pending,
            wake_first,
            waking,
            returning
        );
        dff_setup!(
            self,
            clock,
            woken,
            woken_tenant,
            already_present,
            tenant_tail,
            moved,
            moved_tenant,
            tag,
            rests,
            paid,
            limited,
            keeps
        );
        dff_setup!(
            self,
            clock,
            occupied,
            now,
            found,
            was_last,
            resting,
            rest_first,
            rest_last,
            asking,
            asked_tenant,
            answered,
            may_send,
            pause
        );
        clock!(
            self,
            clock,
            present,
            tenant,
            queue_next,
            tenant_next,
            tail,
            tags,
            shares,
            first,
            last,
            weigh
        );
        let step = self.step.q.val();
        let head = self.head.q.val();
        let woken = self.woken.q.val();
        let woken_tenant = self.woken_tenant.q.val();
        let head_leaves = self.head_leaves.q.val();
        let moved = self.moved.q.val();
        let moved_tenant = self.moved_tenant.q.val();
        let tag = self.tag.q.val();
        let now = self.now.q.val();
        let occupied = self.occupied.q.val();
        let rest_first = self.rest_first.q.val();
        let rest_last = self.rest_last.q.val();
        let turn_pending = self.turn_pending.q.val();
        let wake_pending = self.wake_pending.q.val();
        let serving = self.serving.q.val();
        let waking = self.waking.q.val();

        let asking = self.asking.q.val();
        let pause = self.pause.q.val();

        // select
        let wakes = wake_pending & (self.wake_first.q.val() | !turn_pending);
        let free = (step == Step::Idle) & !turn_pending & !wake_pending;
        let nobody = !serving & !occupied.any() & !self.resting.q.val();
        let returns = free & self.answered.q.val();
        let asks = free
            & self.resting.q.val()
            & !asking
            & !self.answered.q.val()
            & (pause < (1 << PAUSE_BITS) - PAUSE_CYCLES);
        let overdue = (self.resting.q.val() | self.answered.q.val()) & !asking & !pause.any();

        // accept
        let ready =
            (step != Step::Sweep) & !wake_pending & !returns & !self.returning.q.val() & !overdue;
        let head_stable = serving & !turn_pending;
        let turned = head_stable & (self.rotate.val() | self.deactivate.val());
        self.cost_comes.d.next = turned;
        if self.cost_comes.q.val() {
            self.cost_held.d.next = self.cost.val();
        }
        if turned {
            self.turn_pending.d.next = true;
            self.head_leaves.d.next = self.deactivate.val();
            self.wake_first.d.next = wake_pending;
        }
        if ready & self.wake.valid.val() {
            self.wake_pending.d.next = true;
            self.woken.d.next = self.wake.qp.val().get_bits::<Q>(0);
            self.woken_tenant.d.next = tenant_of::<P>(self.wake.page.val());
        }

        // read
        let row = if step == Step::WakeRead {
            self.tail.read_data.val()
        } else if (step == Step::Idle) & wakes {
            woken
        } else if turn_pending {
            head
        } else {
            rest_first
        };
        self.present.read_address.next = row;
        self.tenant.read_address.next = row;
        self.queue_next.read_address.next = head;
        let row_tenant = self.tenant.read_data.val();
        let of_row = if step == Step::TurnRead {
            row_tenant
        } else if returns {
            self.asked_tenant.q.val()
        } else {
            woken_tenant
        };
        self.tail.read_address.next = of_row;
        self.tags.read_address.next = of_row;
        self.shares.read_address.next = of_row;
        let next_in_tenant = self.queue_next.read_data.val();
        let turn_tail = self.tail.read_data.val();
        let old_tag = self.tags.read_data.val();
        // Until all rows are cleared, no share has been set.
        let all_swept = self.all_swept.q.val();
        let default_share = Share {
            step: bits::<16>(STEP_ONE as u64),
            limited: false,
        };
        let share = if all_swept {
            self.shares.read_data.val()
        } else {
            default_share
        };
        let found_bucket = self.found.q.val().get_bits::<BUCKET_BITS>(0);
        let bucket = if step == Step::Place {
            tag.turn.get_bits::<BUCKET_BITS>(0)
        } else {
            found_bucket
        };
        self.first.read_address.next = bucket;
        self.last.read_address.next = bucket;
        let bucket_first = self.first.read_data.val();
        let bucket_last = self.last.read_data.val();
        self.tenant_next.read_address.next = if step == Step::Take {
            bucket_first
        } else {
            rest_first
        };
        let next_tenant = self.tenant_next.read_data.val();

        // link
        let alone = turn_tail == head;
        let active = self.present.read_data.val() & (row_tenant == woken_tenant);
        self.present.write_enable.next = false;
        self.present.write_address.next = woken;
        self.present.write_data.next = true;
        self.tenant.write_enable.next = false;
        self.tenant.write_address.next = woken;
        self.tenant.write_data.next = woken_tenant;
        self.queue_next.write_enable.next = false;
        self.queue_next.write_address.next = if step == Step::Turn {
            turn_tail
        } else {
            self.tenant_tail.q.val()
        };
        self.queue_next.write_data.next = if step == Step::Turn { head } else { woken };
        self.tail.write_enable.next = false;
        self.tail.write_address.next = if step == Step::Turn {
            row_tenant
        } else {
            woken_tenant
        };
        self.tail.write_data.next = if step == Step::Turn { head } else { woken };
        let rests = self.rests.q.val();
        let is_occupied = occupied.get_bit(bucket.index());
        self.tenant_next.write_enable.next = false;
        self.tenant_next.write_address.next = if rests { rest_last } else { bucket_last };
        self.tenant_next.write_data.next = moved;
        self.first.write_enable.next = false;
        self.first.write_address.next = bucket;
        self.first.write_data.next = if step == Step::Place {
            moved
        } else {
            next_tenant
        };
        self.last.write_enable.next = false;
        self.last.write_address.next = bucket;
        self.last.write_data.next = moved;
        self.tags.write_enable.next = step == Step::Place;
        self.tags.write_address.next = moved_tenant;
        self.tags.write_data.next = tag;

        // weigh
        self.weigh.a.next = share.step;
        self.weigh.b.next = self.cost_held.q.val();
        let old: Bits<32> = tag.into();
        let virtual_time =
            bit_cast::<32, { 16 + COST_BITS }>(self.weigh.product.val() >> STEP_SHIFT as u64);
        let after = old + virtual_time;

        // shares
        let swept = self.swept.q.val();
        let beyond_queue_pairs = swept >> (Q as u64);
        let beyond_tenants = swept >> (P as u64);
        let sweeps = !(beyond_queue_pairs.any() & beyond_tenants.any());
        if sweeps {
            self.swept.d.next = swept + 1;
        }
        self.all_swept.d.next = !sweeps;
        let set = self.share.record.val();
        let new_share = Share {
            step: set.step,
            limited: set.rate.any(),
        };
        self.share.ready.next = !sweeps;
        self.shares.write_enable.next = sweeps | self.share.valid.val();
        self.shares.write_address.next = if sweeps {
            swept.get_bits::<P>(0)
        } else {
            self.share.tenant.val().get_bits::<P>(0)
        };
        self.shares.write_data.next = if sweeps { default_share } else { new_share };

        // limits: what was sent, or the question
        let pays = (step == Step::Pay) & !asking;
        let charged_tenant = if asking {
            self.asked_tenant.q.val()
        } else {
            moved_tenant
        };
        self.charge.valid.next = asking | pays;
        self.charge.record.next = TenantCharge {
            tenant: bit_cast::<TENANT_BITS, P>(charged_tenant),
            cost: if asking {
                bits::<COST_BITS>(0)
            } else {
                self.paid.q.val()
            },
        };
        let charged = self.charge.ready.val();
        if asking & charged {
            self.asking.d.next = false;
            self.answered.d.next = true;
            self.may_send.d.next = self.charge.may_send.val();
        }
        if pause.any() {
            self.pause.d.next = pause - 1;
        }

        match step {
            Step::Sweep => {
                self.present.write_enable.next = true;
                self.present.write_address.next = swept.get_bits::<Q>(0);
                self.present.write_data.next = false;
                if beyond_queue_pairs.any() {
                    self.step.d.next = Step::Idle;
                }
            }
            Step::Idle => {
                if wakes & nobody {
                    // No queue pair is present: it is the head at once, and its tenant has the turn.
                    self.waking.d.next = true;
                    self.keeps.d.next = true;
                    self.present.write_enable.next = true;
                    self.tenant.write_enable.next = true;
                    self.tail.write_enable.next = true;
                    self.head.d.next = woken;
                    self.serving.d.next = true;
                    self.step.d.next = Step::Return;
                } else if wakes {
                    self.waking.d.next = true;
                    self.step.d.next = Step::WakeRead;
                } else if turn_pending {
                    self.step.d.next = Step::TurnRead;
                } else if returns {
                    self.returning.d.next = true;
                    self.step.d.next = Step::Return;
                } else if asks {
                    self.step.d.next = Step::AskRead;
                }
            }
            Step::TurnRead => self.step.d.next = Step::Turn,
            Step::Turn => {
                let next = if alone { head } else { next_in_tenant };
                let keeps = !occupied.any() & !share.limited;
                self.turn_pending.d.next = false;
                self.moved.d.next = next;
                self.moved_tenant.d.next = row_tenant;
                self.tag.d.next = old_tag;
                self.paid.d.next = self.cost_held.q.val();
                self.limited.d.next = share.limited;
                self.keeps.d.next = keeps & !head_leaves;
                self.rests.d.next = false;
                if head_leaves {
                    self.present.write_enable.next = true;
                    self.present.write_address.next = head;
                    self.present.write_data.next = false;
                    self.head.d.next = next_in_tenant;
                    self.serving.d.next = !alone;
                    self.step.d.next = if alone { Step::Find } else { Step::Idle };
                } else {
                    self.queue_next.write_enable.next = !alone;
                    self.tail.write_enable.next = !alone;
                    self.head.d.next = next;
                    self.serving.d.next = keeps;
                    self.step.d.next = Step::Multiply;
                }
            }
            Step::Multiply => self.step.d.next = Step::Charge,
            Step::Charge => {
                self.tag.d.next = Tag {
                    within: after.get_bits::<{ 32 - TURN_BITS }>(0),
                    turn: after.get_bits::<TURN_BITS>(32 - TURN_BITS),
                };
                self.step.d.next = if self.limited.q.val() {
                    Step::Pay
                } else {
                    Step::Place
                };
            }
            Step::Pay => {
                if pays & charged {
                    self.rests.d.next = !self.charge.may_send.val();
                    self.step.d.next = Step::Place;
                }
            }
            Step::Place => {
                let keeps = self.keeps.q.val();
                self.keeps.d.next = false;
                if keeps {
                    self.now.d.next = tag.turn;
                } else if rests {
                    self.tenant_next.write_enable.next = self.resting.q.val();
                    self.resting.d.next = true;
                    self.rest_last.d.next = moved;
                    if !self.resting.q.val() {
                        self.rest_first.d.next = moved;
                    }
                } else {
                    self.tenant_next.write_enable.next = is_occupied;
                    self.first.write_enable.next = !is_occupied;
                    self.last.write_enable.next = true;
                    self.occupied.d.next = occupied.replace_bit(bucket.index(), true);
                }
                if serving {
                    self.step.d.next = Step::Idle;
                } else {
                    self.step.d.next = Step::Find;
                }
                if serving & waking {
                    self.wake_pending.d.next = false;
                    self.wake_first.d.next = false;
                }
                if serving {
                    self.waking.d.next = false;
                    self.returning.d.next = false;
                }
            }
            Step::Find => {
                self.found.d.next = first_from(occupied, now);
                if occupied.any() {
                    self.step.d.next = Step::Take;
                } else {
                    self.returning.d.next = false;
                    self.step.d.next = Step::Idle;
                }
            }
            Step::Take => {
                self.head.d.next = bucket_first;
                self.serving.d.next = true;
                self.now.d.next = self.found.q.val();
                self.was_last.d.next = bucket_first == bucket_last;
                self.step.d.next = Step::Pop;
            }
            Step::Pop => {
                if self.was_last.q.val() {
                    self.occupied.d.next = occupied.replace_bit(bucket.index(), false);
                } else {
                    self.first.write_enable.next = true;
                }
                if waking {
                    self.wake_pending.d.next = false;
                    self.wake_first.d.next = false;
                }
                self.waking.d.next = false;
                self.returning.d.next = false;
                self.step.d.next = Step::Idle;
            }
            Step::WakeRead => {
                self.already_present.d.next = self.present.read_data.val();
                self.tenant_tail.d.next = self.tail.read_data.val();
                self.step.d.next = Step::Wake;
            }
            Step::Wake => {
                let already_present = self.already_present.q.val();
                self.present.write_enable.next = !already_present;
                self.tenant.write_enable.next = !already_present;
                self.tail.write_enable.next = !already_present;
                self.queue_next.write_enable.next = !already_present & active;
                if already_present | active {
                    self.wake_pending.d.next = false;
                    self.wake_first.d.next = false;
                    self.waking.d.next = false;
                    self.step.d.next = Step::Idle;
                } else {
                    self.step.d.next = Step::Return;
                }
            }
            Step::Return => {
                let may_send = waking | self.may_send.q.val();
                self.moved.d.next = if waking { woken } else { rest_first };
                self.moved_tenant.d.next = if waking {
                    woken_tenant
                } else {
                    self.asked_tenant.q.val()
                };
                self.rests.d.next = !may_send;
                self.tag.d.next = if may_send {
                    present(old_tag, now)
                } else {
                    old_tag
                };
                if !waking {
                    self.answered.d.next = false;
                    self.pause.d.next = Bits::<PAUSE_BITS>::mask();
                    self.rest_first.d.next = next_tenant;
                    self.resting.d.next = rest_first != rest_last;
                }
                self.step.d.next = Step::Place;
            }
            Step::AskRead => {
                self.asked_tenant.d.next = row_tenant;
                self.asking.d.next = true;
                self.pause.d.next = Bits::<PAUSE_BITS>::mask();
                self.step.d.next = Step::Idle;
            }
        }

        self.wake.ready.next = ready;
        self.returns.next = returns;
        self.head_valid.next = head_stable;
        self.head_qp.next = bit_cast::<10, Q>(head);
        if self.reset.val() {
            self.step.d.next = Step::Sweep;
            self.swept.d.next = bits::<13>(0);
            self.serving.d.next = false;
            self.turn_pending.d.next = false;
            self.wake_pending.d.next = false;
            self.wake_first.d.next = false;
            self.waking.d.next = false;
            self.returning.d.next = false;
            self.keeps.d.next = false;
            self.occupied.d.next = bits::<32>(0);
            self.all_swept.d.next = false;
            self.resting.d.next = false;
            self.asking.d.next = false;
            self.answered.d.next = false;
        }
    }
}
