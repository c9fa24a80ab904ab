//! Attacks of a virtual device that the card itself refuses.

use stellar_driver::DropReason;
use stellar_virt::DoorbellWindow;
use stellar_wire::host::{ConsumerIndex, Doorbell, WcStatus, Wqe};
use stellar_wire::vstellar::*;
use vm_memory::{Bytes, GuestAddress};

use super::world::{pattern, world, End, World};

use crate::devices::common::Host;

/// Cycles that `end` needs for 32 KiB to `to`, with `meanwhile` called in every pause.
fn clocks(world: &World, end: &mut End, to: &End, meanwhile: impl FnMut()) -> u64 {
    let began = world.pair.clocks();
    end.pair.qp.post(end.write(to, 32 << 10)).unwrap();
    let cqe = world.completion_with(end, meanwhile);
    assert_eq!(cqe.status, WcStatus::Success);
    world.pair.clocks() - began
}

/// Packets a host's card has dropped because the region was of another protection domain than the queue pair.
fn wrong_domain(host: &Host) -> u64 {
    let counters = host.device.counters().unwrap();
    let wrong = counters.iter().find(|c| c.reason == DropReason::WrongPd);
    wrong.map_or(0, |counter| counter.value)
}

#[test]
fn the_card_refuses_what_is_another_devices() {
    let (_turn, world) = world();
    let before = world.bad_accesses();
    let [mut a, b] = world.connected([1, 1], 8);
    let [mut attacker, peer] = world.connected([2, 2], 8);
    let bytes = pattern(8 * 4096, 1);
    a.store(&bytes);
    let alone = clocks(world, &mut a, &b, || {});

    // Another device rings doorbells and consumer indices of the victim's queue pair while the victim transfers.
    let victim = a.pair.qp.number();
    let doorbell = Doorbell {
        qp: victim,
        producer: 7,
    };
    let consumer = ConsumerIndex {
        qp: victim,
        index: 1,
        arm: true,
    };
    let word = |bytes| u64::from_le_bytes(bytes);
    let mut rung = 0;
    let window = attacker.guest.window.clone();
    let attacked = clocks(world, &mut a, &b, || {
        window
            .store(Doorbell::OFFSET.into(), word(doorbell.to_bytes()))
            .unwrap();
        window
            .store(ConsumerIndex::OFFSET.into(), word(consumer.to_bytes()))
            .unwrap();
        rung += 1;
    });
    println!("32 KiB: {alone} clocks alone, {attacked} with {rung} foreign doorbells and consumer indices");
    // A pause has 8 cycles, so polling the ring can be late by two stores and one pause.
    assert!(
        attacked <= alone + alone / 50 + 32,
        "{attacked} instead of {alone}"
    );
    let counted = attacker.guest.counters().doorbells_refused;
    assert!(counted > 0 && counted <= 2 * rung, "{counted} of {rung}");
    let event = attacker.guest.call(Request::NextEvent).unwrap();
    let Answer::Event(Some(event)) = event else {
        panic!("{event:?}");
    };
    assert_eq!((event.kind, event.qp), (Event::DoorbellRefused, victim));
    assert_eq!(
        a.guest.call(Request::NextEvent).unwrap(),
        Answer::Event(None)
    );

    // The attacker uses its own queue pair with the victim's local key; then, on new connections, the key of the victim's peer, and addresses beyond
    // its own region.
    let landed = b.load(8 * 4096);
    let foreign = Wqe {
        lkey: a.key,
        local_va: a.at,
        ..attacker.write(&peer, 64)
    };
    attacker.pair.qp.post(foreign).unwrap();
    assert_eq!(world.completion(&mut attacker).status, WcStatus::LocProtErr);
    let qp = attacker.pair.qp.number();
    let state = attacker.guest.call(Request::QueryQp { qp }).unwrap();
    assert_eq!(state, Answer::State(GuestQpState::Error));
    world.remove_some([attacker, peer]);
    let wrong_before = wrong_domain(&world.hosts[1]);
    for (number, bad) in [(3, 0), (4, 1)] {
        let [mut attacker, peer] = world.connected([number, number], 1);
        let write = match bad {
            0 => Wqe {
                rkey: b.key,
                remote_va: b.at,
                ..attacker.write(&peer, 64)
            },
            _ => attacker.write(&peer, 4097),
        };
        attacker.pair.qp.post(write).unwrap();
        let expected = [WcStatus::RemOpErr, WcStatus::LocProtErr][bad];
        assert_eq!(world.completion(&mut attacker).status, expected);
        world.remove_some([attacker, peer]);
    }
    let of_another_domain = wrong_domain(&world.hosts[1]) - wrong_before;
    assert_eq!(of_another_domain, 1, "the receiving card says why");
    assert!(b.load(8 * 4096) == landed, "the victim's memory changed");
    let after = clocks(world, &mut a, &b, || {});
    assert!(after <= alone + 32, "{after} instead of {alone}");
    assert!(b.load(32 << 10) == bytes, "other bytes arrived");
    assert_eq!(world.bad_accesses(), before);
    world.remove([a, b]);
}

