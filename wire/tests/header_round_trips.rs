//! Every header: struct to bytes to struct, bytes to struct to bytes, and refusal of every shorter input.

use std::fmt::Debug;

use proptest::prelude::*;
use stellar_wire::aeth::rnr_wait;
use stellar_wire::ipv4::header_checksum;
use stellar_wire::mrc::{NackReason, PathHint};
use stellar_wire::*;

use crate::support;

/// Checks a header both ways. `defined` masks the bits that have a meaning: the others must be ignored by `parse`
/// and zero after `emit`. `make_valid` turns random bytes into some the header accepts.
fn round_trips<H: Header + PartialEq + Debug>(
    values: impl Strategy<Value = H>,
    defined: &str,
    make_valid: fn(&mut [u8]),
) {
    let defined = hex::decode(defined).expect("mask is hex");
    assert_eq!(defined.len(), H::LEN, "{}: mask length", H::NAME);
    let mut runner = support::runner(256);
    runner
        .run(&(values, any::<[u8; 3]>()), |(value, trailer)| {
            let mut bytes = value.to_bytes();
            prop_assert_eq!(bytes.len(), H::LEN);
            bytes.extend_from_slice(&trailer);
            prop_assert_eq!(H::parse(&bytes), Ok((value, &trailer[..])));
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{}: {error}", H::NAME));
    runner
        .run(&prop::collection::vec(any::<u8>(), H::LEN), |mut bytes| {
            make_valid(&mut bytes);
            let (value, rest) =
                H::parse(&bytes).map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert!(rest.is_empty());
            let expected: Vec<u8> = bytes
                .iter()
                .zip(&defined)
                .map(|(byte, mask)| byte & mask)
                .collect();
            prop_assert_eq!(value.to_bytes(), expected);
            for have in 0..H::LEN {
                let truncated = WireError::Truncated {
                    header: H::NAME,
                    need: H::LEN,
                    have,
                };
                prop_assert_eq!(H::parse(&bytes[..have]), Err(truncated));
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{}: {error}", H::NAME));
}

fn as_is(_: &mut [u8]) {}

/// A mask of `len` bytes, all defined.
fn all(len: usize) -> String {
    "ff".repeat(len)
}

#[test]
fn ethernet_and_vlan() {
    round_trips(support::ethernet(), &all(14), as_is);
    round_trips(support::vlan(), &all(4), as_is);
}

#[test]
fn ipv4() {
    round_trips(support::ipv4(), &all(20), |bytes| {
        bytes[0] = 0x45;
        let checksum = header_checksum(bytes.first_chunk().expect("20 bytes"));
        bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
    });
}

#[test]
fn ipv6() {
    round_trips(support::ipv6(), &all(40), |bytes| {
        bytes[0] = 0x60 | bytes[0] & 0x0f
    });
}

#[test]
fn udp() {
    round_trips(support::udp(), &all(8), as_is);
}

#[test]
fn bth() {
    round_trips(support::bth(), &all(12), |bytes| {
        bytes[0] = Opcode::ALL[usize::from(bytes[0]) % Opcode::ALL.len()].code();
    });
}

#[test]
fn infiniband_extension_headers() {
    round_trips(support::reth(), &all(16), as_is);
    round_trips(support::aeth(), &all(4), as_is);
    round_trips(support::imm(), &all(4), as_is);
    round_trips(support::ieth(), &all(4), as_is);
    round_trips(support::atomic(), &all(28), as_is);
    round_trips(support::atomic_ack(), &all(8), as_is);
    round_trips(support::deth(), "ffffffff00ffffff", as_is);
}

#[test]
fn mrc_extension_headers() {
    round_trips(support::meth(), &all(4), as_is);
    round_trips(support::tseth(), "ffff800f", as_is);
    let seth = "0062ffffffffffffffffffff00ffffffffffffffffffffffffffffff";
    round_trips(support::seth(), seth, |bytes| {
        if bytes[1] & 0x60 == 0x60 {
            bytes[1] ^= 0x20; // M = 3 is undefined
        }
    });
    round_trips(support::cc_state(), "ffff7fffffffffff", as_is);
    round_trips(
        support::neth(),
        "0000ffffffffffffffffffff00ffffffff00ffff",
        as_is,
    );
    round_trips(support::peth(), "000000ffffff0000ffffffffffff800f", as_is);
}

#[test]
fn mrc_fields_lie_where_the_specification_puts_them() {
    let seth = mrc::Seth {
        path_hint: PathHint::SkipOnce,
        probe_response: true,
        ack_psn_offset: -2,
        entropy: mrc::Entropy(0x0102_0304),
        src_context: 0x0506,
        dst_context: 0x0708,
        cack_psn: 0x09_0a0b,
        congestion: mrc::CongestionTag {
            cc_type: 0xc,
            cc_flags: 0xd,
        },
        mpr: 0x0e,
        sack_offset: 1,
        bitmap: 0x8000_0000_0000_0001,
    };
    assert_eq!(
        hex::encode(seth.to_bytes()),
        "0022fffe010203040506070800090a0bcd0e00018000000000000001"
    );
    let cc_state = mrc::CcState {
        tx_timestamp: 0x0102,
        ooo_count: 0x0304,
        restore_cwnd: true,
        rcv_cwnd_pen: 0x05,
        rcvd_bytes: 0x06_0708,
    };
    assert_eq!(hex::encode(cc_state.to_bytes()), "0102030485060708");
    let peth = mrc::Peth {
        vendor_info: 0x01,
        probe_id: 0x0203,
        src_context: 0x0405,
        dst_context: 0x0607,
        timestamp: mrc::Tseth {
            tx_timestamp: 0x0809,
            own_resolution: true,
            format: 0x0a,
        },
    };
    assert_eq!(
        hex::encode(peth.to_bytes()),
        "0000000102030000040506070809800a"
    );
    let neth = mrc::Neth {
        reason: NackReason::UnexpectedEvent,
        vendor_info: 0x11,
        entropy: mrc::Entropy(0x0102_0304),
        src_context: 0x0506,
        dst_context: 0x0708,
        nack_psn: 0x09_0a0b,
        congestion: mrc::CongestionTag {
            cc_type: 0xc,
            cc_flags: 0xd,
        },
        tx_timestamp: 0x1213,
    };
    assert_eq!(
        hex::encode(neth.to_bytes()),
        "00001911010203040506070800090a0bcd001213"
    );
}

#[test]
fn syndromes_have_their_published_values() {
    for (syndrome, byte) in [
        (
            Syndrome::Ack {
                credits: Syndrome::UNLIMITED_CREDITS,
            },
            0x1f,
        ),
        (Syndrome::RnrNak { timer: 0x0c }, 0x2c),
        (Syndrome::Nak(NakCode::PsnSequenceError), 0x60),
        (Syndrome::Nak(NakCode::InvalidRequest), 0x61),
        (Syndrome::Nak(NakCode::RemoteAccessError), 0x62),
        (Syndrome::Nak(NakCode::RemoteOperationalError), 0x63),
        (Syndrome::Reserved(0x7f), 0x7f),
        (Syndrome::Reserved(0x40), 0x40),
    ] {
        assert_eq!(syndrome.to_byte(), byte);
        assert_eq!(Syndrome::from_byte(byte), syndrome);
    }
}

/// The table of RNR NAK timer codes of the InfiniBand architecture, volume 1.
#[test]
fn an_rnr_nak_names_the_published_times() {
    let hundredths_of_ms = [
        65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
        1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
    ];
    for (timer, time) in (0..).zip(hundredths_of_ms) {
        assert_eq!(rnr_wait(timer).as_ns(), time * 10_000, "code {timer}");
    }
}

#[test]
fn headers_refuse_values_they_do_not_define() {
    let mut seth = mrc::Seth::default().to_bytes();
    seth[1] = 0x60;
    assert_eq!(
        mrc::Seth::parse(&seth),
        Err(WireError::BadField {
            field: "SETH.M",
            value: 3
        })
    );
    let mut bth = Bth::default().to_bytes();
    bth[0] = 0x15;
    assert_eq!(Bth::parse(&bth), Err(WireError::UnknownOpcode(0x15)));
    let mut ip = Ipv4::default().to_bytes();
    ip[0] = 0x46;
    assert_eq!(Ipv4::parse(&ip), Err(WireError::Ipv4Options { ihl: 6 }));
    ip[0] = 0x65;
    assert_eq!(
        Ipv4::parse(&ip),
        Err(WireError::IpVersion {
            expected: 4,
            found: 6
        })
    );
    assert_eq!(
        Ipv6::parse(&[0x40; 40]),
        Err(WireError::IpVersion {
            expected: 6,
            found: 4
        })
    );
}

#[test]
fn both_zeros_of_the_ipv4_checksum_are_accepted() {
    // Identification chosen so that the other words sum to 0xffff and the checksum comes out as zero.
    let sum_without_id = !u16::from_be_bytes(
        Ipv4::default().to_bytes()[10..12]
            .try_into()
            .expect("two bytes"),
    );
    let mut bytes = Ipv4 {
        id: 0xffff - sum_without_id,
        ..Ipv4::default()
    }
    .to_bytes();
    assert_eq!(bytes[10..12], [0, 0]);
    assert!(Ipv4::parse(&bytes).is_ok());
    bytes[10..12].fill(0xff);
    assert!(Ipv4::parse(&bytes).is_ok());
}

#[test]
#[should_panic(expected = "BTH.psn: value 0x1000000 does not fit 24 bits")]
fn value_too_wide_for_its_field_is_not_cut_down() {
    Bth {
        psn: 1 << 24,
        ..Bth::default()
    }
    .to_bytes();
}

#[test]
fn opcode_properties_agree_with_their_names() {
    for &opcode in Opcode::ALL {
        let name = opcode.name();
        assert_eq!(Opcode::from_code(opcode.code()), Some(opcode));
        assert_eq!(opcode.is_write(), name.contains("Write"), "{name}");
        assert_eq!(opcode.is_send(), name.contains("Send"), "{name}");
        assert_eq!(opcode.has_imm(), name.contains("Imm"), "{name}");
        assert_eq!(opcode.is_mrc(), name.starts_with("Mrc"), "{name}");
        assert_eq!(
            opcode.is_read_response(),
            name.contains("ReadResponse"),
            "{name}"
        );
        let position = [
            ("First", Position::First),
            ("Middle", Position::Middle),
            ("Last", Position::Last),
            ("Only", Position::Only),
        ];
        let expected = position
            .iter()
            .find(|(word, _)| name.contains(word))
            .map(|&(_, position)| position);
        assert_eq!(opcode.position(), expected, "{name}");
        let transport = match opcode.transport() {
            Transport::Rc => "Rc",
            Transport::Uc => "Uc",
            Transport::Ud => "Ud",
            Transport::Cnp => "Cnp",
            Transport::Mrc => "Mrc",
        };
        assert!(name.starts_with(transport), "{name}");
    }
}
