//! Turns an acknowledgement request of the receive core into the headers of the acknowledgement (reference: `Responder::answer`,
//! `Responder::answer_probe`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::ack::AckKind;
use stellar_wire::hw::receive::{ResponderCount, RxOutcome};
use stellar_wire::hw::requester::TxAnswer;
use stellar_wire::hw::tx::{TxAeth, TxCcState, TxNeth, TxSeth};
use stellar_wire::mrc::{NackReason, PathHint};
use stellar_wire::{NakCode, Opcode, Syndrome};

use crate::records::{LookupReg, Repeated};

/// SETH.SACK_PSN_OFFSET of the 64 packets up to the cumulative PSN: -63.
const UP_TO_CUMULATIVE: u64 = 0xffc1;

/// AETH syndrome of the only NAK that is not fatal.
fn sequence_error() -> u64 {
    Syndrome::Nak(NakCode::PsnSequenceError).to_byte().into()
}

/// AETH syndromes of the NAKs that are fatal.
fn invalid_request() -> u64 {
    Syndrome::Nak(NakCode::InvalidRequest).to_byte().into()
}

fn remote_access() -> u64 {
    Syndrome::Nak(NakCode::RemoteAccessError).to_byte().into()
}

/// NETH reason that is fatal.
fn unexpected_event() -> u64 {
    NackReason::UnexpectedEvent.to_byte().into()
}

/// Whether a distance of PSNs has a code in 16 bits of two's complement. Levels: 2.
#[hdl_fn]
fn has_code(distance: Bits<24>) -> Bit {
    let upper = distance.get_bits::<9>(15);
    !upper.any() | upper.all()
}

/// Whether a packet moves the queue pair to the error state: by its acknowledgement, or because its payload may be lost. Levels: 3.
#[hdl_fn]
pub fn is_fatal(outcome: RxOutcome) -> Bit {
    let syndrome = outcome.ack.syndrome;
    let nak = (outcome.ack.kind == AckKind::Nak) & (syndrome != bits::<8>(sequence_error()));
    let nack = (outcome.ack.kind == AckKind::Nack) & (syndrome == bits::<8>(unexpected_event()));
    outcome.lost | (outcome.ack_valid & (nak | nack))
}

/// The entropy value of an acknowledgement: that of a good path that is known, or `other`. An RC queue pair has one path, whatever path the packet came on. Levels: 2.
#[hdl_fn]
pub fn answer_entropy(looked_up: LookupReg, other: Bits<32>) -> Bits<32> {
    let good = looked_up.good;
    let state = looked_up.state;
    let lives = good.of_this_epoch | good.of_epoch_before;
    if state.mrc & good.known & lives {
        good.entropy
    } else {
        other
    }
}

/// The acknowledgement, without the counts of CC_STATE. It leaves by `port`, on the path of the packet. Levels: 4 (a subtraction, its upper bits 2, choice).
#[hdl_fn]
pub fn draft_answer(outcome: RxOutcome, port: Bit, mpr: Bits<8>) -> TxAnswer {
    let ack = outcome.ack;
    let acked = ack.psn - ack.cack_psn;
    let base = ack.bitmap_base - ack.cack_psn;
    // The distance of an old duplicate may not fit. Then the SACK reports the 64 packets up to the cumulative PSN, which have all arrived.
    let base_has_code = has_code(base);
    let offset = if has_code(acked) {
        acked.get_bits::<16>(0)
    } else {
        bits::<16>(0)
    };
    let timestamp = if ack.has_timestamp | outcome.probe {
        ack.timestamp
    } else {
        bits::<16>(0)
    };
    TxAnswer {
        qp: outcome.qp,
        port,
        opcode: match ack.kind {
            AckKind::Sack => bits::<8>(Opcode::MrcSack.code() as u64),
            AckKind::Nack => bits::<8>(Opcode::MrcNack.code() as u64),
            _ => bits::<8>(Opcode::RcAck.code() as u64),
        },
        psn: if outcome.probe { ack.cack_psn } else { ack.psn },
        entropy: ack.entropy,
        reflected: ack.entropy,
        aeth: TxAeth {
            syndrome: ack.syndrome,
            msn: ack.msn,
        },
        seth: TxSeth {
            path_hint: if ack.ecn_ce {
                bits::<2>(PathHint::SkipOnce.code() as u64)
            } else {
                bits::<2>(PathHint::Good.code() as u64)
            },
            probe_response: outcome.probe,
            ack_psn_offset: if outcome.probe {
                outcome.probe_id
            } else {
                offset
            },
            cack_psn: ack.cack_psn,
            mpr,
            sack_offset: if base_has_code {
                base.get_bits::<16>(0)
            } else {
                bits::<16>(UP_TO_CUMULATIVE)
            },
            bitmap: if base_has_code {
                ack.bitmap
            } else {
                Bits::<64>::mask()
            },
        },
        cc_state: TxCcState {
            timestamp,
            ooo_count: bits::<15>(0),
            restore_cwnd: false,
            rcv_cwnd_pen: bits::<7>(0),
            rcvd_bytes: bits::<24>(0),
        },
        neth: TxNeth {
            reason: ack.syndrome,
            vendor_info: bits::<8>(0),
            nack_psn: ack.psn,
            timestamp,
        },
    }
}

