//! Stores received WRITEs with immediate until all packets before them have arrived (reference: `Immediates`).

use hdl_macros::{clock_reset, hdl, hdl_fn};
use hdl_primitives::UltraRam;
use rust_hdl::prelude::*;
use stellar_wire::config::{RECEIVE_PLACE_BITS, RECEIVE_RING_BITS, RECEIVE_WINDOW};
use stellar_wire::hw::messages::Completion;
use stellar_wire::hw::{Psn, Qpn};

use crate::completion::received;
use crate::missing_count::MissingCount;
use crate::records::{MissingQuery, StashPart, StashRequest, Stashed};

/// Cycles for which a WRITE with immediate stalls the pipeline if messages behind it are in the stash and follow it, beside those of their completions. Another packet that lets
/// messages of the stash follow takes one more.
pub const CHAIN: usize = 1;
/// Further cycles for each completion of the stash.
pub const CYCLES_PER_COMPLETION: usize = 1;
/// Maximum of cycles for which the last packet of a message of several packets stalls the pipeline, if no completion waits: the count over the words of a window, which begins in the middle of a word,
/// and the steps around it. A message is counted over its own words only, so it takes as long only if it fills the window.
pub const LONGEST_ARRIVAL: usize = RECEIVE_WINDOW as usize / 64 + 1 + 9;

/// The step of an operation. In each step that reads an entry, the data comes two steps later.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    /// First step of each operation: what the packet itself needs.
    Idle,
    /// Computes the range of the packets that may be missing.
    Bound,
    /// Counts the missing packets.
    Count,
    /// Writes the entry to the stash.
    Store,
    /// Decrements the number of missing packets.
    CountDown,
    /// Reads the oldest message.
    Front,
    /// Reads the message behind it.
    Behind,
    /// Delivers the oldest message, if everything before it has arrived, and reads the second message behind it.
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

/// Where a message is in the stash, by the low bits of its RQMSN. Levels: 1, and a carry chain.
#[hdl_fn]
fn place_of<const I: usize>(part: StashPart, number: Bits<I>) -> Bits<16> {
    let slot = number & !(Bits::<I>::mask() << part.log2);
    part.first + bit_cast::<16, I>(slot)
}

/// Stores WRITEs with immediate that arrived before packets that precede them, and delivers their completions in order. One entry is one message.
///
/// The stash has 2^`A` entries. Each of 2^`Q` queue pairs has a part of them ([`StashPart`]) of up to 2^`I` entries; the index in it is the low bits of the RQMSN. `R`
/// is that of [`MissingCount`]. The caller stores which messages are there, and the RQMSN of the oldest message.
///
/// A message of one packet is stored in the cycle of its packet. Other work is done for one request at a time, whose caller stalls:
///
/// | packet | cycles |
/// |---|---|
/// | a WRITE with immediate, behind which messages of the stash are delivered | [`CHAIN`], and [`CYCLES_PER_COMPLETION`] for each of these |
/// | another packet behind which messages are delivered | one more |
/// | a packet of a message in the stash | 2; if messages are delivered, 2 more than above |
/// | the last packet of a message of several packets | 3 if no other is missing, otherwise up to [`LONGEST_ARRIVAL`] |
///
/// Levels planned: 5 (three subtractions one after the other in `CountDown`, each a LUT and a carry chain).
#[derive(LogicBlock, Default)]
pub struct ImmediateStash<const Q: usize, const I: usize, const A: usize, const R: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Arrivals. The arrival of a packet comes at the latest in the cycle of its request.
    pub note_valid: Signal<In, Bit>,
    pub note_qp: Signal<In, Qpn>,
    pub note_word: Signal<In, Bits<RECEIVE_RING_BITS>>,
    pub note_bits: Signal<In, Bits<64>>,

    // The slot that the next request reads first, in the cycle before it: the one behind the front for a WRITE with immediate, otherwise the packet's own.
    pub next_part: Signal<In, StashPart>,
    pub next_rqmsn: Signal<In, Bits<16>>,

    /// The packet. It stays until `done`.
    pub request: Signal<In, StashRequest>,
    /// The packet is a message of one packet, to be stored at once.
    pub stores: Signal<In, Bit>,
    /// The packet requires work.
    pub request_valid: Signal<In, Bit>,
    /// One pulse: all packets of a WRITE with immediate of several packets have arrived with this one.
    pub whole: Signal<Out, Bit>,
    /// The oldest message has been delivered: `front` advances, and its slot is free.
    pub delivered: Signal<Out, Bit>,
    /// The oldest message is in the stash and cannot be delivered. `front_last` is its last PSN.
    pub waits: Signal<Out, Bit>,
    pub front_last: Signal<Out, Psn>,
    /// The work is done.
    pub done: Signal<Out, Bit>,

    // Completions leave in the order of their RQMSN: the packet's own first, then those of the stash.
    pub own_completion: Signal<Out, Bit>,
    pub completion_valid: Signal<Out, Bit>,
    pub completion: Signal<Out, Completion>,
    pub completion_ready: Signal<In, Bit>,

    entries: UltraRam<Stashed, A>,
    missing: MissingCount<Q, R>,
    step: DFF<Step>,
    /// Packets of the message before this packet.
    span: DFF<Bits<24>>,
    /// Distance from the first missing PSN to that of the packet, in two's complement.
    depth: DFF<Bits<24>>,
    /// Packets of the message that have not arrived.
    lacking: DFF<Bits<RECEIVE_PLACE_BITS>>,
}

