//! Strategies for random TLP headers.

use proptest::prelude::*;
use proptest::sample::select;
use stellar_wire::pcie::*;

use crate::pcie_support::*;

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
