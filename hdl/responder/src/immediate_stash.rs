//! Stores received WRITEs with immediate until all packets before them have arrived (reference: `Immediates`).

use hdl_macros::{clock_reset, hdl, hdl_fn};
use hdl_primitives::UltraRam;
use rust_hdl::prelude::*;
use stellar_wire::config::{RECEIVE_PLACE_BITS, RECEIVE_RING_BITS, RECEIVE_WINDOW};
use stellar_wire::hw::messages::Completion;
use stellar_wire::hw::Qpn;

use crate::completion::received;
use crate::missing_count::MissingCount;
use crate::records::{MissingQuery, StashRequest, StashResponse, Stashed};

/// Cycles for which a packet that ends a WRITE with immediate stalls the pipeline, if everything before it has arrived: it is
/// delivered without a place in the stash.
pub const IN_ORDER_ARRIVAL: usize = 3;
/// Maximum of cycles for which it stalls the pipeline, if no completion waits: the count over the words of a window, which begins in the middle of a word,
/// and the steps around it. A message is counted over its own words only, so it takes as long only if it fills the window.
pub const LONGEST_ARRIVAL: usize = RECEIVE_WINDOW as usize / 64 + 1 + 13;
/// Further cycles for each completion.
pub const CYCLES_PER_COMPLETION: usize = 3;

/// The step of an operation.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    Idle,
    /// Delivers a message that is the next one, and whole: it needs no entry.
    Pass,
    /// A WRITE with immediate: computes where its message begins, relative to the window.
    Measure,
    /// Computes the range of its packets that may be missing.
    Bound,
    /// Counts the missing packets.
    Count,
    /// Writes the entry to the stash.
    Store,
    /// Reads the message that a packet may belong to.
    Fetch,
    FetchWait,
    /// Decrements the number of missing packets.
    CountDown,
    /// Reads the oldest message, if it is in the stash.
    Front,
    FrontWait,
    /// Delivers the message, if everything before it has arrived.
    Deliver,
}

/// Packets of a message after its first one: `ceil(length / MTU) - 1`, 0 for an empty one. Levels: 3, and a carry chain.
#[hdl_fn]
fn packets_after_first(length: Bits<32>, mtu_log2: Bits<4>) -> Bits<24> {
    let less = length - 1;
    let whole = if mtu_log2 == 8 {
        less.get_bits::<24>(8)
    } else if mtu_log2 == 9 {
        bit_cast::<24, 23>(less.get_bits::<23>(9))
    } else if mtu_log2 == 10 {
        bit_cast::<24, 22>(less.get_bits::<22>(10))
    } else if mtu_log2 == 11 {
        bit_cast::<24, 21>(less.get_bits::<21>(11))
    } else if mtu_log2 == 12 {
        bit_cast::<24, 20>(less.get_bits::<20>(12))
    } else {
        bit_cast::<24, 19>(less.get_bits::<19>(13))
    };
    if length.any() {
        whole
    } else {
        bits::<24>(0)
    }
}

