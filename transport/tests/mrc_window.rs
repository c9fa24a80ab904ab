//! MRC: the receive window, duplicates, arrival in any order, and what SACKs say.

use proptest::prelude::*;
use stellar_transport::rx::{
    AckBody, AckRequest, DropReason, PageSize, Psn, QpMode, RECEIVE_WINDOW,
};
use stellar_wire::mrc::{Entropy, NackReason, Tseth};
use stellar_wire::{Ecn, Ip, Ipv4, Opcode, RoceFrame};

use crate::common::{
    accepted, context, lane, naive_memory, only, pattern, receive, refused, write_packet, write_qp,
    Memory, BASE_VA, MRC_QP, MTU,
};

const LAST_PSN: u32 = Psn::MODULUS - 1;

fn write_only(psn: u32) -> RoceFrame {
    only(QpMode::Mrc, Psn::new(psn).value(), BASE_VA, 16)
}

/// The SACK of an answer: cumulative PSN, bitmap base, bitmap.
#[track_caller]
fn sack(ack: Option<AckRequest>) -> (u32, u32, u64) {
    match ack.map(|ack| ack.body) {
        Some(AckBody::Sack {
            cack_psn,
            bitmap_base,
            bitmap,
            ..
        }) => (cack_psn.value(), bitmap_base.value(), bitmap),
        other => panic!("not a SACK: {other:?}"),
    }
}

#[track_caller]
fn nacked(ack: Option<AckRequest>, psn: u32, reason: NackReason) {
    let psn = Psn::new(psn);
    assert_eq!(ack.map(|ack| ack.body), Some(AckBody::Nack { psn, reason }));
}

#[test]
fn the_last_psn_of_the_window_is_taken_and_the_next_is_not() {
    for initial in [0, 64, 77, LAST_PSN, LAST_PSN - 500] {
        let mut lane = lane(initial);
        let beyond = refused(
            &mut lane,
            &write_only(initial + RECEIVE_WINDOW),
            DropReason::PsnOutsideWindow,
        );
        nacked(
            beyond.ack,
            initial + RECEIVE_WINDOW,
            NackReason::PsnOutOfWindow,
        );
        accepted(&mut lane, &write_only(initial + RECEIVE_WINDOW - 1));
        // The queue pair lives on, and one step of the window lets that packet in.
        accepted(&mut lane, &write_only(initial));
        accepted(&mut lane, &write_only(initial + RECEIVE_WINDOW));
    }
}

#[test]
fn half_the_psn_space_ahead_is_outside_and_from_there_on_it_is_behind() {
    let half = Psn::MODULUS / 2;
    let mut lane = lane(128);
    refused(
        &mut lane,
        &write_only(128 + half - 1),
        DropReason::PsnOutsideWindow,
    );
    refused(&mut lane, &write_only(128 + half), DropReason::Duplicate);
}

#[test]
fn a_duplicate_is_acknowledged_again_and_not_placed_again() {
    let mut lane = lane(LAST_PSN);
    for psn in [1, LAST_PSN, 3] {
        accepted(&mut lane, &write_only(psn));
    }
    for psn in [1, LAST_PSN, 3] {
        let outcome = refused(&mut lane, &write_only(psn), DropReason::Duplicate);
        assert_eq!(outcome.ack.expect("a SACK").reason, DropReason::Duplicate);
        let (cack, base, bitmap) = sack(outcome.ack);
        assert_eq!(cack, LAST_PSN);
        let expected = if psn == LAST_PSN { u64::MAX } else { 0b1010 };
        assert_eq!((base, bitmap), (psn & !63, expected));
    }
}

#[test]
fn a_duplicate_far_behind_reports_its_word_as_all_received() {
    let mut lane = lane(100_000);
    let outcome = refused(
        &mut lane,
        &write_only(100_000 - 3000),
        DropReason::Duplicate,
    );
    assert_eq!(sack(outcome.ack), (99_999, 97_000 & !63, u64::MAX));
}

