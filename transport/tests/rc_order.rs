//! Reliable connection: sequence numbers, message sequence, lengths, running address.

use stellar_transport::rx::{AckBody, DropReason, PageSize, Psn, QpMode, RxLane, RxOutcome};
use stellar_wire::{Aeth, AtomicEth, ExtHeaders, NakCode, Opcode, RoceFrame};

use crate::common::{
    self, accepted, lane, naive_memory, only, pattern, refused, write_packet, Memory, BASE_VA, MTU,
    RC_QP,
};

const LAST_PSN: u32 = Psn::MODULUS - 1;

fn write_only(psn: u32) -> RoceFrame {
    only(QpMode::Rc, psn, BASE_VA, 16)
}

/// A packet of a message of `dma_len` bytes at the region's base.
fn part(opcode: Opcode, psn: u32, dma_len: u32, payload: u32) -> RoceFrame {
    write_packet(
        opcode,
        psn,
        BASE_VA,
        dma_len,
        pattern(psn, payload as usize),
    )
}

fn body(outcome: &RxOutcome) -> Option<AckBody> {
    outcome.ack.map(|ack| ack.body)
}

fn ack(psn: u32, msn: u32) -> Option<AckBody> {
    Some(AckBody::Ack {
        psn: Psn::new(psn),
        msn,
    })
}

fn nak(psn: u32, msn: u32, code: NakCode) -> Option<AckBody> {
    Some(AckBody::Nak {
        psn: Psn::new(psn),
        msn,
        code,
    })
}

/// Receives a packet that breaks a rule: refused with NAK invalid request, after which the queue pair takes nothing.
#[track_caller]
fn breaks_connection(lane: &mut RxLane, frame: &RoceFrame, reason: DropReason) {
    let outcome = refused(lane, frame, reason);
    let psn = frame.bth.psn;
    let Some(AckBody::Nak {
        psn: nak_psn, code, ..
    }) = body(&outcome)
    else {
        panic!("{reason} asks for a NAK, not {:?}", outcome.ack);
    };
    assert_eq!((nak_psn.value(), code), (psn, NakCode::InvalidRequest));
    assert_eq!(outcome.ack.expect("NAK").qp, RC_QP);
    let next = refused(lane, &write_only(psn), DropReason::WrongState);
    assert_eq!(next.ack, None);
}

#[test]
fn packets_in_order_are_acknowledged_across_the_psn_wrap() {
    let mut lane = lane(LAST_PSN - 1);
    for (msn, psn) in [LAST_PSN - 1, LAST_PSN, 0, 1].into_iter().enumerate() {
        let outcome = accepted(&mut lane, &write_only(psn));
        assert_eq!(body(&outcome), ack(psn, msn as u32 + 1));
    }
}

#[test]
fn a_packet_that_asks_for_no_acknowledgement_gets_none() {
    let mut lane = lane(0);
    let mut frame = write_only(0);
    frame.bth.ack_req = false;
    assert_eq!(accepted(&mut lane, &frame).ack, None);
}

#[test]
fn a_message_runs_on_from_the_address_of_its_first_packet() {
    let mut lane = lane(LAST_PSN);
    let total = 2 * MTU + 77;
    let frames = [
        part(Opcode::RcWriteFirst, LAST_PSN, total, MTU),
        part(Opcode::RcWriteMiddle, 0, 0, MTU),
        part(Opcode::RcWriteLastImm, 1, 0, 77),
    ];
    let (mut memory, mut sent) = (Memory::default(), Vec::new());
    for (frame, msn) in frames.iter().zip([0, 0, 1]) {
        let outcome = accepted(&mut lane, frame);
        assert_eq!(body(&outcome), ack(frame.bth.psn, msn));
        memory.write(&outcome.tlps);
        sent.extend_from_slice(&frame.payload);
    }
    assert_eq!(memory, naive_memory(PageSize::Size4K, BASE_VA, &sent));
}

#[test]
fn a_gap_is_answered_once_until_it_closes() {
    let mut lane = lane(LAST_PSN);
    let sequence_error = nak(LAST_PSN, 0, NakCode::PsnSequenceError);
    let first = refused(&mut lane, &write_only(0), DropReason::PsnGap);
    assert_eq!(body(&first), sequence_error);
    for psn in [1, 5, LAST_PSN / 2 - 1] {
        let again = refused(&mut lane, &write_only(psn), DropReason::PsnGap);
        assert_eq!(again.ack, None);
    }
    accepted(&mut lane, &write_only(LAST_PSN));
    let next_gap = refused(&mut lane, &write_only(1), DropReason::PsnGap);
    assert_eq!(body(&next_gap), nak(0, 1, NakCode::PsnSequenceError));
}

