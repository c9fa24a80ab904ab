//! AMD descriptors: round trips and layout.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use stellar_wire::pcie::descriptor::{
    CompleterCompletion, CompleterRequest, InvalidateCompletion, InvalidateRequest, RequestType,
    RequesterCompletion, RequesterRequest,
};
use stellar_wire::pcie::*;
use stellar_wire::{Header, WireError};

use crate::pcie_support::{self, descriptor};

/// Checks a descriptor both ways; `defined` masks the bits with a meaning.
fn descriptor_round_trips<D: Header + PartialEq + std::fmt::Debug>(
    values: impl Strategy<Value = D>,
    defined: u128,
) {
    let mut runner = pcie_support::runner();
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
    descriptor_round_trips::<RequesterRequest>(descriptor::rq(), u128::MAX);
    descriptor_round_trips::<CompleterRequest>(
        descriptor::cq(),
        bits(&[(78, 0), (103, 80), (126, 104)]),
    );
    let rc = bits(&[(30, 0), (46, 32), (87, 48), (94, 89)]);
    descriptor_round_trips::<RequesterCompletion>(descriptor::rc(), rc);
    let cc = bits(&[(6, 0), (9, 8), (29, 16), (46, 32), (88, 48), (95, 89)]);
    descriptor_round_trips::<CompleterCompletion>(descriptor::cc(), cc);
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
fn completer_request_fields_lie_where_the_product_guide_puts_them() {
    let descriptor = CompleterRequest {
        address_type: AddressType::TranslationRequest,
        address: 0x0123_4567_89ab_cdec,
        dword_count: 0x345,
        request_type: RequestType::CompareSwap,
        requester: 0xabcd,
        tag: 0xe7,
        target_function: 0x12,
        bar_id: 5,
        bar_aperture: 0x2d,
        traffic_class: 3,
        attributes: Attributes {
            id_based_ordering: false,
            relaxed_ordering: true,
            no_snoop: true,
        },
    };
    let expected: u128 = 0b01
        | 0x0123_4567_89ab_cdec
        | 0x345 << 64
        | 6 << 75
        | 0xabcd << 80
        | 0xe7 << 96
        | 0x12 << 104
        | 5 << 112
        | 0x2d << 115
        | 3 << 121
        | 0b011 << 124;
    assert_eq!(descriptor.to_bytes(), expected.to_le_bytes());
}

#[test]
fn completion_descriptor_fields_lie_where_the_product_guide_puts_them() {
    let requester = RequesterCompletion {
        lower_address: 0xabc,
        error_code: 9,
        byte_count: 0x1234,
        locked: false,
        request_completed: true,
        dword_count: 0x345,
        status: CompletionStatus::CompleterAbort,
        poisoned: true,
        requester: 0x5678,
        tag: 0xe7,
        completer: 0x9abc,
        traffic_class: 5,
        attributes: Attributes {
            id_based_ordering: true,
            relaxed_ordering: false,
            no_snoop: false,
        },
    };
    // The fields that RC and CC have in common.
    let common: u128 = 0x1234 << 16
        | 0x345 << 32
        | 0b100 << 43
        | 1 << 46
        | 0x5678 << 48
        | 0xe7 << 64
        | 0x9abc << 72
        | 5 << 89
        | 0b100 << 92;
    let expected = common | 0xabc | 9 << 12 | 1 << 30;
    assert_eq!(requester.to_bytes(), expected.to_le_bytes()[..12]);
    let completer = CompleterCompletion {
        lower_address: 0x5b,
        address_type: AddressType::Translated,
        byte_count: requester.byte_count,
        locked: true,
        dword_count: requester.dword_count,
        status: requester.status,
        poisoned: requester.poisoned,
        requester: requester.requester,
        tag: requester.tag,
        completer: requester.completer,
        completer_id_enable: true,
        traffic_class: requester.traffic_class,
        attributes: requester.attributes,
        force_ecrc: true,
    };
    let expected = common | 0x5b | 0b10 << 8 | 1 << 29 | 1 << 88 | 1 << 95;
    assert_eq!(completer.to_bytes(), expected.to_le_bytes()[..12]);
}

#[test]
#[should_panic(expected = "dword_count: 1025 exceeds 1024")]
fn descriptor_of_more_than_1024_double_words_is_not_made() {
    let (mut descriptor, _) = RequesterRequest::parse(&[0; 16]).expect("all zero is a read");
    descriptor.dword_count = 1025;
    descriptor.to_bytes();
}

fn invalidate_request() -> impl Strategy<Value = InvalidateRequest> {
    (any::<[u16; 2]>(), 0..32u8, any::<u64>(), 12..=63u32).prop_map(
        |([requester, device], tag, address, log2)| InvalidateRequest {
            requester,
            device,
            tag,
            address: address >> log2 << log2,
            len: 1 << log2,
        },
    )
}

proptest! {
    #[test]
    fn invalidations_round_trip(request in invalidate_request(), target: u16, tags: u32, count in 1..=8u8) {
        let bytes = request.to_bytes();
        prop_assert_eq!(bytes.len(), InvalidateRequest::LEN);
        prop_assert_eq!(InvalidateRequest::parse(&bytes), Ok((request, &[][..])));
        let completion = InvalidateCompletion { target, tags, count };
        let bytes = completion.to_bytes();
        prop_assert_eq!(bytes.len(), InvalidateCompletion::LEN);
        prop_assert_eq!(InvalidateCompletion::parse(&bytes), Ok((completion, &[][..])));
    }
}

/// The header's bytes 8 to 15 are the lowest of the descriptor, in the order of the wire.
#[test]
fn invalidations_lie_where_the_specification_and_the_product_guide_put_them() {
    let request = InvalidateRequest {
        requester: 0xabcd,
        device: 0x1801,
        tag: 19,
        address: 0x0123_4567_8900_0000,
        len: 0x20_0000,
    };
    let message =
        |code: u128, dwords: u128| dwords << 64 | 0b1110 << 75 | code << 104 | 0b010 << 112;
    let expected = message(1, 2) | 0x0118 | 0xabcd << 80 | 19 << 96;
    let bytes = request.to_bytes();
    assert_eq!(bytes[..16], expected.to_le_bytes());
    assert_eq!(bytes[16..], 0x0123_4567_890f_f800_u64.to_be_bytes());
    let completion = InvalidateCompletion {
        target: 0x9600,
        tags: 1 << 31 | 1 << 8,
        count: 1,
    };
    let expected = message(2, 0) | 0x0100_0096 | 0x0001_0080 << 32;
    assert_eq!(completion.to_bytes(), expected.to_le_bytes());
    // Another message, another routing, a body, an ITag that does not exist.
    for bit in [75, 104, 112, 64, 103] {
        let mut bytes = request.to_bytes();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let parsed = InvalidateRequest::parse(&bytes);
        assert!(
            matches!(parsed, Err(WireError::BadField { .. })),
            "{bit}: {parsed:?}"
        );
    }
}