impl<const Q: usize, const I: usize, const A: usize, const R: usize> Logic
    for ImmediateStash<Q, I, A, R>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, span, depth, lacking);
        clock_reset!(self, missing);
        clock!(self, clock, entries);
        self.missing.note_valid.next = self.note_valid.val();
        self.missing.note_qp.next = self.note_qp.val();
        self.missing.note_word.next = self.note_word.val();
        self.missing.note_bits.next = self.note_bits.val();

        let packet = self.request.val();
        let work = packet.work;
        let step = self.step.q.val();
        let starts = self.request_valid.val() & (step == Step::Idle);
        let taken = self.completion_ready.val() | !packet.completions;

        // The entry to read: a request that has to wait reads the same one again.
        let ahead = if starts & work.passes {
            if taken {
                bits::<I>(1)
            } else {
                bits::<I>(0)
            }
        } else if step == Step::Behind {
            bits::<I>(1)
        } else if (step == Step::Deliver) & taken {
            bits::<I>(2)
        } else {
            bits::<I>(0)
        };
        let read_slot = if self.request_valid.val() {
            packet.front.get_bits::<I>(0) + ahead
        } else {
            self.next_rqmsn.val().get_bits::<I>(0)
        };
        let read_part = if self.request_valid.val() {
            packet.part
        } else {
            self.next_part.val()
        };
        self.entries.read_address.next = place_of::<I>(read_part, read_slot).get_bits::<A>(0);
        let entry = self.entries.read_data.val();

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

        // What is written: the packet's message, or one packet fewer that is missing.
        let is_packet_of_entry = (packet.psn - entry.first) < (entry.last - entry.first);
        let counted = (step == Step::CountDown) & is_packet_of_entry & entry.missing.any();
        let fewer = entry.missing - 1;
        let lacking = self.lacking.q.val();
        let ends_count = step == Step::Store;
        let own_slot = packet.rqmsn.get_bits::<I>(0);
        self.entries.write_enable.next = self.stores.val() | ends_count | counted;
        self.entries.write_address.next = place_of::<I>(packet.part, own_slot).get_bits::<A>(0);
        self.entries.write_data.next = if step == Step::CountDown {
            Stashed {
                missing: fewer,
                ..entry
            }
        } else {
            Stashed {
                immediate: packet.immediate,
                length: packet.length,
                msn: packet.msn,
                first: if ends_count {
                    packet.psn - span
                } else {
                    packet.psn
                },
                last: packet.psn,
                missing: if ends_count {
                    lacking
                } else {
                    bits::<RECEIVE_PLACE_BITS>(0)
                },
            }
        };
        self.whole.next = (ends_count & !lacking.any()) | (counted & !fewer.any());

        // The completions.
        let in_order = (entry.last - packet.epsn).get_bit(23);
        let delivers = (step == Step::Deliver) & in_order;
        let delivered = delivers & taken;
        let waits = (step == Step::Deliver) & !in_order;
        let next_slot = bit_cast::<8, I>(packet.front.get_bits::<I>(0) + 1);
        let next_is_here = packet.held.get_bit(next_slot.index());
        self.own_completion.next = starts & work.passes & packet.completions;
        self.completion_valid.next = delivers & packet.completions;
        self.completion.next = received(
            packet.qp,
            entry.length,
            entry.immediate,
            bit_cast::<24, 16>(entry.msn),
        );
        self.delivered.next = delivered;
        self.waits.next = waits;
        self.front_last.next = entry.last;
        let changed = ends_count | (step == Step::CountDown);
        self.done.next = waits | (delivered & !next_is_here) | (changed & !work.delivers);

        match step {
            Step::Idle => {
                self.span.d.next = packets_after_first(packet.length, packet.mtu_log2);
                self.depth.d.next = packet.psn - packet.epsn;
                if self.request_valid.val() {
                    if work.passes {
                        if taken {
                            self.step.d.next = Step::Deliver;
                        }
                    } else if work.measures {
                        self.step.d.next = Step::Bound;
                    } else if work.counts_down {
                        self.step.d.next = Step::CountDown;
                    } else {
                        // The first read of the oldest message is in this cycle.
                        self.step.d.next = Step::Behind;
                    }
                }
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
                if work.delivers {
                    self.step.d.next = Step::Front;
                } else {
                    self.step.d.next = Step::Idle;
                }
            }
            Step::CountDown => {
                if work.delivers {
                    self.step.d.next = Step::Front;
                } else {
                    self.step.d.next = Step::Idle;
                }
            }
            Step::Front => {
                self.step.d.next = Step::Behind;
            }
            Step::Behind => {
                self.step.d.next = Step::Deliver;
            }
            Step::Deliver => {
                if waits | (delivered & !next_is_here) {
                    self.step.d.next = Step::Idle;
                } else if !taken {
                    // The oldest message is read again in this cycle.
                    self.step.d.next = Step::Behind;
                }
            }
        }
        if self.reset.val() {
            self.step.d.next = Step::Idle;
        }
    }
}