#[test]
fn a_duplicate_is_acknowledged_with_the_last_psn_in_order() {
    let mut lane = lane(LAST_PSN);
    for psn in [LAST_PSN, 0, 1] {
        accepted(&mut lane, &write_only(psn));
    }
    let mut frame = write_only(LAST_PSN);
    frame.bth.ack_req = false;
    let outcome = refused(&mut lane, &frame, DropReason::Duplicate);
    assert_eq!(body(&outcome), ack(1, 3));
    accepted(&mut lane, &write_only(2));
}

#[test]
fn half_the_psn_space_ahead_is_a_gap_and_from_there_on_it_is_behind() {
    let half = Psn::MODULUS / 2;
    let mut lane = lane(100);
    refused(&mut lane, &write_only(100 + half - 1), DropReason::PsnGap);
    refused(&mut lane, &write_only(100 + half), DropReason::Duplicate);
    refused(&mut lane, &write_only(99), DropReason::Duplicate);
}

#[test]
fn middle_and_last_need_a_message_in_progress() {
    for opcode in [
        Opcode::RcWriteMiddle,
        Opcode::RcWriteLast,
        Opcode::RcWriteLastImm,
    ] {
        let frame = part(opcode, 9, 0, MTU);
        breaks_connection(&mut lane(9), &frame, DropReason::BadSequence);
    }
}

#[test]
fn first_and_only_need_none() {
    for opcode in [
        Opcode::RcWriteFirst,
        Opcode::RcWriteOnly,
        Opcode::RcWriteOnlyImm,
    ] {
        let mut lane = lane(8);
        accepted(&mut lane, &part(Opcode::RcWriteFirst, 8, 4 * MTU, MTU));
        let frame = part(opcode, 9, MTU, MTU);
        breaks_connection(&mut lane, &frame, DropReason::BadSequence);
    }
}

#[test]
fn a_gap_inside_a_message_leaves_the_message_as_it_is() {
    let mut lane = lane(0);
    accepted(&mut lane, &part(Opcode::RcWriteFirst, 0, MTU + 5, MTU));
    refused(&mut lane, &write_only(2), DropReason::PsnGap);
    refused(
        &mut lane,
        &part(Opcode::RcWriteFirst, 0, MTU + 5, MTU),
        DropReason::Duplicate,
    );
    let last = part(Opcode::RcWriteLast, 1, 0, 5);
    let mut memory = Memory::default();
    memory.write(&accepted(&mut lane, &last).tlps);
    let va = BASE_VA + u64::from(MTU);
    assert_eq!(memory, naive_memory(PageSize::Size4K, va, &last.payload));
}

#[test]
fn first_carries_one_mtu_of_a_longer_message() {
    for (dma_len, payload, good) in [
        (MTU + 1, MTU, true),
        (MTU, MTU, false),
        (0, MTU, false),
        (4 * MTU, MTU - 1, false),
        (4 * MTU, MTU + 1, false),
        ((1 << 31) + 1, MTU, false),
    ] {
        let frame = part(Opcode::RcWriteFirst, 3, dma_len, payload);
        if good {
            accepted(&mut lane(3), &frame);
        } else {
            breaks_connection(&mut lane(3), &frame, DropReason::BadPayloadLength);
        }
    }
}

#[test]
fn middle_and_last_fit_what_the_message_lacks() {
    use Opcode::{RcWriteLast, RcWriteMiddle};
    for (left, opcode, payload, good) in [
        (MTU + 1, RcWriteMiddle, MTU, true),
        (MTU, RcWriteMiddle, MTU, false),
        (3 * MTU, RcWriteMiddle, MTU - 1, false),
        (3 * MTU, RcWriteMiddle, MTU + 1, false),
        (MTU, RcWriteLast, MTU, true),
        (1, RcWriteLast, 1, true),
        (2, RcWriteLast, 1, false),
        (1, RcWriteLast, 2, false),
        (1, RcWriteLast, 0, false),
        (MTU + 1, RcWriteLast, MTU + 1, false),
    ] {
        let mut lane = lane(3);
        accepted(&mut lane, &part(Opcode::RcWriteFirst, 3, MTU + left, MTU));
        let frame = part(opcode, 4, 0, payload);
        if good {
            accepted(&mut lane, &frame);
        } else {
            breaks_connection(&mut lane, &frame, DropReason::BadPayloadLength);
        }
    }
}