#[test]
fn psns_before_the_first_count_as_received_in_its_word() {
    let mut lane = lane(64 + 5);
    let outcome = accepted(&mut lane, &write_only(64 + 7));
    assert_eq!(sack(outcome.ack), (64 + 4, 64, 0b1001_1111));
    let outcome = accepted(&mut lane, &write_only(64 + 5));
    assert_eq!(sack(outcome.ack), (64 + 5, 64, 0b1011_1111));
    let outcome = accepted(&mut lane, &write_only(64 + 6));
    assert_eq!(sack(outcome.ack), (64 + 7, 64, 0xff));
}

#[test]
fn filling_a_gap_advances_over_everything_contiguous() {
    let mut lane = lane(10);
    for psn in (11..10 + RECEIVE_WINDOW).rev() {
        let (cack, _, _) = sack(accepted(&mut lane, &write_only(psn)).ack);
        assert_eq!(cack, 9);
    }
    let (cack, base, bitmap) = sack(accepted(&mut lane, &write_only(10)).ack);
    assert_eq!((cack, base, bitmap), (9 + RECEIVE_WINDOW, 0, u64::MAX));
}

#[test]
fn a_sack_reflects_path_congestion_and_time() {
    let mut frame = write_only(0);
    frame.ip = Ip::V4(Ipv4 {
        ecn: Ecn::CongestionExperienced,
        ..Ipv4::default()
    });
    frame.udp.sport = 0xbeef;
    frame.ext.tseth = Some(Tseth {
        tx_timestamp: 0x4321,
        ..Tseth::default()
    });
    frame.bth.ack_req = false;
    let ack = accepted(&mut lane(0), &frame)
        .ack
        .expect("every MRC packet is answered");
    assert_eq!((ack.qp, ack.reason), (MRC_QP, DropReason::None));
    assert_eq!(
        (ack.ecn_ce, ack.entropy, ack.timestamp),
        (true, Entropy(0xbeef), Some(0x4321))
    );
}

#[test]
fn payload_lengths_follow_the_position_in_the_message() {
    use Opcode::{MrcWriteFirst, MrcWriteLast, MrcWriteLastImm, MrcWriteMiddle, MrcWriteOnly};
    for (opcode, dma_len, payload, good) in [
        (MrcWriteFirst, MTU + 1, MTU, true),
        (MrcWriteFirst, MTU, MTU, false),
        (MrcWriteFirst, 3 * MTU, MTU - 1, false),
        (MrcWriteMiddle, 3 * MTU, MTU, true),
        (MrcWriteMiddle, MTU, MTU, false),
        (MrcWriteMiddle, 3 * MTU, MTU + 1, false),
        (MrcWriteLast, MTU + 1, 1, true),
        (MrcWriteLast, MTU + 2, 1, false),
        (MrcWriteLast, 2 * MTU, MTU, true),
        (MrcWriteLast, 2 * MTU, MTU - 1, false),
        (MrcWriteLastImm, (1 << 31) - 1, 1, false),
        (MrcWriteMiddle, (1 << 31) + MTU, MTU, false),
        (MrcWriteFirst, (1 << 31) + 1, MTU, false),
        (MrcWriteLast, 2 * MTU, 0, false),
        (MrcWriteLast, MTU, MTU, false),
        (MrcWriteLastImm, 3 * MTU, MTU + 1, false),
        (MrcWriteOnly, 0, 0, true),
        (MrcWriteOnly, MTU, MTU, true),
        (MrcWriteOnly, MTU + 1, MTU + 1, false),
        (MrcWriteOnly, 5, 4, false),
        (MrcWriteOnly, 0, 4, false),
    ] {
        let mut lane = lane(0);
        let frame = write_packet(
            opcode,
            3,
            BASE_VA + 8 * u64::from(MTU),
            dma_len,
            pattern(3, payload as usize),
        );
        if good {
            accepted(&mut lane, &frame);
            continue;
        }
        let outcome = refused(&mut lane, &frame, DropReason::BadPayloadLength);
        nacked(outcome.ack, 3, NackReason::UnexpectedEvent);
        assert_eq!(
            refused(&mut lane, &write_only(0), DropReason::WrongState).ack,
            None
        );
    }
}