/// What is remembered of the acknowledgement of a packet in `epoch`: valid for a duplicate before the cumulative PSN (reference: `Responder::repeats`). Levels: 2, behind a carry
/// chain.
#[hdl_fn]
pub fn repeated_answer(outcome: RxOutcome, epoch: Bits<16>) -> Repeated {
    let ack = outcome.ack;
    let sack = ack.kind == AckKind::Sack;
    let before = (outcome.psn - outcome.epsn).get_bit(23);
    Repeated {
        valid: outcome.ack_valid
            & !outcome.accepted
            & !outcome.probe
            & ((ack.kind == AckKind::Ack) | (sack & before)),
        epoch,
        cumulative: if sack { ack.cack_psn } else { ack.psn },
    }
}

/// The acknowledgement with the counts. If the packet is refused, a fatal NACK instead. Levels: 1.
#[hdl_fn]
pub fn finish_answer(
    draft: TxAnswer,
    refused: Bit,
    out_of_order: Bits<15>,
    bytes: Bits<32>,
) -> TxAnswer {
    let cc_state = draft.cc_state;
    let neth = draft.neth;
    TxAnswer {
        opcode: if refused {
            bits::<8>(Opcode::MrcNack.code() as u64)
        } else {
            draft.opcode
        },
        cc_state: TxCcState {
            ooo_count: out_of_order,
            // In units of 256 bytes.
            rcvd_bytes: bytes.get_bits::<24>(8),
            ..cc_state
        },
        neth: TxNeth {
            reason: if refused {
                bits::<8>(unexpected_event())
            } else {
                neth.reason
            },
            ..neth
        },
        ..draft
    }
}

/// What is counted for the queue pair of a packet whose answer is `answer`, if it is `answered`. Levels: 4 (opcode, syndrome).
#[hdl_fn]
pub fn count_answer(answer: TxAnswer, answered: Bit) -> ResponderCount {
    let ack = answered & (answer.opcode == (Opcode::RcAck.code() as u64));
    let sack = answered & (answer.opcode == (Opcode::MrcSack.code() as u64));
    let nack = answered & (answer.opcode == (Opcode::MrcNack.code() as u64));
    let aeth = answer.aeth;
    let seth = answer.seth;
    let neth = answer.neth;
    let nak_sequence = aeth.syndrome == bits::<8>(sequence_error());
    let nak_invalid = aeth.syndrome == bits::<8>(invalid_request());
    let nak_access = aeth.syndrome == bits::<8>(remote_access());
    let unexpected = neth.reason == bits::<8>(unexpected_event());
    ResponderCount {
        qp: answer.qp,
        ack: ack & !nak_sequence & !nak_invalid & !nak_access,
        nak_sequence: ack & nak_sequence,
        nak_invalid: ack & nak_invalid,
        nak_access: ack & nak_access,
        sack,
        echo: sack & (seth.path_hint == (PathHint::SkipOnce.code() as u64)),
        nack_outside_window: nack & !unexpected,
        nack_unexpected: nack & unexpected,
        ..ResponderCount::default()
    }
}