#[test]
fn only_carries_its_whole_message() {
    for (dma_len, payload, good) in [
        (0, 0, true),
        (1, 1, true),
        (MTU, MTU, true),
        (MTU + 1, MTU + 1, false),
        (2, 1, false),
        (1, 2, false),
        (1, 0, false),
        (0, 1, false),
    ] {
        let frame = part(Opcode::RcWriteOnly, 3, dma_len, payload);
        if good {
            accepted(&mut lane(3), &frame);
        } else {
            breaks_connection(&mut lane(3), &frame, DropReason::BadPayloadLength);
        }
    }
}

#[test]
fn the_message_number_wraps_at_24_bits_with_the_psn() {
    let mut tracker = stellar_transport::rx::RcTrack::new(Psn::new(0));
    let context = common::context(QpMode::Rc, 0);
    let frame = only(QpMode::Rc, 0, BASE_VA, 0).emit().expect("frame");
    let config = stellar_transport::rx::RxConfig::default();
    let classified = stellar_transport::rx::classify_frame(&frame, false, &config);
    let mut headers = classified.headers.expect("a good frame");
    for psn in 0..=LAST_PSN {
        headers.psn = Psn::new(psn);
        assert_eq!(
            tracker.receive(&context, &headers).msn,
            (psn + 1) % Psn::MODULUS
        );
    }
}

/// A request that the lane does not execute, with whatever its opcode carries.
fn unexecuted(opcode: Opcode, psn: u32) -> RoceFrame {
    let mut frame = write_only(psn);
    frame.bth.opcode = opcode;
    let has_reth = opcode == Opcode::RcReadRequest;
    frame.ext.reth = frame.ext.reth.filter(|_| has_reth);
    frame.ext.atomic = opcode.is_atomic().then(AtomicEth::default);
    frame.payload = if opcode.is_send() {
        pattern(psn, 16)
    } else {
        vec![]
    };
    frame
}

#[test]
fn requests_the_lane_does_not_execute_are_refused_in_their_turn() {
    for opcode in [
        Opcode::RcSendOnly,
        Opcode::RcReadRequest,
        Opcode::RcCompareSwap,
        Opcode::RcFetchAdd,
    ] {
        let mut lane = lane(LAST_PSN);
        let early = refused(&mut lane, &unexecuted(opcode, 0), DropReason::PsnGap);
        assert_eq!(
            body(&early),
            nak(LAST_PSN, 0, NakCode::PsnSequenceError),
            "{opcode:?}"
        );
        accepted(&mut lane, &write_only(LAST_PSN));
        let late = refused(
            &mut lane,
            &unexecuted(opcode, LAST_PSN),
            DropReason::Duplicate,
        );
        assert_eq!(body(&late), ack(LAST_PSN, 1));
        breaks_connection(
            &mut lane,
            &unexecuted(opcode, 0),
            DropReason::UnsupportedOpcode,
        );
    }
}

#[test]
fn responses_and_other_transports_are_dropped_without_a_word() {
    let mut lane = lane(0);
    for opcode in [
        Opcode::RcReadResponseOnly,
        Opcode::RcAck,
        Opcode::UcSendOnly,
    ] {
        let mut frame = write_only(0);
        frame.bth.opcode = opcode;
        frame.ext = ExtHeaders::default();
        frame.ext.aeth = opcode.is_response().then(Aeth::default);
        let outcome = refused(&mut lane, &frame, DropReason::UnsupportedOpcode);
        assert_eq!(outcome.ack, None, "{opcode:?}");
    }
    accepted(&mut lane, &write_only(0));
}

#[test]
fn a_queue_pair_put_in_error_takes_nothing_until_it_is_written_again() {
    let mut lane = lane(0);
    accepted(&mut lane, &write_only(0));
    lane.fail_qp(RC_QP);
    let dropped = refused(&mut lane, &write_only(1), DropReason::WrongState);
    assert_eq!(dropped.ack, None);
    lane.fail_qp(77);
    assert_eq!(lane.tables().qp(77), Default::default());
}
