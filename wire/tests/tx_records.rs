//! Records of the transmit lane and frames: there and back, and every frame the lane cannot send.

use proptest::prelude::*;
use rust_hdl::prelude::*;
use stellar_wire::hw::tx::{can_send, opcodes_with, TxPacket};
use stellar_wire::hw::tx_frame::TxFrameError;
use stellar_wire::mtu::MAX_PAYLOAD;
use stellar_wire::*;

use crate::support::{self, frame::frame as any_frame};

/// The frame with every field the lane sets itself set so.
fn sendable(mut frame: RoceFrame) -> RoceFrame {
    frame.udp.checksum = 0;
    frame.bth.tver = 0;
    frame.bth.resv6 = 0;
    frame.bth.resv7 = 0;
    if !frame.bth.opcode.is_mrc() {
        frame.bth.tseth_present = false;
    }
    if let Ip::V4(ip) = &mut frame.ip {
        ip.reserved_flag = false;
        ip.dont_fragment = true;
        ip.more_fragments = false;
        ip.fragment_offset = 0;
    }
    frame.payload.truncate(MAX_PAYLOAD);
    frame
}

#[test]
fn frame_to_record_to_frame() {
    support::runner(1000)
        .run(&any_frame().prop_map(sendable), |frame| {
            let record = TxPacket::from_frame(&frame);
            if !can_send(frame.bth.opcode) {
                let opcode = frame.bth.opcode.name();
                prop_assert_eq!(record, Err(TxFrameError::UnsupportedOpcode { opcode }));
                return Ok(());
            }
            let back = record
                .and_then(|record| record.to_frame(frame.payload.clone()))
                .map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(back.emit().expect("frame"), frame.emit().expect("frame"));
            Ok(())
        })
        .expect("frames survive the way through a record");
}

#[test]
fn opcodes_by_extension_header_are_those_of_the_opcode_table() {
    let codes = |kind| opcodes_with(kind).collect::<Vec<_>>();
    assert_eq!(codes(ExtKind::Seth), [Opcode::MrcSack.code()]);
    assert_eq!(codes(ExtKind::Tseth), (0xc6..=0xcb).collect::<Vec<u8>>());
    assert_eq!(codes(ExtKind::Meth), codes(ExtKind::Tseth));
    assert!(codes(ExtKind::Deth).is_empty());
    let unsent: Vec<_> = Opcode::ALL
        .iter()
        .filter(|&&opcode| !can_send(opcode))
        .collect();
    assert_eq!(
        unsent,
        [
            &Opcode::RcAtomicAck,
            &Opcode::RcCompareSwap,
            &Opcode::RcFetchAdd,
            &Opcode::RcSendLastInvalidate,
            &Opcode::RcSendOnlyInvalidate,
            &Opcode::UdSendOnly,
            &Opcode::UdSendOnlyImm,
        ]
    );
}

fn refusal(change: impl FnOnce(&mut RoceFrame)) -> TxFrameError {
    let mut frame = RoceFrame::default();
    TxPacket::from_frame(&frame).expect("an unchanged frame has a record");
    change(&mut frame);
    TxPacket::from_frame(&frame).expect_err("the lane cannot send this")
}

#[test]
fn a_frame_the_lane_cannot_send_says_why() {
    let fixed = |field, value, sent| TxFrameError::FixedField { field, value, sent };
    assert_eq!(
        refusal(|f| f.udp.checksum = 0x12),
        fixed("UDP checksum", 0x12, 0)
    );
    assert_eq!(
        refusal(|f| f.bth.tver = 1),
        fixed("BTH transport version", 1, 0)
    );
    assert_eq!(
        refusal(|f| f.bth.resv6 = 2),
        fixed("BTH reserved bits of byte 4", 2, 0)
    );
    assert_eq!(
        refusal(|f| f.bth.resv7 = 4),
        fixed("BTH reserved bits of byte 8", 4, 0)
    );
    assert_eq!(
        refusal(|f| f.bth.tseth_present = true),
        fixed("BTH TSETH bit outside MRC", 1, 0)
    );
    let ipv4 = |change: fn(&mut Ipv4)| {
        refusal(move |f| {
            let mut ip = Ipv4::default();
            change(&mut ip);
            f.ip = Ip::V4(ip);
        })
    };
    assert_eq!(
        ipv4(|ip| ip.dont_fragment = false),
        fixed("IPv4 do-not-fragment flag", 0, 1)
    );
    assert_eq!(
        ipv4(|ip| ip.reserved_flag = true),
        fixed("IPv4 reserved flag", 1, 0)
    );
    assert_eq!(
        ipv4(|ip| ip.more_fragments = true),
        fixed("IPv4 more-fragments flag", 1, 0)
    );
    assert_eq!(
        ipv4(|ip| ip.fragment_offset = 3),
        fixed("IPv4 fragment offset", 3, 0)
    );
    assert_eq!(
        refusal(|f| f.payload = vec![0; MAX_PAYLOAD + 1]),
        TxFrameError::PayloadTooLong(MAX_PAYLOAD + 1)
    );
    let error = refusal(|f| f.ext.imm = Some(ImmDt(1)));
    assert!(
        matches!(
            error,
            TxFrameError::Extensions(WireError::ExtMismatch { .. })
        ),
        "{error}"
    );
}

#[test]
fn a_record_without_a_frame_says_why() {
    let record = TxPacket::from_frame(&RoceFrame::default()).expect("a record");
    assert_eq!(
        record.to_frame(vec![0]),
        Err(TxFrameError::PayloadLength {
            expected: 0,
            found: 1
        })
    );
    let opcode = |code: u64| {
        let mut other = record;
        other.bth.opcode = code.to_bits();
        other
    };
    assert_eq!(
        opcode(0xff).to_frame(vec![]),
        Err(TxFrameError::UnknownOpcode(0xff))
    );
    assert_eq!(
        opcode(0x14).to_frame(vec![]),
        Err(TxFrameError::UnsupportedOpcode {
            opcode: "RcFetchAdd"
        })
    );
    let mut hint = opcode(0xdc);
    hint.extensions.seth.path_hint = 3u64.to_bits();
    assert_eq!(hint.to_frame(vec![]), Err(TxFrameError::PathHint(3)));
    let mut long = record;
    long.payload_length = (MAX_PAYLOAD as u64 + 1).to_bits();
    assert_eq!(
        long.to_frame(vec![0; MAX_PAYLOAD + 1]),
        Err(TxFrameError::PayloadTooLong(MAX_PAYLOAD + 1))
    );
}

#[test]
#[should_panic(expected = "value 0x1000000 does not fit 24 bits")]
fn a_value_too_large_for_its_field_is_not_cut() {
    let mut frame = RoceFrame::default();
    frame.bth.psn = 1 << 24;
    let _ = TxPacket::from_frame(&frame);
}
