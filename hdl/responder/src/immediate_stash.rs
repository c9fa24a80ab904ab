//! Stores received WRITEs with immediate until all packets before them have arrived (reference: `Immediates`).

use hdl_macros::{clock, hdl, hdl_fn};
use hdl_primitives::UltraRam;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::Completion;
use stellar_wire::hw::Psn;

use crate::completion::received;
use crate::records::{StashPart, StashRequest, Stashed};

/// Cycles for which a packet stalls the pipeline if messages of the stash follow it, beside those of their completions.
pub const CHAIN: usize = 1;
/// Further cycles for each completion of the stash.
pub const CYCLES_PER_COMPLETION: usize = 1;

/// The step of an operation. In each step that reads an entry, the data comes two steps later.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    /// First step of each operation: the entry that it needs first has been read for it.
    Idle,
    /// Reads the message behind the oldest one.
    Behind,
    /// Delivers the oldest message, if everything before it has arrived, and reads the second message behind it.
    Deliver,
}

/// Where a message is in the stash, by the low bits of its RQMSN. Levels: 1, and a carry chain.
#[hdl_fn]
fn place_of<const I: usize>(part: StashPart, number: Bits<I>) -> Bits<16> {
    let slot = number & !(Bits::<I>::mask() << part.log2);
    part.first + bit_cast::<16, I>(slot)
}

/// Stores WRITEs with immediate that arrived before packets that precede them, and delivers their completions in order. One entry is one message.
///
/// The stash has 2^`A` entries. Each queue pair has a part of them ([`StashPart`]) of up to 2^`I` entries; the index in it is the low bits of the RQMSN. The caller stores which messages
/// are there, and the RQMSN of the oldest message.
///
/// A message is stored in the cycle of its packet. Behind a packet, the messages that follow it are delivered, while the caller stalls for [`CHAIN`] cycles, and [`CYCLES_PER_COMPLETION`] for each of them.
/// If the packet has an immediate and is not one of them, which a peer that follows the rules does not send, the caller stalls for one cycle more.
///
/// Levels planned: 5 (last PSN compared, delivered, step).
#[derive(LogicBlock, Default)]
pub struct ImmediateStash<const I: usize, const A: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // The slot that the next request reads first, in the cycle before it: the one behind the front for a WRITE with immediate, otherwise the front.
    pub next_part: Signal<In, StashPart>,
    pub next_rqmsn: Signal<In, Bits<16>>,

    /// The packet. It stays until `done`.
    pub request: Signal<In, StashRequest>,
    /// The packet ends a message, to be stored at once.
    pub stores: Signal<In, Bit>,
    /// The packet requires work.
    pub request_valid: Signal<In, Bit>,
    /// The oldest message has been delivered: `front` advances, and its slot is free.
    pub delivered: Signal<Out, Bit>,
    /// The oldest message is in the stash and cannot be delivered. `front_last` is its last PSN.
    pub waits: Signal<Out, Bit>,
    pub front_last: Signal<Out, Psn>,
    /// One pulse, with `done`: the oldest message is in the stash and cannot be delivered; `front_last` is its last PSN in the next cycle.
    pub learns: Signal<Out, Bit>,
    /// The work is done.
    pub done: Signal<Out, Bit>,

    // Completions leave in the order of their RQMSN: the packet's own first, then those of the stash.
    pub own_completion: Signal<Out, Bit>,
    pub completion_valid: Signal<Out, Bit>,
    pub completion: Signal<Out, Completion>,
    pub completion_ready: Signal<In, Bit>,

    entries: UltraRam<Stashed, A>,
    step: DFF<Step>,
}

impl<const I: usize, const A: usize> Logic for ImmediateStash<I, A> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step);
        clock!(self, clock, entries);

        let packet = self.request.val();
        let work = packet.work;
        let step = self.step.q.val();
        let starts = self.request_valid.val() & (step == Step::Idle);
        let taken = self.completion_ready.val() | !packet.completions;

        // The entry to read: a request that has to wait reads the same one again.
        let ahead = if starts & !work.seeks {
            if taken | !work.passes {
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

        self.entries.write_enable.next = self.stores.val();
        self.entries.write_address.next = packet.slot.get_bits::<A>(0);
        self.entries.write_data.next = Stashed {
            immediate: packet.immediate,
            length: packet.length,
            msn: packet.msn,
            last: packet.psn,
        };

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
        // Right behind this message a packet is missing, so the next one waits, and need not be seen for that.
        let gap_follows = !(entry.last - (packet.epsn - 1)).get_bit(23);
        let learns = delivered & next_is_here & gap_follows;
        let done = waits | (delivered & (!next_is_here | gap_follows));
        self.learns.next = learns;
        self.done.next = done;

        match step {
            Step::Idle => {
                if self.request_valid.val() {
                    if work.seeks {
                        // The first read of the oldest message is in this cycle.
                        self.step.d.next = Step::Behind;
                    } else if taken | !work.passes {
                        self.step.d.next = Step::Deliver;
                    }
                }
            }
            Step::Behind => {
                self.step.d.next = Step::Deliver;
            }
            Step::Deliver => {
                if done {
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