#[test]
fn a_bad_packet_that_is_a_duplicate_or_outside_does_no_harm() {
    let mut lane = lane(50);
    let bad = |psn| write_packet(Opcode::MrcWriteOnly, psn, 0, 9, vec![1]);
    refused(&mut lane, &bad(49), DropReason::Duplicate);
    refused(
        &mut lane,
        &bad(50 + RECEIVE_WINDOW),
        DropReason::PsnOutsideWindow,
    );
    accepted(&mut lane, &write_only(50));
}

#[test]
fn writing_the_context_again_starts_anew() {
    let mut lane = lane(0);
    let bad = write_packet(Opcode::MrcWriteOnly, 0, BASE_VA, 9, vec![1]);
    refused(&mut lane, &bad, DropReason::BadPayloadLength);
    refused(&mut lane, &write_only(0), DropReason::WrongState);
    write_qp(&mut lane, MRC_QP, context(QpMode::Mrc, 7000));
    let (cack, _, _) = sack(accepted(&mut lane, &write_only(7000)).ack);
    assert_eq!(cack, 7000);
}

/// PSN offsets in some order, some of them more than once.
fn arrival() -> impl Strategy<Value = Vec<u32>> {
    (
        1..=RECEIVE_WINDOW,
        proptest::collection::vec(any::<u32>(), 0..40),
    )
        .prop_flat_map(|(count, again)| {
            let mut order: Vec<_> = (0..count).collect();
            order.extend(again.iter().map(|n| n % count));
            Just(order).prop_shuffle()
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_arrival_order_in_the_window_places_each_byte_once_and_advances_to_the_end(
        initial in prop_oneof![0..Psn::MODULUS, LAST_PSN - RECEIVE_WINDOW..Psn::MODULUS],
        order in arrival(),
    ) {
        const PAYLOAD: u32 = 6;
        let mut lane = lane(initial);
        let count = order.iter().max().expect("at least one packet") + 1;
        let (mut memory, mut seen) = (Memory::default(), vec![false; count as usize]);
        for offset in order {
            let psn = Psn::new(initial).plus(offset).value();
            let va = BASE_VA + u64::from(offset * PAYLOAD);
            let outcome = receive(&mut lane, &only(QpMode::Mrc, psn, va, PAYLOAD as usize));
            let again = std::mem::replace(&mut seen[offset as usize], true);
            let reason = if again { DropReason::Duplicate } else { DropReason::None };
            prop_assert_eq!(outcome.reason, reason);
            memory.write(&outcome.tlps);

            // The expected SACK, computed from the list of received PSNs.
            let missing = seen.iter().position(|&here| !here).unwrap_or(seen.len()) as u32;
            let arrived = |psn: u32| {
                let offset = Psn::new(psn).distance_from(Psn::new(initial));
                offset >= Psn::MODULUS / 2 || seen.get(offset as usize) == Some(&true)
            };
            let (cack, base, bitmap) = sack(outcome.ack);
            prop_assert_eq!(Psn::new(cack), Psn::new(initial).plus(missing).previous());
            prop_assert_eq!(base, psn & !63);
            for bit in 0..64 {
                prop_assert_eq!(bitmap >> bit & 1 == 1, arrived(base + bit));
            }
        }
        let sent: Vec<u8> = (0..count)
            .flat_map(|offset| pattern(Psn::new(initial).plus(offset).value(), PAYLOAD as usize))
            .collect();
        prop_assert_eq!(memory, naive_memory(PageSize::Size4K, BASE_VA, &sent));
        prop_assert_eq!(lane.counters().reason(DropReason::None), u64::from(count));
        prop_assert_eq!(lane.counters().bytes_placed, u64::from(count * PAYLOAD));
    }
}
