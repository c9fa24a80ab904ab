//! A virtual device tries to use objects of another one, and the host refuses. The tests of what the card refuses are in `verilated`.

use std::sync::Arc;

use stellar_driver::fake::FakeCard;
use stellar_driver::{RateLimit, TenantShare};
use stellar_virt::host::DeviceId;
use stellar_wire::host::config_space::PAGE_BYTES;
use stellar_wire::rows::{ConfigSelect, RingRow, Row};
use stellar_wire::vstellar::*;

use crate::devices::common::{ports, steps, Guest, Host, MEMORY};
use crate::devices::hypervisor::NoIommu;

fn two() -> (Arc<FakeCard>, [Guest; 2]) {
    let card = FakeCard::new();
    let host = Host::new(0, card.clone(), Box::new(NoIommu));
    (card, [1, 2].map(|number| Guest::new(&host, number)))
}

#[test]
fn every_object_of_another_device_is_unknown() {
    let (card, [mut victim, mut attacker]) = two();
    let pair = victim.pair();
    let qp = pair.qp.number();
    let region = victim.region_request(pair.pd, 1);
    let key = victim.handle(Request::RegisterMr(region));
    victim.connect(qp, 9, ports(1));
    // The attacker has made no objects, so every handle it can name belongs to another device or to none.
    let rows = card.rows_written();
    let before = attacker.counters();
    let [init, rtr, rts] = steps(9, ports(1));
    let ring = attacker.qp_request(pair.pd, pair.cq);
    let mut tries = vec![
        Request::DeregisterMr { key },
        Request::DestroyQp { qp },
        Request::QueryQp { qp },
        Request::DeallocPd { pd: pair.pd },
        Request::DestroyCq { cq: pair.cq },
        Request::CreateQp(ring),
        Request::RegisterMr(region),
    ];
    let moves = [init, rtr, rts, Step::Error, Step::Reset];
    tries.extend(moves.map(|step| Request::ModifyQp { qp, step }));
    tries.extend([false, true].map(|denied| Request::UsePath {
        qp,
        index: 1,
        denied,
    }));
    tries.push(Request::QueryPaths { qp, first: 0 });
    // Every queue pair number, and every small key.
    tries.extend((0..1024).map(|qp| Request::DestroyQp { qp }));
    tries.extend((0..1024).map(|key| Request::DeregisterMr { key }));
    for request in &tries {
        assert_eq!(attacker.refusal(*request), Status::BadHandle, "{request:?}");
    }
    let counted = attacker.counters().refused - before.refused;
    assert_eq!(counted, tries.len() as u64, "all counted");
    assert_eq!(
        card.rows_written(),
        rows,
        "nothing reached the card's tables"
    );
    assert_eq!(victim.counters().refused, 0, "nor the victim's counters");
    let state = victim.call(Request::QueryQp { qp }).unwrap();
    assert_eq!(state, Answer::State(GuestQpState::Rts));
}

/// The host sets the share of a device, of which a guest's requests change nothing.
#[test]
fn shares_of_the_ports_are_the_hosts() {
    let (card, [mut guest, _other]) = two();
    let table = ConfigSelect::Tenant.index();
    let limit = RateLimit {
        bits_per_second: 10_000_000_000,
        bucket: 64 << 10,
    };
    let share = TenantShare {
        limit: Some(limit),
        ..TenantShare::default()
    };
    let id = guest.id;
    guest.host.service().set_share(id, share).unwrap();
    let packed = share.row().pack();
    let expected = u64::from(packed[1]) << 32 | u64::from(packed[0]);
    // The registers behind a row keep what was written there for other tables.
    assert_eq!(card.last_rows(table)[&id.0.into()][0], expected);
    let pair = guest.pair();
    guest.connect(pair.qp.number(), 9, ports(1));
    let rows = card.last_rows(table);
    assert_eq!((rows.len(), rows[&id.0.into()][0]), (1, expected));
    let gone = DeviceId(77);
    let error = guest.host.service().set_share(gone, share).unwrap_err();
    assert_eq!(
        error.to_string(),
        "virtual device 77 does not exist, or was destroyed"
    );
}

