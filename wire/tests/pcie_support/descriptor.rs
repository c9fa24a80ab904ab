//! Strategies for random AMD descriptors.

use proptest::prelude::*;
use proptest::sample::select;
use stellar_wire::pcie::descriptor::{
    CompleterCompletion, CompleterRequest, RequestType, RequesterCompletion, RequesterRequest,
};

use crate::pcie_support::*;

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
