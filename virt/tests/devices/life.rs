//! Tests of virtual devices on a recording mock of the card: creation, quotas, removal, and the largest number of devices.

use std::iter::once;
use std::sync::Arc;
use std::time::Instant;

use stellar_driver::fake::FakeCard;
use stellar_virt::host::{GuestMachine, ServiceError, QUOTA};
use stellar_virt::pvdma::{GuestId, PvdmaError, BLOCK};
use stellar_virt::GuestLayout;
use stellar_wire::host::config_space::{DOORBELL_PAGES, PAGE_BYTES};
use stellar_wire::host::{Doorbell, Wqe};
use stellar_wire::vstellar::*;

use crate::devices::common::{ports, Guest, Host, ENTRIES, MEMORY, SHARED};
use crate::devices::hypervisor::NoIommu;

fn host() -> (Arc<FakeCard>, Arc<Host>) {
    let card = FakeCard::new();
    let host = Host::new(0, card.clone(), Box::new(NoIommu));
    (card, host)
}

#[test]
fn a_device_is_set_up_used_and_torn_down() {
    let (card, host) = host();
    let mut guest = Guest::new(&host, 1);
    let info = match guest.call(Request::QueryDevice).unwrap() {
        Answer::Device(info) => info,
        other => panic!("{other:?}"),
    };
    assert_eq!((info.device, info.quota), (guest.id.0.into(), QUOTA));
    assert_eq!(host.hypervisor.blocks_pinned(), 0, "nothing was used yet");

    let mut pair = guest.pair();
    let number = pair.qp.number();
    let region = guest.region_request(pair.pd, 3);
    let key = guest.handle(Request::RegisterMr(region));
    assert_eq!(host.hypervisor.blocks_pinned(), 1, "all in one block");
    let state = |guest: &mut Guest| guest.call(Request::QueryQp { qp: number }).unwrap();
    assert_eq!(state(&mut guest), Answer::State(GuestQpState::Reset));
    let path = |index, denied| Request::UsePath {
        qp: number,
        index,
        denied,
    };
    assert_eq!(guest.refusal(path(3, true)), Status::BadState);
    guest.connect(number, 9, ports(1));
    assert_eq!(state(&mut guest), Answer::State(GuestQpState::Rts));

    let rows = card.rows_written();
    assert_eq!(guest.refusal(path(136, true)), Status::Attribute);
    assert_eq!(card.rows_written(), rows);
    for denied in [true, false] {
        assert_eq!(guest.call(path(3, denied)).unwrap(), Answer::Done);
    }
    assert_eq!(card.rows_written(), rows + 2);

    card.take_doorbells();
    let rows = card.rows_written();
    pair.qp.post(Wqe::default()).unwrap();
    let doorbell = Doorbell {
        qp: number,
        producer: 1,
    };
    let word = u64::from_le_bytes(doorbell.to_bytes());
    let page = u64::from(guest.id.0) * PAGE_BYTES;
    assert_eq!(
        card.take_doorbells(),
        [(page, word)],
        "straight to its page"
    );
    assert_eq!(card.rows_written(), rows, "and the host did nothing");

    // An object cannot be destroyed before those that need it.
    let busy = |guest: &mut Guest, request| assert_eq!(guest.refusal(request), Status::Busy);
    busy(&mut guest, Request::DeallocPd { pd: pair.pd });
    busy(&mut guest, Request::DestroyCq { cq: pair.cq });
    let order = [
        Request::DestroyQp { qp: number },
        Request::DestroyCq { cq: pair.cq },
        Request::DeregisterMr { key },
        Request::DeallocPd { pd: pair.pd },
    ];
    for request in order {
        assert_eq!(guest.call(request).unwrap(), Answer::Done);
        assert_eq!(guest.refusal(request), Status::BadHandle, "not twice");
    }
    assert_eq!(host.hypervisor.blocks_pinned(), 0);
    assert_eq!(host.hypervisor.blocks_mapped(), 0);
    let counters = guest.counters();
    assert_eq!((counters.refused, counters.unanswerable), (8, 0));
}

