//! What a packet changes in the state of its queue pair, and whether its immediate must be stashed, delivered or counted.

use hdl_macros::hdl_fn;
use hdl_primitives::whole_packets::whole_packets;
use rust_hdl::prelude::*;
use stellar_wire::config::{RECEIVE_PLACE_BITS, RECEIVE_RING, RECEIVE_RING_BITS, RECEIVE_WINDOW};
use stellar_wire::hw::frame::Position;
use stellar_wire::hw::requester::TxAnswer;
use stellar_wire::hw::responder::ResponderConfig;
use stellar_wire::hw::Psn;
use stellar_wire::mtu::LENGTH_BITS;

use crate::answer::answer_entropy;
use crate::coalesce::{coalesce, decide_sack, nothing_pending, sacked, sacks_pending, sends_sack};
use crate::count_records::CountedPacket;
use crate::records::{
    Changed, LookupReg, Newest, OperationKind, ReceiveState, Repeated, RingWords, StashPart,
    StashWork, UpdateReg,
};
use crate::visit::{forget, visit, visit_answer};

/// Initial state of a queue pair.
#[hdl_fn]
pub fn fresh(settings: ResponderConfig) -> ReceiveState {
    ReceiveState {
        mrc: settings.mrc,
        mtu_log2: settings.mtu_log2,
        max_wimm: settings.max_wimm,
        part: StashPart {
            first: settings.stash,
            log2: settings.log2_stash,
        },
        completions: settings.completions,
        failed: false,
        expected: settings.initial_psn,
        touched: RingWords {
            bits: bits::<RECEIVE_RING>(0),
        },
        out_of_order: bits::<15>(0),
        bytes: bits::<32>(0),
        message_bytes: bits::<32>(0),
        messages: bits::<24>(0),
        front: bits::<16>(0),
        front_last: bits::<24>(0),
        held: bits::<256>(0),
        coalescing: nothing_pending(settings),
        repeated: Repeated {
            valid: false,
            epoch: bits::<16>(0),
            cumulative: bits::<24>(0),
        },
        newest: Newest {
            entropy: bits::<32>(0),
            timestamp: bits::<16>(0),
        },
    }
}

/// Words of the ring below word `n`.
#[hdl_fn]
fn words_below(n: Bits<RECEIVE_RING_BITS>) -> Bits<RECEIVE_RING> {
    !(Bits::<RECEIVE_RING>::mask() << n)
}

/// Words of the ring that the window leaves when the first missing PSN advances. Levels: 3.
#[hdl_fn]
fn left_behind(expected: Psn, epsn: Psn) -> Bits<RECEIVE_RING> {
    let from = expected.get_bits::<RECEIVE_RING_BITS>(6);
    let to = epsn.get_bits::<RECEIVE_RING_BITS>(6);
    let upward = words_below(to) & !words_below(from);
    let around = words_below(to) | !words_below(from);
    if from <= to {
        upward
    } else {
        around
    }
}

/// Packets of a message before its last one, `ceil(length / MTU) - 1`, or 0 for an empty one; not more than a window has beside that one. Levels: 5, and a carry chain.
#[hdl_fn]
fn packets_before_last(length: Bits<32>, mtu_log2: Bits<4>) -> Bits<RECEIVE_PLACE_BITS> {
    let whole = whole_packets(length - 1, mtu_log2);
    if !length.any() {
        bits::<RECEIVE_PLACE_BITS>(0)
    } else if (whole >> ((RECEIVE_PLACE_BITS - 1) as u64)).any() {
        bits::<RECEIVE_PLACE_BITS>((RECEIVE_WINDOW - 1) as u64)
    } else {
        whole.get_bits::<RECEIVE_PLACE_BITS>(0)
    }
}

