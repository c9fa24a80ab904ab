//! iCRC and frame codec against frames whose iCRC is known: captured on ConnectX hardware, or computed by
//! independent code.

use stellar_wire::{frame, icrc, Opcode, RoceFrame, WireError};

/// Ethernet header length: none of these frames has a VLAN tag.
const ETHERNET: usize = 14;

const CNP_V4: &str = "e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a001201000012b7002800008100ffff40000118000000000000000000000000000000000000000082fd002a";
const UC_SEND_V4: &str = "248a07a8fa22248a07a8fa22080045010040047840004011b4d5c0a80007c0a80007c00012b7002caca22460ffff000000d300cf17104630818be28935d90e9a95505401be885e50000078f353f3";
const UC_SEND_V6: &str = "248a07a8fa22248a07a8fa2286dd6e21face002c11ff2022000000000000000000000000102320230000000000000000000000001024c00012b7002ce7c52460ffff000000d300cf17104630818be28935d90e9a95505401be885e5000003e5b743b";
const V1_RC_WRITE: &str = "7cfe90753cd87cfe90753cd889156020000000281b4000000000000000000000ffff0f00000200000000000000000000ffff0f0000020a70ffff0000010a80a788bc000055d4c0726000000047b3000000050000000001000000e3d856bb";
const V1_RC_ACK: &str = "7cfe90753cd87cfe90753cd889156020000000141b4000000000000000000000ffff0f00000200000000000000000000ffff0f0000021140ffff0000010900a788c00000000525f0c038";
const RC_WRITE_V4: &str = "02112233445502aabbccddee08004502007c12344000401114390a0000010a000002c12312b7006800000a40ffff0012345680abcdef00007f1234560000deadbeef00000040000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f634e740f";

fn bytes(hex: &str) -> Vec<u8> {
    hex::decode(hex).expect("vector is hex")
}

#[test]
fn icrc_of_every_known_frame_matches() {
    for (name, hex, transmitted) in [
        ("CNP over IPv4", CNP_V4, 0x82fd_002a),
        ("UC SEND over IPv4", UC_SEND_V4, 0x78f3_53f3),
        ("UC SEND over IPv6", UC_SEND_V6, 0x3e5b_743b),
        ("RoCE v1 RC WRITE", V1_RC_WRITE, 0xe3d8_56bb),
        ("RoCE v1 RC ACK", V1_RC_ACK, 0x25f0_c038_u32),
        ("RC WRITE over IPv4", RC_WRITE_V4, 0x634e_740f),
    ] {
        let frame = bytes(hex);
        let packet = &frame[ETHERNET..];
        icrc::verify(packet).unwrap_or_else(|error| panic!("{name}: {error}"));
        let computed = icrc::compute(&packet[..packet.len() - icrc::LEN]).expect(name);
        assert_eq!(computed.to_le_bytes(), transmitted.to_be_bytes(), "{name}");
    }
}

#[test]
fn icrc_published_on_the_web_for_a_cnp_is_refused() {
    // 0xe42dad81 circulates as the iCRC of the first vector; it does not follow from the algorithm.
    let mut frame = bytes(CNP_V4);
    let end = frame.len();
    frame[end - 4..].copy_from_slice(&[0xe4, 0x2d, 0xad, 0x81]);
    assert!(matches!(
        icrc::verify(&frame[ETHERNET..]),
        Err(WireError::Icrc { .. })
    ));
}

#[test]
fn rocev2_frames_parse_and_re_emit_byte_for_byte() {
    for (hex, opcode) in [
        (CNP_V4, Opcode::Cnp),
        (UC_SEND_V4, Opcode::UcSendOnly),
        (UC_SEND_V6, Opcode::UcSendOnly),
        (RC_WRITE_V4, Opcode::RcWriteOnly),
    ] {
        let frame = bytes(hex);
        let parsed = RoceFrame::parse(&frame).expect("known-good frame");
        assert_eq!(parsed.bth.opcode, opcode);
        assert_eq!(hex::encode(parsed.emit().expect("parsed frame")), hex);
    }
}

#[test]
fn fields_of_the_generated_write_are_the_documented_ones() {
    let frame = RoceFrame::parse(&bytes(RC_WRITE_V4)).expect("known-good frame");
    let reth = frame.ext.reth.expect("WRITE Only has a RETH");
    assert_eq!(
        (frame.bth.dest_qp, frame.bth.psn, frame.bth.ack_req),
        (0x12_3456, 0xab_cdef, true)
    );
    assert_eq!(
        (reth.va, reth.rkey, reth.dma_len),
        (0x7f12_3456_0000, 0xdead_beef, 64)
    );
    assert_eq!(frame.payload, (0..64).collect::<Vec<u8>>());
}

#[test]
fn crc_register_constants_hold() {
    let register = |bytes: &[u8]| !crc32fast::hash(bytes);
    assert_eq!(register(&[0xff; 8]), icrc::REGISTER_AFTER_LRH);
    let masked = bytes(
        "ffffffffffffffff45ff004004784000ff11ffffc0a80007c0a80007c00012b7002cffff2460ffffff0000d300cf1710\
         4630818be28935d90e9a95505401be885e50000078f353f3",
    );
    assert_eq!(register(&masked), icrc::REGISTER_RESIDUE);
}

#[test]
fn every_bit_outside_the_masked_fields_is_covered() {
    let frame = bytes(UC_SEND_V6);
    let packet = &frame[ETHERNET..];
    let masked = |at: usize, bit: u8| match at {
        0 => bit < 4,                     // traffic class, upper half
        1..=3 | 7 | 46 | 47 | 52 => true, // traffic class, flow label; hop limit; UDP checksum; BTH byte 4
        _ => false,
    };
    for at in 0..packet.len() {
        for bit in 0..8 {
            let mut changed = packet.to_vec();
            changed[at] ^= 1 << bit;
            let accepted = icrc::verify(&changed).is_ok();
            assert_eq!(accepted, masked(at, bit), "byte {at} bit {bit}");
        }
    }
}

#[test]
fn resealed_frame_reaches_the_check_behind_the_icrc() {
    let mut frame = bytes(RC_WRITE_V4);
    let opcode_at = ETHERNET + 20 + 8;
    frame[opcode_at] = 0x3f;
    assert!(matches!(
        RoceFrame::parse(&frame),
        Err(WireError::Icrc { .. })
    ));
    frame::reseal(&mut frame).expect("still a RoCE packet");
    assert_eq!(
        RoceFrame::parse(&frame),
        Err(WireError::UnknownOpcode(0x3f))
    );
}
