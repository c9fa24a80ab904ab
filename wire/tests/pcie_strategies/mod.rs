//! Strategies for random TLP headers and descriptors.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use stellar_wire::pcie::descriptor::{
    CompleterCompletion, CompleterRequest, RequestType, RequesterCompletion, RequesterRequest,
};
use stellar_wire::pcie::*;

/// A runner that tries the same cases every time.
pub fn runner() -> TestRunner {
    let config = Config {
        cases: 512,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

fn attributes() -> impl Strategy<Value = Attributes> {
    (0..8u8).prop_map(Attributes::from_bits)
}

fn status() -> impl Strategy<Value = CompletionStatus> {
    select(CompletionStatus::ALL)
}

fn address_type() -> impl Strategy<Value = AddressType> {
    select(AddressType::ALL)
}

/// Addresses on both sides of 4 GiB.
fn address() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u32>().prop_map(u64::from), any::<u64>()].prop_map(|address| address & !3)
}

pub fn mem_request() -> impl Strategy<Value = MemRequest> {
    let op = select(vec![
        MemOp::Read,
        MemOp::Write,
        MemOp::FetchAdd,
        MemOp::Swap,
        MemOp::CompareSwap,
    ]);
    let span = (address(), 1..=1024u16, 0..16u8, 0..16u8).prop_map(
        |(address, length_dw, first_be, last_be)| DwSpan {
            address,
            length_dw,
            first_be,
            last_be,
        },
    );
    let numbers = (any::<u16>(), 0..1024u16, 0..8u8, 0..4u8);
    (
        op,
        span,
        address_type(),
        numbers,
        attributes(),
        any::<[bool; 4]>(),
    )
        .prop_map(
            |(
                op,
                span,
                address_type,
                (requester, tag, traffic_class, processing_hint),
                attributes,
                flags,
            )| {
                MemRequest {
                    tag,
                    traffic_class,
                    attributes,
                    lightweight_notification: flags[0],
                    processing_hints: flags[1],
                    processing_hint,
                    digest: flags[2],
                    poisoned: flags[3],
                    ..MemRequest::new(op, span, address_type, requester)
                }
            },
        )
}

pub fn completion() -> impl Strategy<Value = Completion> {
    let lengths = (0..=1024u16, 1..=4096u16);
    let numbers = (0..1024u16, 0..128u8, 0..8u8);
    (
        lengths,
        any::<[u16; 2]>(),
        status(),
        numbers,
        attributes(),
        any::<[bool; 3]>(),
    )
        .prop_map(
            |(
                (length_dw, byte_count),
                ids,
                status,
                (tag, lower_address, traffic_class),
                attributes,
                flags,
            )| {
                Completion {
                    length_dw,
                    completer: ids[0],
                    status,
                    byte_count_modified: flags[0],
                    byte_count,
                    requester: ids[1],
                    tag,
                    lower_address,
                    traffic_class,
                    attributes,
                    digest: flags[1],
                    poisoned: flags[2],
                }
            },
        )
}

pub fn rq() -> impl Strategy<Value = RequesterRequest> {
    let target = (
        address_type(),
        address(),
        0..=1024u16,
        select(RequestType::ALL),
    );
    (
        target,
        any::<[u16; 2]>(),
        any::<u8>(),
        0..8u8,
        attributes(),
        any::<[bool; 3]>(),
    )
        .prop_map(
            |(
                (address_type, address, dword_count, request_type),
                ids,
                tag,
                traffic_class,
                attributes,
                flags,
            )| {
                RequesterRequest {
                    address_type,
                    address,
                    dword_count,
                    request_type,
                    poisoned: flags[0],
                    requester: ids[0],
                    tag,
                    completer: ids[1],
                    requester_id_enable: flags[1],
                    traffic_class,
                    attributes,
                    force_ecrc: flags[2],
                }
            },
        )
}

pub fn cq() -> impl Strategy<Value = CompleterRequest> {
    let target = (
        address_type(),
        address(),
        0..=1024u16,
        select(RequestType::ALL),
    );
    (
        target,
        any::<u16>(),
        any::<[u8; 2]>(),
        0..8u8,
        0..64u8,
        0..8u8,
        attributes(),
    )
        .prop_map(
            |(
                target,
                requester,
                [tag, target_function],
                bar_id,
                bar_aperture,
                traffic_class,
                attributes,
            )| {
                CompleterRequest {
                    address_type: target.0,
                    address: target.1,
                    dword_count: target.2,
                    request_type: target.3,
                    requester,
                    tag,
                    target_function,
                    bar_id,
                    bar_aperture,
                    traffic_class,
                    attributes,
                }
            },
        )
}

pub fn rc() -> impl Strategy<Value = RequesterCompletion> {
    let counts = (0..4096u16, 0..16u8, 0..8192u16, 0..=1024u16);
    (
        counts,
        status(),
        any::<[u16; 2]>(),
        any::<u8>(),
        0..8u8,
        attributes(),
        any::<[bool; 3]>(),
    )
        .prop_map(
            |(counts, status, ids, tag, traffic_class, attributes, flags)| RequesterCompletion {
                lower_address: counts.0,
                error_code: counts.1,
                byte_count: counts.2,
                locked: flags[0],
                request_completed: flags[1],
                dword_count: counts.3,
                status,
                poisoned: flags[2],
                requester: ids[0],
                tag,
                completer: ids[1],
                traffic_class,
                attributes,
            },
        )
}

pub fn cc() -> impl Strategy<Value = CompleterCompletion> {
    let counts = (0..128u8, address_type(), 0..8192u16, 0..=1024u16);
    (
        counts,
        status(),
        any::<[u16; 2]>(),
        any::<u8>(),
        0..8u8,
        attributes(),
        any::<[bool; 4]>(),
    )
        .prop_map(
            |(counts, status, ids, tag, traffic_class, attributes, flags)| CompleterCompletion {
                lower_address: counts.0,
                address_type: counts.1,
                byte_count: counts.2,
                locked: flags[0],
                dword_count: counts.3,
                status,
                poisoned: flags[1],
                requester: ids[0],
                tag,
                completer: ids[1],
                completer_id_enable: flags[2],
                traffic_class,
                attributes,
                force_ecrc: flags[3],
            },
        )
}