#[test]
fn quotas_hold_and_are_a_devices_own() {
    let (_, host) = host();
    let quota = GuestQuota {
        domains: 2,
        regions: 2,
        pages: 5,
        completion_queues: 1,
        queue_pairs: 1,
    };
    let mut guest = Guest::with_quota(&host, 1, quota);
    let pair = guest.pair();
    guest.handle(Request::AllocPd);
    assert_eq!(guest.refusal(Request::AllocPd), Status::Quota);
    let create = Request::CreateCq { entries: ENTRIES };
    assert_eq!(guest.refusal(create), Status::Quota);
    let second = guest.qp_request(pair.pd, pair.cq);
    assert_eq!(guest.refusal(Request::CreateQp(second)), Status::Quota);
    let region = guest.region_request(pair.pd, 3);
    let first = guest.handle(Request::RegisterMr(region));
    assert_eq!(
        guest.refusal(Request::RegisterMr(region)),
        Status::Quota,
        "pages"
    );
    let small = RegisterMr { pages: 1, ..region };
    guest.handle(Request::RegisterMr(small));
    assert_eq!(
        guest.refusal(Request::RegisterMr(small)),
        Status::Quota,
        "regions"
    );
    guest.call(Request::DeregisterMr { key: first }).unwrap();
    guest.handle(Request::RegisterMr(region));
    // Another device has its own quota.
    Guest::with_quota(&host, 2, quota).pair();
}

#[test]
fn the_card_runs_out_before_the_quota_and_says_so() {
    let (_, host) = host();
    let quota = GuestQuota {
        queue_pairs: 2048,
        ..QUOTA
    };
    let mut guest = Guest::with_quota(&host, 1, quota);
    let pair = guest.pair();
    let asked = guest.qp_request(pair.pd, pair.cq);
    let most = host.device.limits().queue_pairs;
    for _ in 1..most {
        guest.handle(Request::CreateQp(asked));
    }
    assert_eq!(guest.refusal(Request::CreateQp(asked)), Status::Exhausted);
}

#[test]
fn a_guest_that_dies_leaves_nothing_pinned_mapped_or_running() {
    let (card, host) = host();
    let mut neighbour = Guest::new(&host, 2);
    let kept = neighbour.pair();
    neighbour.connect(kept.qp.number(), 4, ports(1));
    let before = host.hypervisor.blocks_pinned();
    let mut guest = Guest::new(&host, 1);
    let mut pairs = [guest.pair(), guest.pair()];
    for pair in &mut pairs {
        let region = guest.region_request(pair.pd, 2);
        guest.handle(Request::RegisterMr(region));
        guest.connect(pair.qp.number(), 9, ports(1));
        pair.qp.post(Wqe::default()).unwrap();
    }
    let other = host.service().create_device(guest.guest, QUOTA).unwrap();
    assert!(host.hypervisor.blocks_pinned() > before);

    card.take_doorbells();
    assert_eq!(host.service().remove_guest(guest.guest).unwrap(), 0);
    assert_eq!(host.hypervisor.blocks_pinned(), before);
    assert_eq!(host.hypervisor.blocks_mapped(), before);
    let left: Vec<_> = host.service().devices().collect();
    assert_eq!(left, [neighbour.id]);
    for pair in &mut pairs {
        assert!(
            pair.qp.post(Wqe::default()).is_err(),
            "its doorbells are gone"
        );
    }
    assert_eq!(card.take_doorbells(), []);
    assert!(other.1.store(0, 0).is_err());
    let gone = host.service().process(guest.id);
    assert!(matches!(gone, Err(ServiceError::UnknownDevice(_))));
    let gone = host.service().remove_guest(guest.guest);
    assert!(matches!(gone, Err(ServiceError::UnknownGuest(_))));
    // Its number and addresses are free again.
    Guest::new(&host, 1).pair();
}

#[test]
fn there_are_65536_devices() {
    let (card, host) = host();
    let (guest, _) = host.add_guest(1);
    let mut windows = Vec::new();
    let mut service = host.service();
    for number in 0..DOORBELL_PAGES {
        let (id, window) = service.create_device(guest, QUOTA).unwrap();
        assert_eq!(u32::from(id.0), number);
        windows.push((id, window));
    }
    let more = service.create_device(guest, QUOTA);
    let said = more.err().unwrap().to_string();
    assert!(
        said.contains("no doorbell pages left; the card has 65536"),
        "{said}"
    );
    for (id, window) in windows.iter().step_by(997) {
        card.take_doorbells();
        window.store(0, 5).unwrap();
        let at = u64::from(id.0) * PAGE_BYTES;
        assert_eq!(card.take_doorbells(), [(at, 5)]);
    }
    // The device is destroyed and created again. The page now belongs to another device, and the old window does not lead to it.
    let (id, old) = windows.swap_remove(40_000);
    service.destroy_device(id).unwrap();
    let twice = service.destroy_device(id);
    assert!(matches!(twice, Err(ServiceError::UnknownDevice(_))));
    let (again, window) = service.create_device(guest, QUOTA).unwrap();
    assert_eq!(again, id);
    assert!(old.store(0, 1).is_err());
    window.store(0, 1).unwrap();
    assert_eq!(service.devices().count(), 65_536);
    drop(service);
    assert_eq!(host.service().remove_guest(guest).unwrap(), 0);
    assert_eq!(host.service().devices().count(), 0);
}