/// Returns `entry` with another send queue index.
fn at_slot(entry: Wqe, slot: u16) -> Wqe {
    Wqe { slot, ..entry }
}

/// Pushes a word of an entry.
fn store_word(window: &DoorbellWindow, entry: Wqe, index: u64) {
    let at = 8 * index as usize;
    let word = entry.to_bytes()[at..at + 8].try_into().unwrap();
    let place = u64::from(Doorbell::PUSH_OFFSET) + 8 * index;
    window.store(place, u64::from_le_bytes(word)).unwrap();
}

/// Pushes an entry, with `between` after each word, and rings its doorbell.
fn push(window: &DoorbellWindow, entry: Wqe, doorbell: Doorbell, mut between: impl FnMut(u64)) {
    for index in 0..8 {
        store_word(window, entry, index);
        between(index);
    }
    let word = u64::from_le_bytes(doorbell.to_bytes());
    window.store(Doorbell::PUSHED_OFFSET.into(), word).unwrap();
}

/// The card keeps one pushed entry at a time, from any page. An entry that one device pushes while another does must never become the other's work.
#[test]
fn pushed_entries_of_two_devices_do_not_mix() {
    let (_turn, world) = world();
    let before = world.bad_accesses();
    let [mut a, b] = world.connected([1, 1], 1);
    let [mut attacker, peer] = world.connected([2, 2], 1);
    let victim = a.pair.qp.number();
    a.store(&pattern(4096, 0x77));
    let theirs = attacker.guest.window.clone();
    // If the card executed this entry for the victim, it would write elsewhere in the victim's region.
    let elsewhere = Wqe {
        wr_id: 0xbad,
        remote_va: b.at + 2048,
        ..a.write(&b, 128)
    };
    for round in 0..6u16 {
        let entry = Wqe {
            slot: round,
            wr_id: round.into(),
            remote_va: b.at + 64 * u64::from(round),
            local_va: a.at + 64 * u64::from(round),
            ..a.write(&b, 64)
        };
        let at = GuestAddress(a.pair.send_ring + u64::from(round) * Wqe::LEN as u64);
        a.guest.memory.write_slice(&entry.to_bytes(), at).unwrap();
        let doorbell = Doorbell {
            qp: victim,
            producer: round + 1,
        };
        let bogus = at_slot(elsewhere, round);
        push(&a.guest.window, entry, doorbell, |index| match round % 3 {
            // The attacker pushes word by word with the same words; then a whole entry behind the victim's last word; then a whole entry and the
            // victim's own doorbell.
            0 => store_word(&theirs, bogus, index),
            1 if index == 7 => (0..8).for_each(|index| store_word(&theirs, bogus, index)),
            2 if index == 3 => push(&theirs, bogus, doorbell, |_| {}),
            _ => {}
        });
        let cqe = world.completion(&mut a);
        assert_eq!((cqe.status, cqe.wr_id), (WcStatus::Success, round.into()));
    }
    let mut expected = pattern(4096, 0x77);
    expected[6 * 64..].fill(0);
    assert!(b.load(4096) == expected, "other bytes arrived");
    assert!(attacker.guest.counters().doorbells_refused >= 2);
    assert!(
        attacker.pair.qp.poll().unwrap().is_none(),
        "nor did it become its own"
    );
    assert_eq!(world.bad_accesses(), before);
    world.remove_some([attacker, peer]);
    world.remove([a, b]);
}
