//! Schedule of the queue pairs at a port (reference: `stellar_transport::endpoint::scheduler::Schedule`).

use hdl_macros::hdl;
use hdl_primitives::{BlockRam, Checked, Parameters};
use rust_hdl::prelude::*;
use stellar_wire::hw::Qpn;

use crate::bundles::ScheduleSnk;

/// Maximum number of cycles from `rotate` or `deactivate` to the next valid head.
pub const TURN_CYCLES: u64 = 6;
/// Maximum number of cycles from an accepted wake-up until the next one can be accepted. By then the first one has taken effect.
pub const WAKE_CYCLES: u64 = 7;

/// What the block does in a cycle.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    /// Clears `present`, one queue pair per cycle.
    Sweep,
    /// Accepts a wake-up, or starts a pending operation and addresses its rows. If no queue pair is present, a wake-up needs no rows and is done in this
    /// cycle.
    Idle,
    /// The row of the head is valid. Addresses the tail of its page.
    TurnPage,
    /// Moves the head.
    Turn,
    /// The rows of the queue pair to wake and of its page's tail are valid. Addresses the row of that tail.
    WakePage,
    /// Links the queue pair in.
    Wake,
}

/// Schedules the queue pairs that may have something to send at one port. The doorbell pages (devices) take turns packet by packet, and so do the queue pairs
/// of a page.
///
/// * A wake-up appends a queue pair to the queue of its page. If the page had no queue, the page is appended to the list of pages. A wake-up of a queue pair
///   that is present changes nothing.
/// * `rotate`: the head has sent a packet; the queue pair and its page move to the end.
/// * `deactivate`: the head has nothing to send and is removed; its page keeps its turn if it has other queue pairs.
///
/// `head_qp` is stable while `head_valid` is high. `rotate` and `deactivate` are pulses of one cycle. They exclude each other, and are ignored while
/// `head_valid` is low. In the cycle after such a pulse `head_valid` falls; it rises at most [`TURN_CYCLES`] after the pulse, if there is another head. A
/// wake-up is accepted while `wake_ready` is high; `wake_ready` is high again at most [`WAKE_CYCLES`] later. Operations are executed in the order in which
/// they arrive. A wake-up that is accepted in the cycle of `rotate` or `deactivate` is executed after it, so a queue pair that is deactivated and woken in
/// the same cycle stays present.
///
/// The lists are links in block RAM. `queue_next` links the queue pairs of a page, and `page_next` links the heads of the pages' queues. The head of a page
/// that waits does not change, so the only row of a page is the `tail` of its queue. A `tail` is valid only if the queue pair that it names is present and
/// belongs to this page. So the 2^`P` tails need no initialisation. After reset only `present` is cleared, which takes 2^`Q` cycles in which `wake_ready` is
/// low.
///
/// `Q` is the log2 of the number of queue pairs, at most 10. `P` is the log2 of the number of pages, at most 16. Levels: 3 behind a carry chain.
#[derive(LogicBlock, Default)]
pub struct QpSchedule<const Q: usize = 10, const P: usize = 16> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Wake-ups: the queue pair may have something to send.
    pub wake: ScheduleSnk,

    // Sequencer.
    pub head_valid: Signal<Out, Bit>,
    pub head_qp: Signal<Out, Qpn>,
    pub rotate: Signal<In, Bit>,
    pub deactivate: Signal<In, Bit>,

    /// One bit per queue pair: it is in the schedule.
    present: BlockRam<Bit, Q>,
    /// Page of each queue pair that is in the schedule.
    page: BlockRam<Bits<P>, Q>,
    /// For each queue pair, the next queue pair of its page, if it is not the last.
    queue_next: BlockRam<Bits<Q>, Q>,
    /// For each queue pair at the head of a page, the head of the next page, if its own page is not the last.
    page_next: BlockRam<Bits<Q>, Q>,
    /// Last queue pair of each page that has queue pairs.
    tail: BlockRam<Bits<Q>, P>,

    step: DFF<Step>,
    swept: DFF<Bits<Q>>,
    /// There is a head, and so a last page.
    busy: DFF<Bit>,
    head: DFF<Bits<Q>>,
    /// Head of the last page.
    last: DFF<Bits<Q>>,
    /// The head was rotated or deactivated, but is not moved yet.
    turn_pending: DFF<Bit>,
    /// It was deactivated.
    head_leaves: DFF<Bit>,
    wake_pending: DFF<Bit>,
    woken: DFF<Bits<Q>>,
    woken_page: DFF<Bits<P>>,
    /// The queue pair to wake is present.
    already_present: DFF<Bit>,
    page_tail: DFF<Bits<Q>>,
}