/// 1,024 devices at once, each with a region; as many as possible have a queue pair, and all are used. Prints the costs; run with `--nocapture`.
#[test]
fn a_thousand_devices_are_created_and_used() {
    let (card, host) = host();
    let most = host.device.limits().queue_pairs as usize;
    let (stores, began) = (card.stores(), Instant::now());
    let mut guests: Vec<_> = (0..1024).map(|number| Guest::new(&host, number)).collect();
    let (created, creating) = (card.stores() - stores, began.elapsed());
    // The first devices get the card's free event queues: two words of a row, and the command that writes it.
    let event_queues = u64::from(host.device.limits().event_queues);
    assert_eq!(
        created,
        3 * event_queues,
        "otherwise, a device costs the card nothing until it is used"
    );

    let (stores, began) = (card.stores(), Instant::now());
    let mut pairs = Vec::new();
    for guest in &mut guests[..most] {
        let mut pair = guest.pair();
        let region = guest.region_request(pair.pd, 1);
        guest.handle(Request::RegisterMr(region));
        guest.connect(pair.qp.number(), 9, ports(1));
        pair.qp.post(Wqe::default()).unwrap();
        pairs.push(pair);
    }
    let (used, using) = (card.stores() - stores, began.elapsed());
    let numbers: std::collections::BTreeSet<_> =
        pairs.iter().map(|pair| pair.qp.number()).collect();
    assert_eq!(numbers.len(), most);
    println!("1,024 devices created: {created} register writes, {creating:?}");
    println!("{most} of them with a region, a queue pair in RTS and a work request: {used} register writes, {using:?}");

    // The card has two queue pairs fewer than there are devices, so the last two devices wait for the first two to free theirs.
    for index in most..1024 {
        let (first, rest) = guests.split_at_mut(index);
        let pd = rest[0].handle(Request::AllocPd);
        let cq = rest[0].handle(Request::CreateCq { entries: ENTRIES });
        let asked = Request::CreateQp(rest[0].qp_request(pd, cq));
        assert_eq!(rest[0].refusal(asked), Status::Exhausted);
        let first = &mut first[index - most];
        let qp = pairs[index - most].qp.number();
        first.call(Request::DestroyQp { qp }).unwrap();
        let number = rest[0].handle(asked);
        rest[0].connect(number, 9, ports(1));
    }
    assert_eq!(host.hypervisor.blocks_pinned(), 1024, "a block of each");
    for guest in guests {
        host.service().remove_guest(guest.guest).unwrap();
    }
    assert_eq!(host.hypervisor.blocks_pinned(), 0);
    assert_eq!(host.hypervisor.blocks_mapped(), 0);
}

#[test]
fn guests_that_cannot_be_are_refused() {
    let (_, host) = host();
    let unknown = host.service().create_device(GuestId(5), QUOTA);
    assert!(matches!(
        unknown,
        Err(ServiceError::UnknownGuest(GuestId(5)))
    ));
    let (guest, memory) = host.add_guest(1);
    let machine = |bytes| GuestMachine {
        memory: Arc::clone(&memory),
        layout: Arc::new(
            GuestLayout::new(once(0..bytes), SHARED << 30..(SHARED << 30) + BLOCK).unwrap(),
        ),
    };
    let twice = host.service().add_guest(guest, machine(BLOCK));
    assert!(matches!(
        twice,
        Err(ServiceError::Memory(PvdmaError::GuestExists(_)))
    ));
    let large = host.service().add_guest(GuestId(2), machine(1 << 40));
    assert!(matches!(
        large,
        Err(ServiceError::Addresses(0x100_0000_0000))
    ));
    // Neither device took addresses that another guest could use.
    let all = host
        .service()
        .add_guest(GuestId(2), machine((0x60 << 32) - MEMORY));
    assert_eq!(all.unwrap().length, (0x60 << 32) - MEMORY);
}
