//! Invalid requests: addresses outside of guest memory, and sizes and attributes that no card has.

use std::sync::Arc;

use stellar_driver::fake::FakeCard;
use stellar_virt::pvdma::BLOCK;
use stellar_wire::vstellar::*;
use vm_memory::{Bytes, GuestAddress};

use crate::devices::common::{ports, steps, Guest, Host, ENTRIES, MEMORY, SHARED};
use crate::devices::hypervisor::NoIommu;

fn guest() -> (Arc<FakeCard>, Guest) {
    let card = FakeCard::new();
    let host = Host::new(0, card.clone(), Box::new(NoIommu));
    (card, Guest::new(&host, 1))
}

#[test]
fn addresses_outside_of_guest_memory_are_refused() {
    let (card, mut guest) = guest();
    let pair = guest.pair();
    let (pd, cq) = (pair.pd, pair.cq);
    let good = guest.qp_request(pd, cq);
    let rows = card.rows_written();
    let outside = [MEMORY, MEMORY - 64, SHARED, !63];
    for at in outside {
        let send = CreateQp {
            send_ring: at,
            ..good
        };
        assert_eq!(guest.refusal(Request::CreateQp(send)), Status::BadAddress);
        let completions = CreateQp {
            completion_ring: at,
            ..good
        };
        let refused = guest.refusal(Request::CreateQp(completions));
        assert_eq!(refused, Status::BadAddress, "{at:#x}");
    }
    for odd in [
        CreateQp {
            send_ring: 32,
            ..good
        },
        CreateQp {
            completion_ring: 16,
            ..good
        },
        CreateQp {
            send_entries: 0,
            ..good
        },
        CreateQp {
            send_entries: 3,
            ..good
        },
        CreateQp {
            send_entries: u32::MAX,
            ..good
        },
        CreateQp {
            send_entries: 1 << 16,
            ..good
        },
    ] {
        assert_eq!(guest.refusal(Request::CreateQp(odd)), Status::Attribute);
    }
    for entries in [0, 3, 1 << 21, u32::MAX] {
        let refused = guest.refusal(Request::CreateCq { entries });
        assert_eq!(refused, Status::Attribute);
    }
    let region = guest.region_request(pd, 2);
    for list in [MEMORY, MEMORY - 8, SHARED, u64::MAX - 7] {
        let refused = guest.refusal(Request::RegisterMr(RegisterMr { list, ..region }));
        assert_eq!(refused, Status::BadAddress, "{list:#x}");
    }
    // The second page of the list is outside of memory, the doorbell, across the end, or not a page.
    for page in [MEMORY, SHARED, u64::MAX - 4095, region.address + 8] {
        let place = GuestAddress(region.list + PAGE_ENTRY);
        guest
            .memory
            .write_slice(&page.to_le_bytes(), place)
            .unwrap();
        let refused = guest.refusal(Request::RegisterMr(region));
        assert_eq!(refused, Status::BadAddress, "{page:#x}");
    }
    let none = RegisterMr { pages: 0, ..region };
    assert_eq!(guest.refusal(Request::RegisterMr(none)), Status::BadAddress);
    let many = RegisterMr {
        pages: u32::MAX,
        ..region
    };
    assert_eq!(guest.refusal(Request::RegisterMr(many)), Status::Quota);
    let huge = RegisterMr {
        page_log2: 21,
        pages: 1,
        ..region
    };
    assert_eq!(guest.refusal(Request::RegisterMr(huge)), Status::BadAddress);
    assert_eq!(card.rows_written(), rows, "nothing of it reached the card");
    let pinned = guest.host.pvdma.usage();
    assert_eq!(
        (pinned.blocks, pinned.idle),
        (1, 0),
        "the rings of the one queue pair"
    );
}

#[test]
fn a_huge_page_is_one_translation() {
    let (_, mut guest) = guest();
    let pd = guest.handle(Request::AllocPd);
    let list = guest.alloc(8, 8);
    let page = BLOCK.to_le_bytes();
    guest.memory.write_slice(&page, GuestAddress(list)).unwrap();
    guest.handle(Request::RegisterMr(RegisterMr {
        pd,
        page_log2: 21,
        remote_write: true,
        remote_read: false,
        address: 7 * BLOCK,
        pages: 1,
        list,
    }));
    assert_eq!(guest.host.hypervisor.blocks_pinned(), 1);
}

#[test]
fn steps_and_attributes_that_cannot_be_are_refused() {
    let (_, mut guest) = guest();
    let qp = guest.pair().qp.number();
    let [init, rtr, rts] = steps(9, ports(1));
    let modify = |step| Request::ModifyQp { qp, step };
    for step in [rtr, rts, Step::Error] {
        assert_eq!(guest.refusal(modify(step)), Status::BadState);
    }
    guest.call(modify(init)).unwrap();
    let Step::Rtr(ready) = rtr else {
        panic!("{rtr:?}")
    };
    for bad in [
        ReadyToReceive {
            psn: 1 << 24,
            ..ready
        },
        ReadyToReceive {
            max_write_imm: 17,
            ..ready
        },
        ReadyToReceive {
            sack_every: 0,
            ..ready
        },
        ReadyToReceive {
            qp: 1 << 24,
            ..ready
        },
        ReadyToReceive {
            path: Path {
                mtu_log2: 14,
                ..ready.path
            },
            ..ready
        },
        ReadyToReceive {
            path: Path {
                paths: 3,
                ..ready.path
            },
            ..ready
        },
        ReadyToReceive {
            path: Path {
                base_rtt: 0,
                ..ready.path
            },
            ..ready
        },
        ReadyToReceive {
            path: Path {
                base_rtt: u64::MAX,
                ..ready.path
            },
            ..ready
        },
        ReadyToReceive {
            path: Path {
                gbps: 0,
                ..ready.path
            },
            ..ready
        },
    ] {
        assert_eq!(
            guest.refusal(modify(Step::Rtr(bad))),
            Status::Attribute,
            "{bad:?}"
        );
    }
    guest.call(modify(rtr)).unwrap();
    guest.call(modify(rts)).unwrap();
    guest.call(modify(Step::Error)).unwrap();
    guest.call(modify(Step::Reset)).unwrap();
}

#[test]
fn completion_queues_of_any_legal_size_are_made() {
    let (_, mut guest) = guest();
    for entries in [1, ENTRIES, 1 << 20] {
        guest.handle(Request::CreateCq { entries });
    }
}