impl<const Q: usize, const P: usize> Parameters for QpSchedule<Q, P> {
    fn check() {
        assert!(
            (1..=10).contains(&Q) && (1..=16).contains(&P),
            "QpSchedule<{Q}, {P}>: use Q of 1 to 10 (2 to 1,024 queue pairs) and P of 1 to 16 (2 to 65,536 pages)"
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
            busy,
            head,
            last,
            turn_pending,
            head_leaves
        );
        dff_setup!(
            self,
            clock,
            wake_pending,
            woken,
            woken_page,
            already_present,
            page_tail
        );
        clock!(self, clock, present, page, queue_next, page_next, tail);
        let step = self.step.q.val();
        let head = self.head.q.val();
        let last = self.last.q.val();
        let woken = self.woken.q.val();
        let woken_page = self.woken_page.q.val();
        let tail = self.page_tail.q.val();
        let head_leaves = self.head_leaves.q.val();
        let ready = (step != Step::Sweep) & !self.wake_pending.q.val();
        let head_stable = self.busy.q.val() & !self.turn_pending.q.val();

        // accept
        if head_stable & (self.rotate.val() | self.deactivate.val()) {
            self.turn_pending.d.next = true;
            self.head_leaves.d.next = self.deactivate.val();
        }
        if ready & self.wake.valid.val() {
            self.wake_pending.d.next = true;
            self.woken.d.next = self.wake.qp.val().get_bits::<Q>(0);
            self.woken_page.d.next = self.wake.page.val().get_bits::<P>(0);
        }

        // read
        let turning = (step == Step::TurnPage) | (step == Step::Turn) | self.turn_pending.q.val();
        let row = if step == Step::WakePage {
            self.tail.read_data.val()
        } else if turning {
            head
        } else {
            woken
        };
        self.present.read_address.next = row;
        self.page.read_address.next = row;
        self.queue_next.read_address.next = head;
        self.page_next.read_address.next = head;
        self.tail.read_address.next = if step == Step::TurnPage {
            self.page.read_data.val()
        } else {
            woken_page
        };
        let next_in_page = self.queue_next.read_data.val();
        let next_page = self.page_next.read_data.val();
        let turn_tail = self.tail.read_data.val();

        // link
        let alone = turn_tail == head;
        let only_page = last == head;
        let page_head = if alone { head } else { next_in_page };
        let turn_page = self.page.read_data.val();
        let active = self.present.read_data.val() & (turn_page == woken_page);
        self.present.write_enable.next = false;
        self.present.write_address.next = woken;
        self.present.write_data.next = true;
        self.page.write_enable.next = false;
        self.page.write_address.next = woken;
        self.page.write_data.next = woken_page;
        self.queue_next.write_enable.next = false;
        self.queue_next.write_address.next = tail;
        self.queue_next.write_data.next = woken;
        self.page_next.write_enable.next = false;
        self.page_next.write_address.next = last;
        self.page_next.write_data.next = woken;
        self.tail.write_enable.next = false;
        self.tail.write_address.next = woken_page;
        self.tail.write_data.next = woken;

        match step {
            Step::Sweep => {
                self.present.write_enable.next = true;
                self.present.write_address.next = self.swept.q.val();
                self.present.write_data.next = false;
                self.swept.d.next = self.swept.q.val() + 1;
                if self.swept.q.val().all() {
                    self.step.d.next = Step::Idle;
                }
            }
            Step::Idle => {
                if self.turn_pending.q.val() {
                    self.step.d.next = Step::TurnPage;
                } else if self.wake_pending.q.val() & self.busy.q.val() {
                    self.step.d.next = Step::WakePage;
                } else if self.wake_pending.q.val() {
                    // No queue pair is present.
                    self.present.write_enable.next = true;
                    self.page.write_enable.next = true;
                    self.tail.write_enable.next = true;
                    self.head.d.next = woken;
                    self.last.d.next = woken;
                    self.busy.d.next = true;
                    self.wake_pending.d.next = false;
                }
            }
            Step::TurnPage => self.step.d.next = Step::Turn,
            Step::Turn => {
                if head_leaves {
                    self.present.write_enable.next = true;
                    self.present.write_address.next = head;
                    self.present.write_data.next = false;
                    if alone {
                        self.head.d.next = next_page;
                        self.busy.d.next = !only_page;
                    } else {
                        // The next queue pair of the page takes the position of the removed one in the list of pages.
                        self.page_next.write_enable.next = true;
                        self.page_next.write_address.next = next_in_page;
                        self.page_next.write_data.next = next_page;
                        self.head.d.next = next_in_page;
                        if only_page {
                            self.last.d.next = next_in_page;
                        }
                    }
                } else {
                    self.queue_next.write_enable.next = !alone;
                    self.queue_next.write_address.next = turn_tail;
                    self.queue_next.write_data.next = head;
                    self.tail.write_enable.next = !alone;
                    self.tail.write_address.next = turn_page;
                    self.tail.write_data.next = head;
                    self.page_next.write_enable.next = !only_page;
                    self.page_next.write_data.next = page_head;
                    self.head.d.next = if only_page { page_head } else { next_page };
                    self.last.d.next = page_head;
                }
                self.turn_pending.d.next = false;
                self.step.d.next = Step::Idle;
            }
            Step::WakePage => {
                self.already_present.d.next = self.present.read_data.val();
                self.page_tail.d.next = self.tail.read_data.val();
                self.step.d.next = Step::Wake;
            }
            Step::Wake => {
                if !self.already_present.q.val() {
                    self.present.write_enable.next = true;
                    self.page.write_enable.next = true;
                    self.tail.write_enable.next = true;
                    if active {
                        self.queue_next.write_enable.next = true;
                    } else {
                        self.page_next.write_enable.next = true;
                        self.last.d.next = woken;
                    }
                }
                self.wake_pending.d.next = false;
                self.step.d.next = Step::Idle;
            }
        }

        self.wake.ready.next = ready;
        self.head_valid.next = head_stable;
        self.head_qp.next = bit_cast::<10, Q>(head);
        if self.reset.val() {
            self.step.d.next = Step::Sweep;
            self.swept.d.next = bits(0);
            self.busy.d.next = false;
            self.turn_pending.d.next = false;
            self.wake_pending.d.next = false;
        }
    }
}
