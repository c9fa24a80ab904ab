//! Tests which writes are accepted: queue pair, key, protection domain, rights, bounds, pages.

use stellar_transport::rx::{
    AckBody, AckKind, DropReason, EmttRow, MrRow, PageSize, Psn, QpMode, QpRow, QpState, RxLane,
    Tables,
};
use stellar_wire::mrc::NackReason;
use stellar_wire::{NakCode, Opcode, RoceFrame};

use crate::common::{
    accepted, context, lane, only, page, pattern, refused, region, write_emtt, write_mr,
    write_packet, write_qp, BASE_VA, FIRST_EMTT, KEY, MRC_QP, MR_INDEX, MTU, PD, RC_QP,
    REGION_LENGTH, RKEY,
};

const MODES: [QpMode; 2] = [QpMode::Rc, QpMode::Mrc];

fn qp_of(mode: QpMode) -> u32 {
    match mode {
        QpMode::Rc => RC_QP,
        QpMode::Mrc => MRC_QP,
    }
}

fn with_rkey(mut frame: RoceFrame, rkey: u32) -> RoceFrame {
    frame.ext.reth.as_mut().expect("RETH").rkey = rkey;
    frame
}

/// The frame is refused with the NAK or NACK of an access error, and the queue pair takes nothing more.
#[track_caller]
fn access_error(lane: &mut RxLane, frame: &RoceFrame, reason: DropReason) {
    let ack = refused(lane, frame, reason).ack.expect("an answer");
    let psn = Psn::new(frame.bth.psn);
    match ack.body {
        AckBody::Nak {
            psn: named, code, ..
        } => {
            assert_eq!((named, code), (psn, NakCode::RemoteAccessError));
        }
        body => {
            let reason = NackReason::UnexpectedEvent;
            assert_eq!(body, AckBody::Nack { psn, reason });
        }
    }
    assert_eq!(ack.reason, reason);
    let mode = if frame.bth.opcode.is_mrc() {
        QpMode::Mrc
    } else {
        QpMode::Rc
    };
    let next = only(mode, frame.bth.psn + 1, BASE_VA, 8);
    assert_eq!(refused(lane, &next, DropReason::WrongState).ack, None);
}

/// Both modes refuse the same frame made for them.
#[track_caller]
fn both_refuse(
    prepare: impl Fn(&mut RxLane),
    frame: impl Fn(QpMode) -> RoceFrame,
    reason: DropReason,
) {
    for mode in MODES {
        let mut lane = lane(0);
        prepare(&mut lane);
        access_error(&mut lane, &frame(mode), reason);
    }
}

fn plain(mode: QpMode) -> RoceFrame {
    only(mode, 0, BASE_VA, 8)
}

#[test]
fn unknown_and_reserved_queue_pairs_are_silent() {
    for dest_qp in [0, 1, 2, 1024, 1024 + RC_QP, 0xff_ffff] {
        let mut frame = plain(QpMode::Rc);
        frame.bth.dest_qp = dest_qp;
        assert_eq!(
            refused(&mut lane(0), &frame, DropReason::UnknownQp).ack,
            None
        );
    }
}

#[test]
fn only_a_ready_queue_pair_receives() {
    for (state, reason) in [
        (QpState::Invalid, DropReason::UnknownQp),
        (QpState::Init, DropReason::WrongState),
        (QpState::Error, DropReason::WrongState),
    ] {
        let mut lane = lane(0);
        write_qp(
            &mut lane,
            RC_QP,
            QpRow {
                state,
                ..context(QpMode::Rc, 0)
            },
        );
        assert_eq!(refused(&mut lane, &plain(QpMode::Rc), reason).ack, None);
    }
}

#[test]
fn the_opcode_family_must_fit_the_mode() {
    for (mode, other) in [(QpMode::Rc, MRC_QP), (QpMode::Mrc, RC_QP)] {
        let mut frame = plain(mode);
        frame.bth.dest_qp = other;
        frame.bth.pkey = 0x1234; // comes after the mode
        assert_eq!(
            refused(&mut lane(0), &frame, DropReason::WrongMode).ack,
            None
        );
    }
}