/// Stores WRITEs with immediate that arrived before packets that precede them, and delivers their completions in order. One entry is one message.
///
/// The stash has 2^`I` entries (`I` at most 4) for each of 2^`Q` queue pairs. The index is the low bits of the RQMSN. `A` must be `Q` + `I`, and `R`
/// must be `Q` + [`RECEIVE_RING_BITS`]. The caller stores which slots are in use, and the RQMSN of the oldest message.
///
/// It processes one request at a time. An arrival behind which nothing is missing takes [`IN_ORDER_ARRIVAL`] cycles if it is the next message, and another one up to
/// [`LONGEST_ARRIVAL`]. Each completion after the first takes [`CYCLES_PER_COMPLETION`] more. Levels planned: 5 (three subtractions one after the
/// other in `CountDown`, each a LUT and a carry chain).
#[derive(LogicBlock, Default)]
pub struct ImmediateStash<const Q: usize, const I: usize, const A: usize, const R: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Arrivals. The arrival of a packet comes at the latest in the cycle of its request.
    pub note_valid: Signal<In, Bit>,
    pub note_qp: Signal<In, Qpn>,
    pub note_word: Signal<In, Bits<RECEIVE_RING_BITS>>,
    pub note_bits: Signal<In, Bits<64>>,

    pub request_valid: Signal<In, Bit>,
    pub request: Signal<In, StashRequest>,
    pub request_ready: Signal<Out, Bit>,
    pub response_valid: Signal<Out, Bit>,
    pub response: Signal<Out, StashResponse>,

    // Completions leave in the order of their RQMSN, before the response.
    pub completion_valid: Signal<Out, Bit>,
    pub completion: Signal<Out, Completion>,
    pub completion_ready: Signal<In, Bit>,

    entries: UltraRam<Stashed, A>,
    missing: MissingCount<Q, R>,
    step: DFF<Step>,
    packet: DFF<StashRequest>,
    /// Packets of the message before this packet.
    span: DFF<Bits<24>>,
    /// Distance from the first missing PSN to that of the packet, in two's complement.
    depth: DFF<Bits<24>>,
    /// Packets of the message that have not arrived.
    lacking: DFF<Bits<RECEIVE_PLACE_BITS>>,
    whole: DFF<Bit>,
}

