//! The reference's values arrive in the hardware records, bit for bit where a field is.

use stellar_transport::rx::{classify_frame, pieces_to_hw, DropReason, PageSize, QpMode, RxConfig};
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::{ack, core, dma, frame, tables};
use stellar_wire::Opcode;

use crate::common::{
    self, accepted, lane, only, page, region, write_packet, BASE_VA, MRC_QP, RKEY,
};

#[test]
fn every_reason_has_the_hardwares_index_and_name() {
    for (index, reason) in DropReason::ALL.into_iter().enumerate() {
        assert_eq!(usize::from(reason.index()), index);
        let record = frame::PacketHeaders {
            reason,
            ..Default::default()
        };
        let words = to_words(record);
        let record = Record::<frame::PacketHeaders>::new(&words);
        assert_eq!(record.u64("reason"), u64::from(reason.index()));
        assert_eq!(record.variant("reason"), format!("DropReason::{reason}"));
    }
}

#[test]
fn table_entries_pack_into_their_fields() {
    let entry = region(PageSize::Size2M);
    let words = to_words(entry.to_hw());
    let record = Record::<tables::MrEntry>::new(&words);
    assert_eq!(record.u64("base_va"), BASE_VA);
    assert_eq!(record.u64("length"), entry.length);
    assert_eq!(record.u64("first_emtt"), u64::from(entry.first_emtt));
    assert_eq!(record.variant("page_size"), "PageSize::Size2M");

    let words = to_words(page(PageSize::Size4K, 1).to_hw());
    let record = Record::<tables::EmttEntry>::new(&words);
    assert_eq!(record.variant("owner"), "Owner::Gpu");
    assert_eq!(record.u64("frame"), page(PageSize::Size4K, 1).frame);

    let words = to_words(common::context(QpMode::Mrc, 0xabcdef).to_hw());
    let record = Record::<tables::QpContext>::new(&words);
    assert_eq!(record.variant("state"), "QpState::Ready");
    assert_eq!(record.u64("initial_psn"), 0xabcdef);
}

#[test]
fn a_packet_arrives_in_headers_pieces_tlps_and_acknowledgement() {
    let va = BASE_VA.next_multiple_of(4096) - 30;
    let frame = write_packet(Opcode::MrcWriteOnlyImm, 0x80_0001, va, 100, vec![0xee; 100]);
    let bytes = frame.emit().expect("frame");
    let headers = classify_frame(&bytes, false, &RxConfig::default()).headers;
    let words = to_words(headers.expect("a good frame").to_hw());
    let record = Record::<frame::PacketHeaders>::new(&words);
    assert_eq!(
        (record.u64("va"), record.u64("rkey")),
        (va, u64::from(RKEY))
    );
    assert!(record.bool("mrc") && record.bool("has_immediate") && !record.bool("has_timestamp"));
    assert_eq!(record.variant("position"), "Position::Only");

    let outcome = accepted(&mut lane(0x80_0001), &frame);
    let words = to_words(pieces_to_hw(&outcome.place.expect("payload").pieces));
    let record = Record::<core::DmaSegments>::new(&words);
    assert_eq!(record.u64("first_length"), 30);
    assert!(!record.bool("first_translated") && record.bool("second_translated"));

    let words = to_words(outcome.tlps[0].to_hw());
    let record = Record::<dma::WriteTlpHeader>::new(&words);
    assert_eq!(record.u64("address_dw") << 2, outcome.tlps[0].address);
    assert_eq!(
        (record.u64("length_dw"), record.u64("first_be")),
        (8, 0b1100)
    );

    let words = to_words(outcome.ack.expect("a SACK").to_hw());
    let record = Record::<ack::AckRequest>::new(&words);
    assert_eq!(record.variant("kind"), "AckKind::Sack");
    assert_eq!(
        (record.u64("qp"), record.u64("bitmap")),
        (u64::from(MRC_QP), 0b11)
    );
    assert_eq!(record.u64("cack_psn"), 0x80_0001);
}

#[test]
fn an_rc_acknowledgement_has_syndrome_and_message_number() {
    let outcome = accepted(&mut lane(3), &only(QpMode::Rc, 3, BASE_VA, 8));
    let words = to_words(outcome.ack.expect("an ACK").to_hw());
    let record = Record::<ack::AckRequest>::new(&words);
    assert_eq!(record.variant("kind"), "AckKind::Ack");
    assert_eq!(
        (record.u64("psn"), record.u64("msn"), record.u64("syndrome")),
        (3, 1, 0x1f)
    );
}