#[test]
fn the_same_guest_addresses_are_other_memory() {
    let (card, mut guests) = two();
    let pairs: Vec<_> = guests.iter_mut().map(Guest::pair).collect();
    for (guest, pair) in guests.iter_mut().zip(&pairs) {
        guest.connect(pair.qp.number(), 9, ports(1));
    }
    let windows = pairs.iter().map(|pair| {
        let row = card.row(ConfigSelect::CompletionQueue.index(), pair.qp.number());
        let halves = |word: u64| [word as u32, (word >> 32) as u32];
        let words: Vec<u32> = row.unwrap().into_iter().flat_map(halves).collect();
        RingRow::unpack(&words).unwrap().base
    });
    let windows: Vec<_> = windows.collect();
    // Both rings are at the same guest address, because both guests made the same calls. For the card their addresses differ by at least the size of
    // a guest's memory.
    assert_eq!(windows[0].abs_diff(windows[1]), MEMORY);
}

#[test]
fn two_devices_of_one_guest_are_apart_too() {
    let (_, [mut first, _]) = two();
    let pair = first.pair();
    let (id, window) = first
        .host
        .service()
        .create_device(first.guest, stellar_virt::host::QUOTA)
        .unwrap();
    // The test drives the second device's control queue by hand, in the first one's memory.
    let at = first.alloc(stellar_virt::guest::GuestDriver::bytes(QUEUE_SIZE), 16);
    let memory = Arc::clone(&first.memory);
    let driver = stellar_virt::guest::GuestDriver::new(memory, at, QUEUE_SIZE);
    first.host.service().activate(id, driver.queue()).unwrap();
    let old = (
        std::mem::replace(&mut first.driver, driver),
        std::mem::replace(&mut first.id, id),
        std::mem::replace(&mut first.window, window),
    );
    let qp = pair.qp.number();
    assert_eq!(first.refusal(Request::DestroyQp { qp }), Status::BadHandle);
    (first.driver, first.id, first.window) = old;
    assert_eq!(first.call(Request::DestroyQp { qp }).unwrap(), Answer::Done);
}

#[test]
fn nothing_of_the_card_is_behind_the_window_but_the_own_page() {
    let (card, [mut victim, mut attacker]) = two();
    victim.pair();
    card.take_doorbells();
    let rows = card.rows_written();
    let mut tries = 0;
    // Other pages before and behind (also by wrapping), the ends of the page, and unaligned addresses.
    for page in (1..70_000).step_by(611).chain([u64::MAX / PAGE_BYTES]) {
        assert!(
            attacker.window.store(page * PAGE_BYTES, 0).is_err(),
            "{page}"
        );
        tries += 1;
    }
    for offset in [PAGE_BYTES, PAGE_BYTES - 4, 4, 1, u64::MAX, u64::MAX - 7] {
        assert!(attacker.window.store(offset, 0).is_err(), "{offset:#x}");
        tries += 1;
    }
    assert_eq!(card.take_doorbells(), [], "no other page was written");
    assert_eq!(card.rows_written(), rows);
    assert_eq!(attacker.counters().window_faults, tries, "all counted");
    assert_eq!(victim.counters().window_faults, 0);
    // The whole of its own page is accessible.
    for offset in (0..PAGE_BYTES).step_by(8) {
        attacker.window.store(offset, 0).unwrap();
    }
    let base = u64::from(attacker.id.0) * PAGE_BYTES;
    let stored: Vec<_> = card.take_doorbells().iter().map(|(at, _)| *at).collect();
    let expected: Vec<_> = (base..base + PAGE_BYTES).step_by(8).collect();
    assert_eq!(stored, expected);
}
