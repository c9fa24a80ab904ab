//! TLP headers, byte enables and AMD descriptors.

mod pcie_strategies;

use pcie_strategies as any_of;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use stellar_wire::pcie::descriptor::{
    CompleterCompletion, CompleterRequest, RequestType, RequesterCompletion, RequesterRequest,
};
use stellar_wire::pcie::*;
use stellar_wire::{Header, WireError};

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
    any_of::runner()
        .run(&any_of::mem_request(), |request| {
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
    any_of::runner()
        .run(&any_of::completion(), |completion| {
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
    any_of::runner()
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

/// Byte addresses a span enables, one by one.
fn enabled(span: &DwSpan) -> Vec<u64> {
    let last = u64::from(span.length_dw) - 1;
    let bytes = (0..=last).flat_map(|dw| (0..4u64).map(move |lane| (dw, lane)));
    bytes
        .filter(|&(dw, lane)| match dw {
            0 => span.first_be >> lane & 1 != 0,
            dw if dw == last => span.last_be >> lane & 1 != 0,
            _ => true,
        })
        .map(|(dw, lane)| span.address + 4 * dw + lane)
        .collect()
}

#[test]
fn byte_enables_name_exactly_the_bytes_asked_for() {
    for base in [0u64, 0x1000, 0xffff_ffff_ffff_f000] {
        for offset in (0..16).chain(4080..4096) {
            for length in 0..=40usize {
                let address = base + offset;
                let span = match DwSpan::new(address, length) {
                    Ok(span) => span,
                    Err(_) => {
                        assert!(offset as usize + length > 4096);
                        continue;
                    }
                };
                assert!(offset as usize + length <= 4096);
                let expected: Vec<u64> = (0..length as u64).map(|i| address + i).collect();
                assert_eq!(enabled(&span), expected, "{length} bytes at {address:#x}");
                if length > 0 {
                    assert_eq!(span.byte_range(), Some((address, length)));
                } else {
                    assert_eq!(span.byte_range(), Some((address & !3, 0)));
                }
            }
        }
    }
    assert_eq!(DwSpan::new(0, 4096).map(|span| span.length_dw), Ok(1024));
}

#[test]
fn byte_range_exists_exactly_for_contiguous_enables() {
    for length_dw in 1..=4u16 {
        for enables in 0..=u8::MAX {
            let (first_be, last_be) = (enables & 0xf, enables >> 4);
            let span = DwSpan {
                address: 0x100,
                length_dw,
                first_be,
                last_be,
            };
            let bytes = enabled(&span);
            let one_dw = length_dw == 1;
            let contradiction = if one_dw {
                last_be != 0
            } else {
                first_be == 0 || last_be == 0
            };
            let run = bytes.windows(2).all(|pair| pair[1] == pair[0] + 1);
            let expected = match (contradiction || !run, bytes.first()) {
                (true, _) => None,
                (false, Some(&first)) => Some((first, bytes.len())),
                (false, None) => Some((0x100, 0)),
            };
            assert_eq!(span.byte_range(), expected, "{span:?}");
        }
    }
}

/// Checks a descriptor both ways; `defined` masks the bits with a meaning.
fn descriptor_round_trips<D: Header + PartialEq + std::fmt::Debug>(
    values: impl Strategy<Value = D>,
    defined: u128,
) {
    let mut runner = any_of::runner();
    runner
        .run(&values, |value| {
            let bytes = value.to_bytes();
            prop_assert_eq!(bytes.len(), D::LEN);
            prop_assert_eq!(D::parse(&bytes), Ok((value, &[][..])));
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{}: {error}", D::NAME));
    let (mut taken, mut refused) = (0, 0);
    runner
        .run(&any::<u128>(), |bits| {
            let bytes = &bits.to_le_bytes()[..D::LEN];
            let cut = matches!(D::parse(&bytes[1..]), Err(WireError::Truncated { .. }));
            prop_assert!(cut, "a byte is missing and nobody says so");
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{}: {error}", D::NAME));
    for _ in 0..2000 {
        let bits = any::<u128>()
            .new_tree(&mut runner)
            .expect("strategy")
            .current();
        match D::parse(&bits.to_le_bytes()[..D::LEN]) {
            Ok((value, _)) => {
                assert_eq!(
                    value.to_bytes(),
                    (bits & defined).to_le_bytes()[..D::LEN],
                    "{}",
                    D::NAME
                );
                taken += 1;
            }
            Err(error) => {
                assert!(
                    matches!(error, WireError::BadField { .. }),
                    "{}: {error}",
                    D::NAME
                );
                refused += 1;
            }
        }
    }
    assert!(
        taken > 100 && refused > 100,
        "{}: {taken} taken, {refused} refused",
        D::NAME
    );
}

/// Mask of bits `high..=low`.
fn bits(ranges: &[(u32, u32)]) -> u128 {
    ranges
        .iter()
        .map(|&(high, low)| (u128::MAX >> (127 - high)) & (u128::MAX << low))
        .fold(0, |a, b| a | b)
}

#[test]
fn descriptors_round_trip() {
    descriptor_round_trips::<RequesterRequest>(any_of::rq(), u128::MAX);
    descriptor_round_trips::<CompleterRequest>(
        any_of::cq(),
        bits(&[(78, 0), (103, 80), (126, 104)]),
    );
    let rc = bits(&[(30, 0), (46, 32), (87, 48), (94, 89)]);
    descriptor_round_trips::<RequesterCompletion>(any_of::rc(), rc);
    let cc = bits(&[(6, 0), (9, 8), (29, 16), (46, 32), (88, 48), (95, 89)]);
    descriptor_round_trips::<CompleterCompletion>(any_of::cc(), cc);
}

#[test]
fn requester_request_fields_lie_where_the_product_guide_puts_them() {
    let descriptor = RequesterRequest {
        address_type: AddressType::Translated,
        address: 0x0123_4567_89ab_cdec,
        dword_count: 0x345,
        request_type: RequestType::MemWrite,
        poisoned: true,
        requester: 0xabcd,
        tag: 0xe7,
        completer: 0x1234,
        requester_id_enable: true,
        traffic_class: 5,
        attributes: Attributes {
            id_based_ordering: true,
            relaxed_ordering: false,
            no_snoop: true,
        },
        force_ecrc: true,
    };
    let expected: u128 = 0b10
        | 0x0123_4567_89ab_cdec
        | 0x345 << 64
        | 1 << 75
        | 1 << 79
        | 0xabcd << 80
        | 0xe7 << 96
        | 0x1234 << 104
        | 1 << 120
        | 5 << 121
        | 0b101 << 124
        | 1 << 127;
    assert_eq!(descriptor.to_bytes(), expected.to_le_bytes());
}

#[test]
#[should_panic(expected = "dword_count: 1025 exceeds 1024")]
fn descriptor_of_more_than_1024_double_words_is_not_made() {
    let (mut descriptor, _) = RequesterRequest::parse(&[0; 16]).expect("all zero is a read");
    descriptor.dword_count = 1025;
    descriptor.to_bytes();
}