/// Computes the changes by a packet. `last` is the operation immediately before it, whose state is forwarded if `looked_up.follows`. For other
/// operations only `operation` and `state` are valid. The stash has 2^`slot_bits` slots. Levels planned: 8 (choice of the state 1, distance of
/// RQMSNs: a subtraction, comparison, four gates; or decision on the SACK 4, pending packets 3).
#[hdl_fn]
pub fn update_state(looked_up: LookupReg, last: UpdateReg, slot_bits: usize) -> UpdateReg {
    let operation = looked_up.operation;
    let outcome = operation.outcome;
    let state = if looked_up.follows {
        last.state
    } else {
        looked_up.state
    };
    let since = if looked_up.follows {
        last.changed
    } else {
        Changed {
            word: false,
            urgent_psn: false,
        }
    };
    let is_packet = operation.kind == OperationKind::Packet;
    let qp_active = is_packet & !state.failed;
    let accepted = qp_active & outcome.accepted;
    let mrc = accepted & outcome.mrc;
    let rc = accepted & !outcome.mrc;
    let starts = (outcome.position == Position::First) | (outcome.position == Position::Only);
    let ends = (outcome.position == Position::Last) | (outcome.position == Position::Only);

    // Numbers of WRITEs with immediate.
    let slots = bits::<16>((1 << slot_bits) - 1);
    let ahead = outcome.rqmsn - state.front;
    let own_slot = (outcome.rqmsn & slots).get_bits::<8>(0);
    let front_slot = (state.front & slots).get_bits::<8>(0);
    let exceeded = mrc & outcome.has_immediate & (ahead >= bit_cast::<16, 11>(state.max_wimm));
    let in_stash = !(ahead & !slots).any() & state.held.get_bit(own_slot.index());
    let arrives = mrc & outcome.has_immediate & !exceeded;
    let is_front = !ahead.any();
    let passes = arrives & is_front & looked_up.compared.in_order;
    let enters = arrives & !passes;
    let single = outcome.position == Position::Only;
    let counts_down = mrc & !outcome.has_immediate & in_stash;
    let front_is_here = state.held.get_bit(front_slot.index());
    let front_in_order = (state.front_last - outcome.epsn).get_bit(23);
    let delivers = mrc & !exceeded & !(arrives & is_front) & front_is_here & front_in_order;
    let behind_front = state.front + 1;
    let next_slot = (behind_front & slots).get_bits::<8>(0);
    let next_is_here = state.held.get_bit(next_slot.index());
    let own_bit = bits::<256>(1) << own_slot;
    let delivers_rc = rc & ends & outcome.has_immediate;
    let stash_work = StashWork {
        passes: passes & next_is_here,
        delivers,
        seeks: delivers & outcome.has_immediate,
    };
    // The packet before, whose state may be forwarded, is of the same configuration.
    let configured = looked_up.state;
    let part = configured.part;
    let in_part = outcome.rqmsn & slots & !(Bits::<16>::mask() << part.log2);
    let counted = CountedPacket {
        qp: operation.qp,
        psn: outcome.psn,
        slot: part.first + in_part,
        span: packets_before_last(outcome.dma_length, configured.mtu_log2),
        counts: delivers_rc | passes | (enters & single),
        stores: enters & single,
        measures: enters & !single,
        counts_down,
        arms: operation.kind == OperationKind::Arm,
        threshold: operation.threshold,
        restarts: operation.kind == OperationKind::Configure,
    };

    let word = bits::<RECEIVE_RING>(1) << outcome.psn.get_bits::<RECEIVE_RING_BITS>(6);
    let touched_before = state.touched;
    let touched = RingWords {
        bits: (touched_before.bits | word) & !left_behind(state.expected, outcome.epsn),
    };
    let length = bit_cast::<32, LENGTH_BITS>(outcome.payload_length);
    let before = if starts {
        bits::<32>(0)
    } else {
        state.message_bytes
    };
    // Every accepted MRC packet comes with a SACK, which is sent only sometimes. Of other acknowledgements, only those of duplicates may be left out.
    let decision = decide_sack(state.coalescing, outcome, looked_up.compared, since);
    let repeats = looked_up.repeats;
    let last_repeated = state.repeated;
    let said_again = repeats.valid
        & last_repeated.valid
        & (repeats.epoch == last_repeated.epoch)
        & (repeats.cumulative == last_repeated.cumulative);
    let silent = said_again | (mrc & !exceeded & !sends_sack(decision));
    let fails = qp_active & (exceeded | looked_up.fatal);
    let out_of_order = mrc & (outcome.psn != state.expected);
    let is_visit = operation.kind == OperationKind::Visit;
    let visited = visit(state);
    let tells = is_visit & visited.tells;
    let ack = outcome.ack;
    let draft = looked_up.answer;
    UpdateReg {
        operation,
        state: ReceiveState {
            failed: state.failed | fails,
            expected: if mrc { outcome.epsn } else { state.expected },
            touched: if mrc { touched } else { state.touched },
            out_of_order: state.out_of_order + bit_cast::<15, 1>(out_of_order.into()),
            bytes: if accepted {
                state.bytes + length
            } else {
                state.bytes
            },
            message_bytes: if rc {
                before + length
            } else {
                state.message_bytes
            },
            front: if passes { behind_front } else { state.front },
            front_last: if enters & is_front {
                outcome.psn
            } else {
                state.front_last
            },
            held: if passes {
                state.held & !own_bit
            } else if enters {
                state.held | own_bit
            } else {
                state.held
            },
            coalescing: if mrc {
                coalesce(state.coalescing, decision, outcome)
            } else if is_visit {
                visited.coalescing
            } else if operation.kind == OperationKind::Forget {
                forget(state.coalescing)
            } else {
                state.coalescing
            },
            newest: if mrc {
                Newest {
                    entropy: ack.entropy,
                    timestamp: if ack.has_timestamp {
                        ack.timestamp
                    } else {
                        bits::<16>(0)
                    },
                }
            } else {
                state.newest
            },
            repeated: if qp_active & repeats.valid {
                repeats
            } else {
                state.repeated
            },
            ..state
        },
        answer: if is_visit {
            visit_answer(looked_up, state)
        } else {
            TxAnswer {
                entropy: answer_entropy(looked_up, draft.entropy),
                ..draft
            }
        },
        sacks_pending: is_visit | (mrc & sacks_pending(decision)),
        sacked: if is_visit {
            visited.told
        } else {
            sacked(state.coalescing, decision, outcome)
        },
        changed: Changed {
            word: mrc,
            urgent_psn: mrc & decision.extends,
        },
        answers: tells | (qp_active & outcome.ack_valid & !silent),
        ignored: is_packet & state.failed,
        fails,
        exceeded,
        notes_psn: mrc,
        in_order: looked_up.compared.in_order,
        out_of_order,
        ends_message: rc & ends,
        delivers: delivers_rc,
        passes,
        stores: enters,
        stores_front: enters & is_front,
        stores_behind: enters & (ahead == 1),
        stashes: (passes & next_is_here) | delivers,
        stash_work,
        counted,
    }
}
