//! Virtual devices of two Verilated cards: rings and data in guest memory, doorbells from the guest, isolation by the card itself.

mod attacks;
mod world;

use std::time::{Duration, Instant};

use stellar_wire::host::{CqeOpcode, WcStatus, Wqe, WqeOpcode};
use stellar_wire::vstellar::*;

use world::{pattern, world, End, World};

use crate::devices::common::{ports, Guest};

#[test]
fn guests_write_to_each_other_without_their_hosts() {
    let (_turn, world) = world();
    let before = world.bad_accesses();
    let [mut a, mut b] = world.connected([1, 1], 4);
    let done = |end: &End| {
        end.guest
            .host
            .service()
            .counters(end.guest.id)
            .unwrap()
            .done
    };
    let requests = (done(&a), done(&b));
    let sent = pattern(4 * 4096, 0x5a);
    a.store(&sent);
    let write = Wqe {
        opcode: WqeOpcode::WriteImm,
        immediate: 0xfeed,
        ..a.write(&b, 10_000)
    };
    a.pair.qp.post(write).unwrap();
    let cqe = world.completion(&mut a);
    let done_as = (cqe.status, cqe.opcode, cqe.wr_id);
    assert_eq!(done_as, (WcStatus::Success, CqeOpcode::WriteImm, 10_000));
    let received = world.completion(&mut b);
    let (opcode, immediate) = (CqeOpcode::RecvRdmaWithImm, 0xfeed);
    assert_eq!((received.opcode, received.immediate), (opcode, immediate));
    let mut expected = sent[..10_000].to_vec();
    expected.resize(4 * 4096, 0);
    assert!(b.load(4 * 4096) == expected, "other bytes arrived");
    // The ring wraps, and messages flow in the other direction.
    for round in 0..20 {
        let bytes = pattern(300, round);
        b.store(&bytes);
        b.pair.qp.post(b.write(&a, 300)).unwrap();
        assert_eq!(world.completion(&mut b).status, WcStatus::Success);
        assert!(a.load(300) == bytes, "round {round}");
    }
    assert_eq!((done(&a), done(&b)), requests, "no host was in the way");
    assert_eq!(world.bad_accesses(), before);
    world.remove([a, b]);
}

#[test]
fn devices_come_and_go_and_die_while_others_transfer() {
    let (_turn, world) = world();
    let before = world.bad_accesses();
    let [mut a, b] = world.connected([1, 1], 16);
    let sent = pattern(16 * 4096, 0x33);
    a.store(&sent);
    // Guests of further connections die in the middle of a transfer: first the sender, then, on another connection, the receiver.
    for (number, dies) in [(2, 0), (3, 1)] {
        let [mut c, d] = world.connected([number, number], 16);
        c.store(&sent);
        a.pair.qp.post(a.write(&b, 16 * 4096)).unwrap();
        c.pair.qp.post(c.write(&d, 16 * 4096)).unwrap();
        world.pair.run(600);
        let dead = [&c, &d][dies].guest.guest;
        assert_eq!(world.hosts[dies].service().remove_guest(dead).unwrap(), 0);
        assert_eq!(world.completion(&mut a).status, WcStatus::Success);
        assert!(b.load(16 * 4096) == sent, "the neighbour's bytes");
        // Packets to and from the dead guests have no effect in any memory.
        world.pair.run(2_000);
        assert_eq!(
            world.bad_accesses(),
            before,
            "{number}: memory that was given back was touched"
        );
        let other = [&d, &c][dies].guest.guest;
        assert_eq!(
            world.hosts[1 - dies].service().remove_guest(other).unwrap(),
            0
        );
        // The same guest starts again at once.
        world.write_once(number);
    }
    assert_eq!(world.bad_accesses(), before);
    world.remove([a, b]);
}

/// Measures the cost of a device on the card: simulated time, and wall time of its simulation. Run with `--nocapture`.
#[test]
fn creation_is_measured() {
    let (_turn, world) = world();
    let simulated = |clocks: u64| Duration::from_nanos(4 * clocks);
    let (clocks, wall) = (world.pair.clocks(), Instant::now());
    let mut guests: Vec<_> = (1..=8).map(|n| Guest::new(&world.hosts[0], n)).collect();
    // A device alone asks nothing of the card but an event queue, which is one row and its interrupt vector.
    let each = (world.pair.clocks() - clocks) / 8;
    println!(
        "8 devices: {:?} each, {:?}",
        simulated(each),
        wall.elapsed()
    );
    assert!(simulated(each) < Duration::from_nanos(200));
    let (clocks, wall) = (world.pair.clocks(), Instant::now());
    for guest in &mut guests {
        let pair = guest.pair();
        let region = guest.region_request(pair.pd, 1);
        guest.handle(Request::RegisterMr(region));
        guest.connect(pair.qp.number(), 9, ports(1));
    }
    let each = (world.pair.clocks() - clocks) / 8;
    println!(
        "a region and a queue pair in RTS: {:?} each, {:?} of wall time for 8",
        simulated(each),
        wall.elapsed()
    );
    assert!(simulated(each) < Duration::from_millis(1));
    let (clocks, wall) = (world.pair.clocks(), Instant::now());
    for guest in guests {
        let removed = world.hosts[0].service().remove_guest(guest.guest);
        assert_eq!(removed.unwrap(), 0);
    }
    let each = (world.pair.clocks() - clocks) / 8;
    println!(
        "destroyed: {:?} each, {:?} of wall time for 8",
        simulated(each),
        wall.elapsed()
    );
}

/// 1,024 devices on each card; as many as possible have a queue pair, and all write at once.
#[test]
fn a_thousand_devices_write_at_once() {
    let world = World::new();
    let most = world.hosts[0].device.limits().queue_pairs;
    let (clocks, wall) = (world.pair.clocks(), Instant::now());
    let mut ends: Vec<[End; 2]> = (0..most).map(|n| world.connected([n, n], 1)).collect();
    for number in most..1024 {
        world
            .hosts
            .iter()
            .for_each(|host| drop(Guest::new(host, number)));
    }
    for host in &world.hosts {
        assert_eq!(host.service().devices().count(), 1024);
    }
    let took = Duration::from_nanos(4 * (world.pair.clocks() - clocks));
    println!(
        "2,048 devices, {most} connections: {took:?}, {:?} of wall time",
        wall.elapsed()
    );

    let (clocks, wall) = (world.pair.clocks(), Instant::now());
    let bytes = |number: usize| pattern(512, number as u8);
    for (number, [from, to]) in ends.iter_mut().enumerate() {
        from.store(&bytes(number));
        from.pair.qp.post(from.write(to, 512)).unwrap();
    }
    for [from, _] in &mut ends {
        assert_eq!(world.completion(from).status, WcStatus::Success);
    }
    let took = Duration::from_nanos(4 * (world.pair.clocks() - clocks));
    println!(
        "a write of 512 bytes by each: {took:?}, {:?} of wall time",
        wall.elapsed()
    );
    for (number, [_, to]) in ends.iter().enumerate() {
        assert!(to.load(512) == bytes(number), "device {number}");
    }
    assert_eq!(world.bad_accesses(), [0, 0]);
    // Destroying 2,044 queue pairs takes some microseconds of simulated time each, which `creation_is_measured` covers. Here the cards are switched off instead.
    std::mem::forget((world, ends));
}