#[test]
fn partition_keys_match_unless_both_are_limited_members() {
    for (packet, local, good) in [
        (0xffff, 0xffff, true),
        (0x7fff, 0xffff, true),
        (0xffff, 0x7fff, true),
        (0x7fff, 0x7fff, false),
        (0x8001, 0xffff, false),
    ] {
        let mut lane = lane(0);
        write_qp(
            &mut lane,
            RC_QP,
            QpRow {
                pkey: local,
                ..context(QpMode::Rc, 0)
            },
        );
        let mut frame = plain(QpMode::Rc);
        frame.bth.pkey = packet;
        if good {
            accepted(&mut lane, &frame);
        } else {
            assert_eq!(refused(&mut lane, &frame, DropReason::BadPkey).ack, None);
        }
    }
}

#[test]
fn an_unknown_stale_or_invalid_key_is_refused() {
    let other_index = (MR_INDEX + 1) << 8 | u32::from(KEY);
    for rkey in [
        RKEY ^ 1,
        RKEY ^ 0x80,
        other_index,
        RKEY | 1 << 20,
        RKEY | 1 << 31,
    ] {
        both_refuse(
            |_| (),
            |mode| with_rkey(plain(mode), rkey),
            DropReason::BadKey,
        );
    }
    let invalid = MrRow {
        valid: false,
        ..region(PageSize::Size4K)
    };
    both_refuse(|lane| write_mr(lane, invalid), plain, DropReason::BadKey);
}

#[test]
fn a_region_of_another_protection_domain_is_refused() {
    // Every other reason against the region that comes later is there too.
    let foreign = MrRow {
        pd: PD ^ 0x8_0000,
        remote_write: false,
        length: 0,
        ..region(PageSize::Size4K)
    };
    both_refuse(|lane| write_mr(lane, foreign), plain, DropReason::WrongPd);
}

#[test]
fn region_and_queue_pair_must_both_allow_writes() {
    let read_only = MrRow {
        remote_write: false,
        length: 0,
        ..region(PageSize::Size4K)
    };
    both_refuse(
        |lane| write_mr(lane, read_only),
        plain,
        DropReason::NoWriteRight,
    );
    let forbid = |lane: &mut RxLane| {
        for mode in MODES {
            let denied = QpRow {
                remote_write: false,
                ..context(mode, 0)
            };
            write_qp(lane, qp_of(mode), denied);
        }
    };
    both_refuse(forbid, plain, DropReason::NoWriteRight);
}

#[test]
fn the_region_ends_where_it_ends() {
    let end = BASE_VA + REGION_LENGTH;
    for mode in MODES {
        accepted(&mut lane(0), &only(mode, 0, BASE_VA, 8));
        accepted(&mut lane(0), &only(mode, 0, end - 8, 8));
    }
    for va in [BASE_VA - 1, BASE_VA - 8, end - 7, end, 0, u64::MAX] {
        both_refuse(|_| (), |mode| only(mode, 0, va, 8), DropReason::OutOfBounds);
    }
}

#[test]
fn the_first_packet_of_a_message_answers_for_all_of_it() {
    let end = BASE_VA + REGION_LENGTH;
    let first = |opcode, dma_len| {
        let payload = pattern(1, MTU as usize);
        write_packet(opcode, 0, end - 2 * u64::from(MTU), dma_len, payload)
    };
    accepted(&mut lane(0), &first(Opcode::RcWriteFirst, 2 * MTU));
    let beyond = first(Opcode::RcWriteFirst, 2 * MTU + 1);
    access_error(&mut lane(0), &beyond, DropReason::OutOfBounds);
    accepted(&mut lane(0), &first(Opcode::MrcWriteFirst, 2 * MTU));
    let beyond = first(Opcode::MrcWriteFirst, 2 * MTU + 1);
    access_error(&mut lane(0), &beyond, DropReason::OutOfBounds);
}

