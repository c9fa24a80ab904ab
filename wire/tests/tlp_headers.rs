//! TLP headers: round trips and layout.

use proptest::prelude::*;
use stellar_wire::pcie::*;
use stellar_wire::WireError;

use crate::pcie_support::{self, tlp};

fn dw0(request: &MemRequest) -> u32 {
    let mut bytes = Vec::new();
    request.emit(&mut bytes);
    u32::from_be_bytes(bytes[..4].try_into().expect("four bytes"))
}

fn request(op: MemOp, bytes: usize, address_type: AddressType) -> MemRequest {
    MemRequest::new(
        op,
        DwSpan::new(0x12_0000_0000, bytes).expect("inside 4 KiB"),
        address_type,
        0x0100,
    )
}

#[test]
fn first_double_words_match_the_reference() {
    use AddressType::*;
    assert_eq!(dw0(&request(MemOp::Write, 256, Untranslated)), 0x6000_0040);
    assert_eq!(dw0(&request(MemOp::Write, 256, Translated)), 0x6000_0840);
    assert_eq!(dw0(&request(MemOp::Read, 256, Translated)), 0x2000_0840);
    assert_eq!(
        dw0(&request(MemOp::Read, 8, TranslationRequest)),
        0x2000_0402
    );
}

#[test]
fn length_tag_and_attributes_lie_where_the_specification_puts_them() {
    let plain = request(MemOp::Read, 4096, AddressType::Untranslated);
    assert_eq!(dw0(&plain), 0x2000_0000, "1024 double words are coded as 0");
    let with = |change: fn(&mut MemRequest)| {
        let mut request = plain;
        change(&mut request);
        dw0(&request) ^ dw0(&plain)
    };
    assert_eq!(with(|r| r.tag = 0x200), 1 << 23);
    assert_eq!(with(|r| r.tag = 0x100), 1 << 19);
    assert_eq!(with(|r| r.traffic_class = 7), 7 << 20);
    assert_eq!(with(|r| r.attributes.id_based_ordering = true), 1 << 18);
    assert_eq!(with(|r| r.lightweight_notification = true), 1 << 17);
    assert_eq!(with(|r| r.processing_hints = true), 1 << 16);
    assert_eq!(with(|r| r.digest = true), 1 << 15);
    assert_eq!(with(|r| r.poisoned = true), 1 << 14);
    assert_eq!(with(|r| r.attributes.relaxed_ordering = true), 1 << 13);
    assert_eq!(with(|r| r.attributes.no_snoop = true), 1 << 12);
}

#[test]
fn whole_headers_have_the_documented_bytes() {
    let mut bytes = Vec::new();
    let span = DwSpan::new(0x1_2345_6789, 10).expect("inside 4 KiB");
    let mut write = MemRequest::new(MemOp::Write, span, AddressType::Translated, 0xabcd);
    (write.tag, write.processing_hint) = (0x3ef, 2);
    write.emit(&mut bytes);
    assert_eq!(hex::encode(&bytes), "60880803abcdef7e000000012345678a");
    bytes.clear();
    MemRequest {
        address: 0x2345_6788,
        ..write
    }
    .emit(&mut bytes);
    assert_eq!(hex::encode(&bytes), "40880803abcdef7e2345678a");
    bytes.clear();
    Completion {
        length_dw: 16,
        completer: 0x0200,
        status: CompletionStatus::Successful,
        byte_count_modified: false,
        byte_count: 4096,
        requester: 0xabcd,
        tag: 0x3ef,
        lower_address: 0x40,
        traffic_class: 0,
        attributes: Attributes::default(),
        digest: false,
        poisoned: false,
    }
    .emit(&mut bytes);
    assert_eq!(hex::encode(&bytes), "4a88001002000000abcdef40");
}

#[test]
fn memory_requests_round_trip() {
    pcie_support::runner()
        .run(&tlp::mem_request(), |request| {
            let mut bytes = Vec::new();
            request.emit(&mut bytes);
            prop_assert_eq!(bytes.len(), request.header_len());
            for have in 0..bytes.len() {
                let cut = matches!(
                    MemRequest::parse(&bytes[..have]),
                    Err(WireError::Truncated { .. })
                );
                prop_assert!(cut, "{} bytes are taken for a header", have);
            }
            bytes.push(0x5a);
            prop_assert_eq!(MemRequest::parse(&bytes), Ok((request, &[0x5a][..])));
            prop_assert!(Completion::parse(&bytes).is_err());
            Ok(())
        })
        .expect("memory requests");
}

#[test]
fn completions_round_trip() {
    pcie_support::runner()
        .run(&tlp::completion(), |completion| {
            let mut bytes = Vec::new();
            completion.emit(&mut bytes);
            for have in 0..bytes.len() {
                let cut = matches!(
                    Completion::parse(&bytes[..have]),
                    Err(WireError::Truncated { .. })
                );
                prop_assert!(cut, "{} bytes are taken for a header", have);
            }
            bytes.push(0x5a);
            prop_assert_eq!(Completion::parse(&bytes), Ok((completion, &[0x5a][..])));
            prop_assert!(MemRequest::parse(&bytes).is_err());
            Ok(())
        })
        .expect("completions");
}

#[test]
fn tlp_bytes_round_trip_or_are_refused() {
    pcie_support::runner()
        .run(&(0..10usize, any::<[u8; 16]>()), |(kind, mut bytes)| {
            bytes[0] = [0x00, 0x20, 0x40, 0x60, 0x4c, 0x6c, 0x4d, 0x6e, 0x0a, 0x4a][kind];
            let mut out = Vec::new();
            match TlpType::of(&bytes).expect("listed type") {
                TlpType::MemRequest { .. } => {
                    let (request, rest) =
                        MemRequest::parse(&bytes).expect("address is above 4 GiB if wide");
                    request.emit(&mut out);
                    out.extend_from_slice(rest);
                    prop_assert_eq!(&out, &bytes);
                }
                TlpType::Completion { with_data } => {
                    bytes[1] &= 0xfc; // LN, TH, AT and bit 7 of the last byte are reserved in completions
                    bytes[2] &= 0xf3;
                    bytes[11] &= 0x7f;
                    if !with_data {
                        bytes[2] &= 0xfc;
                        bytes[3] = 0;
                    }
                    let Ok((completion, rest)) = Completion::parse(&bytes) else {
                        prop_assert!(CompletionStatus::from_code(bytes[6] >> 5).is_none());
                        return Ok(());
                    };
                    completion.emit(&mut out);
                    out.extend_from_slice(rest);
                    prop_assert_eq!(&out, &bytes);
                }
            }
            Ok(())
        })
        .expect("bytes");
}

#[test]
fn unknown_tlp_types_and_low_4dw_addresses_are_refused() {
    let known = [
        0x00, 0x20, 0x40, 0x60, 0x4c, 0x6c, 0x4d, 0x6d, 0x4e, 0x6e, 0x0a, 0x4a,
    ];
    for byte in 0..=u8::MAX {
        match TlpType::from_byte(byte) {
            Ok(tlp_type) => {
                assert!(known.contains(&byte), "{byte:#x}");
                assert_eq!(tlp_type.to_byte(), byte);
                assert_eq!(tlp_type.has_data(), byte & 0x40 != 0);
            }
            Err(_) => assert!(!known.contains(&byte), "{byte:#x}"),
        }
    }
    let mut bytes = Vec::new();
    request(MemOp::Write, 4, AddressType::Untranslated).emit(&mut bytes);
    bytes[8..12].fill(0);
    assert!(matches!(
        MemRequest::parse(&bytes),
        Err(WireError::BadField { .. })
    ));
}