impl<const Q: usize, const I: usize, const A: usize, const R: usize> Logic
    for ImmediateStash<Q, I, A, R>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, packet, span, depth, lacking, whole);
        clock_reset!(self, missing);
        clock!(self, clock, entries);
        self.missing.note_valid.next = self.note_valid.val();
        self.missing.note_qp.next = self.note_qp.val();
        self.missing.note_word.next = self.note_word.val();
        self.missing.note_bits.next = self.note_bits.val();

        let packet = self.packet.q.val();
        let step = self.step.q.val();
        let own_slot = packet.rqmsn.get_bits::<I>(0);
        let front_slot = packet.front.get_bits::<I>(0);
        let own_index = bit_cast::<4, I>(own_slot);
        let front_index = bit_cast::<4, I>(front_slot);
        let own_row = bit_cast::<A, 10>(packet.qp) << (I as u64) | bit_cast::<A, I>(own_slot);
        let front_row = bit_cast::<A, 10>(packet.qp) << (I as u64) | bit_cast::<A, I>(front_slot);
        let reads_own = (step == Step::Fetch) | (step == Step::FetchWait);
        let entry = self.entries.read_data.val();
        self.entries.read_address.next = if reads_own { own_row } else { front_row };

        // The packets of the message that lie before this packet, but not before the first missing PSN.
        let span = self.span.q.val();
        let depth = self.depth.q.val();
        let shorter = if span < depth { span } else { depth };
        let count = shorter.get_bits::<RECEIVE_PLACE_BITS>(0);
        let nothing_missing = depth.get_bit(23) | !span.any() | !depth.any();
        let to = packet.psn.get_bits::<RECEIVE_PLACE_BITS>(0);
        self.missing.query.next = MissingQuery {
            qp: packet.qp,
            touched: packet.touched,
            from: to - count,
            to,
            count,
        };
        self.missing.start.next = (step == Step::Bound) & !nothing_missing;

        let is_packet_of_entry = (packet.psn - entry.first) < (entry.last - entry.first);
        let counted = is_packet_of_entry & entry.missing.any();
        let fewer = entry.missing - 1;
        let lacking = self.lacking.q.val();
        self.entries.write_enable.next =
            (step == Step::Store) | ((step == Step::CountDown) & counted);
        self.entries.write_address.next = own_row;
        self.entries.write_data.next = if step == Step::Store {
            Stashed {
                immediate: packet.immediate,
                length: packet.length,
                msn: packet.msn,
                first: packet.psn - span,
                last: packet.psn,
                missing: lacking,
            }
        } else {
            Stashed {
                missing: fewer,
                ..entry
            }
        };

        let front_is_here = packet.held.get_bit(front_index.index());
        let in_order = (entry.last - packet.epsn).get_bit(23);
        let delivers = (step == Step::Deliver) & in_order;
        let passes = step == Step::Pass;
        let taken = self.completion_ready.val() | !packet.completions;
        let delivered = delivers & taken;
        let passed = passes & taken;
        let behind_front = packet.front + 1;
        let next_slot = bit_cast::<4, I>(behind_front.get_bits::<I>(0));
        let next_is_here = packet.held.get_bit(next_slot.index());
        let front_bit = bits::<16>(1) << front_index;
        let own_bit = bits::<16>(1) << own_index;
        let held = packet.held & !own_bit;
        self.completion_valid.next = (delivers | passes) & packet.completions;
        let length = if passes { packet.length } else { entry.length };
        let immediate = if passes {
            packet.immediate
        } else {
            entry.immediate
        };
        let msn = if passes { packet.msn } else { entry.msn };
        self.completion.next = received(packet.qp, length, immediate, bit_cast::<24, 16>(msn));
        let through =
            ((step == Step::Front) & !front_is_here) | ((step == Step::Deliver) & !in_order);
        self.request_ready.next = step == Step::Idle;
        self.response_valid.next = through | (passed & !next_is_here);
        self.response.next = StashResponse {
            whole: passes | self.whole.q.val(),
            front: if passes { behind_front } else { packet.front },
            held: if passes { held } else { packet.held },
        };

        let request = self.request.val();
        let is_next = (request.rqmsn == request.front) & (request.psn - request.epsn).get_bit(23);
        match step {
            Step::Idle => {
                self.packet.d.next = request;
                self.whole.d.next = false;
                if self.request_valid.val() {
                    if request.has_immediate & is_next {
                        self.step.d.next = Step::Pass;
                    } else if request.has_immediate {
                        self.step.d.next = Step::Measure;
                    } else if request.counts_down {
                        self.step.d.next = Step::Fetch;
                    } else {
                        self.step.d.next = Step::Front;
                    }
                }
            }
            Step::Pass => {
                if passed {
                    self.packet.d.next.held = held;
                    self.packet.d.next.front = behind_front;
                    self.whole.d.next = true;
                    if next_is_here {
                        self.step.d.next = Step::Front;
                    } else {
                        self.step.d.next = Step::Idle;
                    }
                }
            }
            Step::Measure => {
                self.span.d.next = packets_after_first(packet.length, packet.mtu_log2);
                self.depth.d.next = packet.psn - packet.epsn;
                self.step.d.next = Step::Bound;
            }
            Step::Bound => {
                self.lacking.d.next = bits::<RECEIVE_PLACE_BITS>(0);
                if nothing_missing {
                    self.step.d.next = Step::Store;
                } else {
                    self.step.d.next = Step::Count;
                }
            }
            Step::Count => {
                self.lacking.d.next = self.missing.missing.val();
                if self.missing.done.val() {
                    self.step.d.next = Step::Store;
                }
            }
            Step::Store => {
                self.packet.d.next.held = packet.held | own_bit;
                self.whole.d.next = !lacking.any();
                self.step.d.next = Step::Front;
            }
            Step::Fetch => {
                self.step.d.next = Step::FetchWait;
            }
            Step::FetchWait => {
                self.step.d.next = Step::CountDown;
            }
            Step::CountDown => {
                self.whole.d.next = counted & !fewer.any();
                self.step.d.next = Step::Front;
            }
            Step::Front => {
                if front_is_here {
                    self.step.d.next = Step::FrontWait;
                } else {
                    self.step.d.next = Step::Idle;
                }
            }
            Step::FrontWait => {
                self.step.d.next = Step::Deliver;
            }
            Step::Deliver => {
                if delivered {
                    self.packet.d.next.held = packet.held & !front_bit;
                    self.packet.d.next.front = behind_front;
                    self.step.d.next = Step::Front;
                } else if !in_order {
                    self.step.d.next = Step::Idle;
                }
            }
        }
        if self.reset.val() {
            self.step.d.next = Step::Idle;
        }
    }
}