/// The last packet comes with the length that a completion reports. A peer cannot claim bytes that it may not write.
#[test]
fn the_last_packet_of_an_mrc_message_answers_for_all_of_it() {
    let last = |packets: u64, va: u64| {
        let length = packets as u32 * MTU + 1;
        write_packet(Opcode::MrcWriteLastImm, 0, va, length, vec![7])
    };
    let whole = REGION_LENGTH / u64::from(MTU) - 1;
    let place = |packets: u64| BASE_VA + packets * u64::from(MTU);
    accepted(&mut lane(0), &last(1, place(1)));
    accepted(&mut lane(0), &last(whole, place(whole)));
    for before in [
        last(2, place(1)),
        last(whole, place(whole) - 1),
        last(1, BASE_VA),
    ] {
        access_error(&mut lane(0), &before, DropReason::OutOfBounds);
    }
}

#[test]
fn a_range_that_wraps_at_64_bits_is_out_of_bounds() {
    let low = MrRow {
        base_va: 0,
        length: (1 << 48) - 1,
        ..region(PageSize::Size4K)
    };
    both_refuse(
        |lane| write_mr(lane, low),
        |mode| only(mode, 0, u64::MAX - 3, 8),
        DropReason::OutOfBounds,
    );
    // A region that ends exactly at 2^64 can be written to its last byte, and no further.
    let top = MrRow {
        base_va: u64::MAX - 4095,
        length: 4096,
        ..region(PageSize::Size4K)
    };
    let (last, over) = (u64::MAX - 7, u64::MAX - 6);
    for mode in MODES {
        let mut lane = lane(0);
        write_mr(&mut lane, top);
        let outcome = accepted(&mut lane, &only(mode, 0, last, 8));
        assert_eq!(outcome.place.expect("payload").pieces.len(), 1);
    }
    both_refuse(
        |lane| write_mr(lane, top),
        |mode| only(mode, 0, over, 8),
        DropReason::OutOfBounds,
    );
}

#[test]
fn a_page_past_the_end_of_the_table_is_invalid() {
    let last = Tables::EMTT - 1;
    let at_the_end = |lane: &mut RxLane| {
        let region = MrRow {
            base_va: 0,
            first_emtt: last,
            on_demand: false,
            ..region(PageSize::Size4K)
        };
        write_mr(lane, region);
        // Were the index to wrap, these two pages would take the payload.
        for index in [last, 0] {
            write_emtt(lane, index, page(PageSize::Size4K, index.into()));
        }
    };
    for mode in MODES {
        let mut lane = lane(0);
        at_the_end(&mut lane);
        accepted(&mut lane, &only(mode, 0, 4088, 8));
    }
    both_refuse(
        at_the_end,
        |mode| only(mode, 0, 4092, 8),
        DropReason::InvalidPage,
    );
}

#[test]
fn a_region_that_runs_past_the_last_address_goes_on_with_its_next_page() {
    let over_the_top = MrRow {
        base_va: u64::MAX - 4095,
        length: 8192,
        ..region(PageSize::Size4K)
    };
    for mode in MODES {
        let mut lane = lane(0);
        write_mr(&mut lane, over_the_top);
        let outcome = accepted(&mut lane, &only(mode, 0, u64::MAX - 3, 8));
        let pieces = outcome.place.expect("payload").pieces;
        let addresses: Vec<u64> = pieces.iter().map(|piece| piece.address).collect();
        let frame = |n| page(PageSize::Size4K, n).frame << 12;
        assert_eq!(addresses, [frame(0) + 4092, frame(1)]);
    }
}

#[test]
fn a_refused_message_does_not_count_as_completed() {
    let mut lane = lane(0);
    for psn in 0..2 {
        accepted(&mut lane, &only(QpMode::Rc, psn, BASE_VA, 8));
    }
    let frame = with_rkey(only(QpMode::Rc, 2, BASE_VA, 8), RKEY ^ 1);
    let answer = refused(&mut lane, &frame, DropReason::BadKey).ack;
    let wanted = AckBody::Nak {
        psn: Psn::new(2),
        msn: 2,
        code: NakCode::RemoteAccessError,
    };
    assert_eq!(answer.expect("a NAK").body, wanted);
}

