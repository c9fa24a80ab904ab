//! Whose turn it is at a port (reference: `stellar_transport::endpoint::scheduler::Schedule`).

use hdl_macros::hdl;
use hdl_primitives::BlockRam;
use rust_hdl::prelude::*;

/// Most clocks from `served` or `parked` to the next front.
pub const TURN_CLOCKS: u64 = 6;
/// Most clocks from a wake that is taken to the next one that can be; its effect is there by then.
pub const WAKE_CLOCKS: u64 = 7;

/// What happens in a clock.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    /// Nobody is present yet: one queue pair per clock is noted so.
    Sweep,
    /// A wake is taken, or an operation that waits begins: its rows are asked for. Where nobody is present, a wake needs none.
    Idle,
    /// The row of the front: the tail of its page is asked for.
    TurnPage,
    /// The front moves.
    Turn,
    /// The row of the queue pair woken, and the tail of its page, whose row is asked for.
    WakePage,
    /// The queue pair is linked in.
    Wake,
}

/// Queue pairs that may have something to send at one port: pages (devices) take turns packet by packet, and so do the queue pairs of a page.
///
/// * A wake puts a queue pair at the end of its page's queue, and a page without a queue at the end of the pages. Waking one that is present changes nothing.
/// * `served`: the front has sent a packet; it and its page go to the end.
/// * `parked`: the front leaves, and its page keeps its turn if it has others.
///
/// `front_qp` stands while `front_valid` is high, until `served` or `parked`: pulses of one clock, never both, that mean nothing while it is low. From the
/// next clock on `front_valid` is low, until the next front is known, at most [`TURN_CLOCKS`] after the pulse. A wake is taken while `wake_ready` is high,
/// which it is again at most [`WAKE_CLOCKS`] later. Operations happen in the order they came in; a wake taken in the very clock of `served` or `parked`
/// happens after it, so that a queue pair that is parked and woken at once is present.
///
/// Lists are links in block RAM. `queue_next` links the queue pairs of a page, `page_next` the heads of the pages' queues; as the head of a page that waits
/// does not change, a page needs no row but the `tail` of its queue. That row counts only if the queue pair it names is present with this page, so the 2^`P`
/// rows need no first contents; only `present` is swept after reset, 2^`Q` clocks in which `wake_ready` is low.
///
/// `Q` is the log2 of the number of queue pairs, at most 10; `P` that of the number of pages, at most 16.
/// Levels: 3 behind a carry chain.
#[derive(LogicBlock)]
pub struct QpSchedule<const Q: usize = 10, const P: usize = 16> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Queue pairs that may have something to send.
    pub wake_valid: Signal<In, Bit>,
    pub wake_page: Signal<In, Bits<16>>,
    pub wake_qp: Signal<In, Bits<10>>,
    pub wake_ready: Signal<Out, Bit>,

    // The sequencer.
    pub front_valid: Signal<Out, Bit>,
    pub front_qp: Signal<Out, Bits<10>>,
    pub served: Signal<In, Bit>,
    pub parked: Signal<In, Bit>,

    /// By queue pair.
    present: BlockRam<Bit, Q>,
    /// By queue pair that is present.
    page: BlockRam<Bits<P>, Q>,
    /// By queue pair with others behind it.
    queue_next: BlockRam<Bits<Q>, Q>,
    /// By queue pair at the head of a page with pages behind it: the head of the next one.
    page_next: BlockRam<Bits<Q>, Q>,
    /// By page with queue pairs: the last.
    tail: BlockRam<Bits<Q>, P>,

    step: DFF<Step>,
    swept: DFF<Bits<Q>>,
    /// There is a front, and with it a last page.
    busy: DFF<Bit>,
    front: DFF<Bits<Q>>,
    /// Head of the last page.
    last: DFF<Bits<Q>>,
    /// The front was served or parked, and still stands.
    turns: DFF<Bit>,
    /// It was parked.
    leaves: DFF<Bit>,
    wakes: DFF<Bit>,
    woken: DFF<Bits<Q>>,
    woken_page: DFF<Bits<P>>,
    /// The queue pair woken is there already.
    known: DFF<Bit>,
    page_tail: DFF<Bits<Q>>,
}

impl<const Q: usize, const P: usize> Default for QpSchedule<Q, P> {
    fn default() -> Self {
        assert!(
            (1..=10).contains(&Q) && (1..=16).contains(&P),
            "QpSchedule<{Q}, {P}>: use Q of 1 to 10 (2 to 1,024 queue pairs) and P of 1 to 16 (2 to 65,536 pages)"
        );
        Self {
            clock: Default::default(),
            reset: Default::default(),
            wake_valid: Default::default(),
            wake_page: Default::default(),
            wake_qp: Default::default(),
            wake_ready: Default::default(),
            front_valid: Default::default(),
            front_qp: Default::default(),
            served: Default::default(),
            parked: Default::default(),
            present: Default::default(),
            page: Default::default(),
            queue_next: Default::default(),
            page_next: Default::default(),
            tail: Default::default(),
            step: Default::default(),
            swept: Default::default(),
            busy: Default::default(),
            front: Default::default(),
            last: Default::default(),
            turns: Default::default(),
            leaves: Default::default(),
            wakes: Default::default(),
            woken: Default::default(),
            woken_page: Default::default(),
            known: Default::default(),
            page_tail: Default::default(),
        }
    }
}

impl<const Q: usize, const P: usize> Logic for QpSchedule<Q, P> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, swept, busy, front, last, turns, leaves);
        dff_setup!(self, clock, wakes, woken, woken_page, known, page_tail);
        clock!(self, clock, present, page, queue_next, page_next, tail);
        let step = self.step.q.val();
        let front = self.front.q.val();
        let last = self.last.q.val();
        let woken = self.woken.q.val();
        let woken_page = self.woken_page.q.val();
        let tail = self.page_tail.q.val();
        let leaves = self.leaves.q.val();
        let ready = (step != Step::Sweep) & !self.wakes.q.val();
        let stands = self.busy.q.val() & !self.turns.q.val();

        // take
        if stands & (self.served.val() | self.parked.val()) {
            self.turns.d.next = true;
            self.leaves.d.next = self.parked.val();
        }
        if ready & self.wake_valid.val() {
            self.wakes.d.next = true;
            self.woken.d.next = self.wake_qp.val().get_bits::<Q>(0);
            self.woken_page.d.next = self.wake_page.val().get_bits::<P>(0);
        }

        // read
        let turning = (step == Step::TurnPage) | (step == Step::Turn) | self.turns.q.val();
        let row = if step == Step::WakePage {
            self.tail.read_data.val()
        } else if turning {
            front
        } else {
            woken
        };
        self.present.read_address.next = row;
        self.page.read_address.next = row;
        self.queue_next.read_address.next = front;
        self.page_next.read_address.next = front;
        self.tail.read_address.next = if step == Step::TurnPage {
            self.page.read_data.val()
        } else {
            woken_page
        };
        let behind = self.queue_next.read_data.val();
        let next_page = self.page_next.read_data.val();
        let turn_tail = self.tail.read_data.val();

        // link
        let alone = turn_tail == front;
        let only_page = last == front;
        let head = if alone { front } else { behind };
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
                if self.turns.q.val() {
                    self.step.d.next = Step::TurnPage;
                } else if self.wakes.q.val() & self.busy.q.val() {
                    self.step.d.next = Step::WakePage;
                } else if self.wakes.q.val() {
                    // Nobody is present.
                    self.present.write_enable.next = true;
                    self.page.write_enable.next = true;
                    self.tail.write_enable.next = true;
                    self.front.d.next = woken;
                    self.last.d.next = woken;
                    self.busy.d.next = true;
                    self.wakes.d.next = false;
                }
            }
            Step::TurnPage => self.step.d.next = Step::Turn,
            Step::Turn => {
                if leaves {
                    self.present.write_enable.next = true;
                    self.present.write_address.next = front;
                    self.present.write_data.next = false;
                    if alone {
                        self.front.d.next = next_page;
                        self.busy.d.next = !only_page;
                    } else {
                        // The next of the page takes its place among the pages.
                        self.page_next.write_enable.next = true;
                        self.page_next.write_address.next = behind;
                        self.page_next.write_data.next = next_page;
                        self.front.d.next = behind;
                        if only_page {
                            self.last.d.next = behind;
                        }
                    }
                } else {
                    self.queue_next.write_enable.next = !alone;
                    self.queue_next.write_address.next = turn_tail;
                    self.queue_next.write_data.next = front;
                    self.tail.write_enable.next = !alone;
                    self.tail.write_address.next = turn_page;
                    self.tail.write_data.next = front;
                    self.page_next.write_enable.next = !only_page;
                    self.page_next.write_data.next = head;
                    self.front.d.next = if only_page { head } else { next_page };
                    self.last.d.next = head;
                }
                self.turns.d.next = false;
                self.step.d.next = Step::Idle;
            }
            Step::WakePage => {
                self.known.d.next = self.present.read_data.val();
                self.page_tail.d.next = self.tail.read_data.val();
                self.step.d.next = Step::Wake;
            }
            Step::Wake => {
                if !self.known.q.val() {
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
                self.wakes.d.next = false;
                self.step.d.next = Step::Idle;
            }
        }

        self.wake_ready.next = ready;
        self.front_valid.next = stands;
        self.front_qp.next = bit_cast::<10, Q>(front);
        if self.reset.val() {
            self.step.d.next = Step::Sweep;
            self.swept.d.next = bits(0);
            self.busy.d.next = false;
            self.turns.d.next = false;
            self.wakes.d.next = false;
        }
    }
}