#[test]
fn a_page_counts_only_if_a_byte_lies_in_it() {
    // The second page of the region is gone.
    let second_page = BASE_VA.next_multiple_of(4096);
    let unmap = |lane: &mut RxLane| {
        let entry = EmttRow {
            valid: false,
            ..page(PageSize::Size4K, 1)
        };
        write_emtt(lane, FIRST_EMTT + 1, entry);
    };
    for (va, good) in [
        (second_page - 8, true),
        (second_page - 7, false),
        (second_page - 1, false),
        (second_page, false),
        (second_page + 4096 - 1, false),
        (second_page + 4096, true),
    ] {
        if !good {
            both_refuse(unmap, |mode| only(mode, 0, va, 8), DropReason::InvalidPage);
            continue;
        }
        for mode in MODES {
            let mut lane = lane(0);
            unmap(&mut lane);
            accepted(&mut lane, &only(mode, 0, va, 8));
        }
    }
}

#[test]
fn a_write_of_nothing_needs_no_valid_key_and_places_nothing() {
    for mode in MODES {
        let mut lane = lane(0);
        let frame = with_rkey(only(mode, 0, u64::MAX, 0), u32::MAX);
        let outcome = accepted(&mut lane, &frame);
        assert_eq!((outcome.place, outcome.tlps), (None, Vec::new()));
        assert!(outcome.ack.is_some());
    }
}

#[test]
fn an_error_of_one_queue_pair_leaves_the_other_alone() {
    let mut lane = lane(0);
    access_error(
        &mut lane,
        &with_rkey(plain(QpMode::Rc), 0),
        DropReason::BadKey,
    );
    accepted(&mut lane, &plain(QpMode::Mrc));
    write_qp(&mut lane, RC_QP, context(QpMode::Rc, 0));
    accepted(&mut lane, &plain(QpMode::Rc));
}

#[test]
fn everything_is_counted_by_reason() {
    let mut lane = lane(0);
    lane.receive(&[0; 3]);
    lane.receive_from_mac(&[0; 3], true);
    accepted(&mut lane, &plain(QpMode::Mrc));
    refused(&mut lane, &plain(QpMode::Mrc), DropReason::Duplicate);
    access_error(
        &mut lane,
        &with_rkey(plain(QpMode::Rc), 0),
        DropReason::BadKey,
    );
    let counters = lane.counters();
    for reason in DropReason::ALL {
        let expected = match reason {
            DropReason::BadLength | DropReason::MacError | DropReason::None => 1,
            DropReason::Duplicate | DropReason::BadKey | DropReason::WrongState => 1,
            _ => 0,
        };
        assert_eq!(counters.reason(reason), expected, "{reason}");
    }
    assert_eq!(
        (counters.frames, counters.bytes_placed, counters.tlps),
        (6, 8, 1)
    );
    let acks: Vec<_> = AckKind::ALL.map(|kind| counters.ack_kind(kind)).to_vec();
    assert_eq!(acks, [0, 1, 2, 0], "ACK, NAK, SACK, NACK");
}

#[test]
fn a_page_of_an_on_demand_region_that_is_not_there_is_a_loss_over_mrc_and_an_error_over_rc() {
    let on_demand = MrRow {
        on_demand: true,
        ..region(PageSize::Size4K)
    };
    let second_page = BASE_VA.next_multiple_of(4096);
    let at_the_border = |mode, psn| only(mode, psn, second_page - 4, 8);
    let absent = |lane: &mut RxLane| {
        write_mr(lane, on_demand);
        write_emtt(lane, FIRST_EMTT + 1, EmttRow::default());
    };

    let mut lane = lane(0);
    absent(&mut lane);
    for _ in 0..2 {
        let lost = refused(
            &mut lane,
            &at_the_border(QpMode::Mrc, 0),
            DropReason::PageAbsent,
        );
        assert_eq!(lost.ack, None);
    }
    accepted(&mut lane, &only(QpMode::Mrc, 1, second_page - 8, 8));
    write_emtt(&mut lane, FIRST_EMTT + 1, page(PageSize::Size4K, 1));
    let come_again = accepted(&mut lane, &at_the_border(QpMode::Mrc, 0));
    match come_again.ack.expect("a SACK").body {
        AckBody::Sack { cack_psn, .. } => assert_eq!(cack_psn, Psn::new(1)),
        body => panic!("{body:?}"),
    }

    absent(&mut lane);
    access_error(
        &mut lane,
        &at_the_border(QpMode::Rc, 0),
        DropReason::PageAbsent,
    );
}
