//! When frames arrive.

use sim_net::{Fabric, FabricError, Frame, HostId, Time};

use crate::common::{run, star, topology, Sent, A, C};

fn cable(settings: &str) -> Fabric {
    let topology = topology(&format!(
        "[defaults]\n{settings}\n[back_to_back]\nplanes = 2"
    ));
    Fabric::new(topology, 1)
}

#[test]
fn a_burst_leaves_at_exactly_the_wire_rate() {
    // At 37 Gb/s a byte does not take a whole number of picoseconds: the time of each frame is rounded up.
    for (gbps, per_mbit) in [(200.0, 200_000u64), (37.0, 37_000), (0.1, 100)] {
        let mut fabric = cable(&format!("rate_gbps = {gbps}\ndelay_ns = 12.5"));
        let lengths = [64usize, 1500, 60, 4178, 61];
        for &len in lengths.iter().cycle().take(50) {
            fabric
                .send(HostId(0), 1, 1000, Frame::new(vec![0; len]))
                .unwrap();
        }
        let deliveries = run(&mut fabric);
        let mut start = 1000;
        let time = |bytes: u64| (bytes * 8_000_000).div_ceil(per_mbit);
        for (delivery, &len) in deliveries.iter().zip(lengths.iter().cycle()) {
            assert_eq!((delivery.host, delivery.port), (HostId(1), 1));
            assert_eq!(delivery.frame.len(), len);
            assert_eq!(
                delivery.time,
                start + time(8 + len as u64 + 4) + 12_500,
                "{gbps} Gb/s"
            );
            start += time(8 + len as u64 + 4 + 12);
        }
        assert_eq!(deliveries.len(), 50);
        assert_eq!(fabric.free_at(HostId(0), 1), Ok(fabric.now().max(start)));
    }
}

#[test]
fn short_frames_take_the_time_of_padded_ones() {
    let mut fabric = cable("rate_gbps = 100");
    for _ in 0..2 {
        fabric
            .send(HostId(0), 0, 0, Frame::new(vec![0; 20]))
            .unwrap();
    }
    let times: Vec<Time> = run(&mut fabric)
        .iter()
        .map(|delivery| delivery.time)
        .collect();
    assert_eq!(times, [72 * 80, (84 + 72) * 80]);
}

#[test]
fn directions_and_planes_do_not_share_a_line() {
    let mut fabric = cable("rate_gbps = 200");
    for (host, port) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        fabric
            .send(HostId(host), port, 0, Frame::new(vec![0; 988]))
            .unwrap();
    }
    let deliveries = run(&mut fabric);
    assert!(deliveries.iter().all(|delivery| delivery.time == 40_000));
    // Events of equal time keep the order of the calls.
    let order: Vec<_> = deliveries.iter().map(|d| (d.host.0, d.port)).collect();
    assert_eq!(order, [(1, 0), (1, 1), (0, 0), (0, 1)]);
}

#[test]
fn a_switch_stores_waits_and_forwards() {
    let mut fabric = Fabric::new(
        topology(
            "
            hosts = [{ name = 'a' }, { name = 'c' }]
            switches = [{ name = 's', latency_ns = 300 }]
            links = [
                { name = 'a', ends = ['a', 's'], set = { rate_gbps = 100, delay_ns = 7 } },
                { name = 'c', ends = ['s', 'c'], set = { rate_gbps = 400, delay_ns = 9 } },
            ]
            ",
        ),
        1,
    );
    let sent = Sent::new(HostId(0), HostId(1));
    let len = sent.frame(fabric.topology()).len() as u64;
    sent.send(&mut fabric, 0);
    let expected = (len + 12) * 80 + 7_000 + 300_000 + (len + 12) * 20 + 9_000;
    assert_eq!(run(&mut fabric)[0].time, expected);
}

#[test]
fn answers_can_be_sent_at_the_time_of_a_delivery() {
    let mut fabric = cable("rate_gbps = 200\ndelay_ns = 100");
    fabric
        .send(HostId(0), 0, 0, Frame::new(vec![1; 100]))
        .unwrap();
    fabric
        .send(HostId(0), 0, 0, Frame::new(vec![2; 100]))
        .unwrap();
    let first = fabric.next_delivery(Time::MAX).unwrap();
    assert_eq!(fabric.now(), first.time);
    fabric.send(HostId(1), 0, first.time, first.frame).unwrap();
    let order: Vec<_> = run(&mut fabric)
        .iter()
        .map(|d| (d.host.0, d.frame.bytes()[0]))
        .collect();
    assert_eq!(order, [(1, 2), (0, 1)]);
}

/// Two MACs serialise the frames themselves, so only the cable's delay is left.
#[test]
fn serialized_frames_meet_the_delay_alone() {
    let mut fabric = cable("rate_gbps = 200\ndelay_ns = 100");
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let starts = std::sync::Arc::clone(&seen);
    let tap = move |_, time: Time, _: &Frame| starts.lock().unwrap().push(time);
    let channel = fabric.topology().uplink(HostId(0), 0).unwrap();
    fabric
        .set_tap(channel, sim_net::TapSide::Transmit, Box::new(tap))
        .unwrap();
    // The second frame comes 10 ns after the first although the first takes 45 ns: the sender is responsible for the rate.
    for last_bit in [50_000, 60_000] {
        fabric
            .send_serialized(HostId(0), 0, last_bit, Frame::new(vec![0; 1000]))
            .unwrap();
    }
    let times: Vec<Time> = run(&mut fabric)
        .iter()
        .map(|delivery| delivery.time)
        .collect();
    assert_eq!(times, [150_000, 160_000]);
    assert_eq!(
        *seen.lock().unwrap(),
        [50_000 - 1012 * 40, 60_000 - 1012 * 40]
    );
    assert_eq!(fabric.free_at(HostId(0), 0), Ok(fabric.now()));
    let frame = Frame::new(vec![0; 60]);
    let now = fabric.now();
    let in_past = Err(FabricError::InPast { time: 0, now });
    assert_eq!(
        fabric.send_serialized(HostId(0), 0, 0, frame.clone()),
        in_past
    );
    fabric
        .schedule_link(sim_net::LinkId(0), now, false)
        .unwrap();
    fabric.send_serialized(HostId(0), 0, now, frame).unwrap();
    assert_eq!(run(&mut fabric), []);
    let drops = fabric.stats(channel).unwrap().drops;
    assert_eq!(drops.of(sim_net::DropReason::LinkDown), 1);
}

#[test]
fn a_host_may_take_frames_from_their_first_bit() {
    let mut fabric = cable("rate_gbps = 200\ndelay_ns = 30");
    fabric.receive_from_first_bit(HostId(1), 0).unwrap();
    fabric
        .send(HostId(0), 0, 0, Frame::new(vec![0; 1000]))
        .unwrap();
    let delivery = fabric.next_delivery(Time::MAX).unwrap();
    assert_eq!(
        (fabric.now(), delivery.time),
        (8 * 40 + 30_000, 1012 * 40 + 30_000)
    );
    // The frame is passed on at its last bit. It takes 40 ns, longer than the cable, so it is delivered at once.
    let last_bit = 100_000;
    fabric
        .send_serialized(HostId(0), 0, last_bit, Frame::new(vec![0; 1000]))
        .unwrap();
    let delivery = fabric.next_delivery(Time::MAX).unwrap();
    assert_eq!((fabric.now(), delivery.time), (last_bit, last_bit + 30_000));
    // A minimal frame is shorter: its first bit arrives after its own last bit has left.
    fabric
        .send_serialized(HostId(0), 0, last_bit, Frame::new(vec![0; 60]))
        .unwrap();
    let delivery = fabric.next_delivery(Time::MAX).unwrap();
    assert_eq!(
        (fabric.now(), delivery.time),
        (last_bit + 30_000 - 64 * 40, last_bit + 30_000)
    );
    let (host, port) = (HostId(1), 2);
    let refused = Err(FabricError::NoSuchPort { host, port });
    assert_eq!(fabric.receive_from_first_bit(host, port), refused);
}

#[test]
fn the_present_follows_the_limit() {
    let mut fabric = cable("rate_gbps = 200\ndelay_ns = 100");
    assert_eq!(fabric.next_event(), None);
    fabric
        .send(HostId(0), 0, 500, Frame::new(vec![1; 100]))
        .unwrap();
    assert_eq!(fabric.next_event(), Some(500));
    let arrival = 500 + 112 * 40 + 100_000;
    assert_eq!(fabric.next_delivery(arrival - 1), None);
    assert_eq!(fabric.now(), arrival - 1);
    assert_eq!(fabric.next_event(), Some(arrival));
    assert!(fabric.next_delivery(arrival).is_some());
    assert_eq!(fabric.next_delivery(2 * arrival), None);
    assert_eq!(fabric.now(), 2 * arrival);
}

#[test]
fn one_queue_is_first_in_first_out() {
    let mut fabric = Fabric::new(star("rate_gbps = 10"), 1);
    for psn in 0..100 {
        Sent {
            psn,
            payload: 1 + (psn as usize * 37) % 900,
            ..Sent::new(A, C)
        }
        .send(&mut fabric, 0);
    }
    assert_eq!(
        crate::common::psns(&run(&mut fabric)),
        (0..100).collect::<Vec<_>>()
    );
}

#[test]
fn jitter_reorders_within_its_bound() {
    let mut fabric = cable("rate_gbps = 200\ndelay_ns = 100\njitter_ns = 1000");
    for n in 0..200u8 {
        fabric
            .send(HostId(0), 0, 0, Frame::new(vec![n; 100]))
            .unwrap();
    }
    let deliveries = run(&mut fabric);
    let order: Vec<u8> = deliveries.iter().map(|d| d.frame.bytes()[0]).collect();
    assert!(!order.is_sorted());
    let mut latest = 0;
    for delivery in &deliveries {
        let sent = u64::from(delivery.frame.bytes()[0]) * 124 * 40;
        let jitter = delivery.time - (sent + 112 * 40 + 100_000);
        assert!(jitter <= 1_000_000);
        latest = latest.max(jitter);
    }
    assert!(
        latest > 900_000,
        "200 draws came no nearer to the bound than {latest}"
    );
}

#[test]
fn calls_that_cannot_be_are_refused() {
    let mut fabric = cable("rate_gbps = 200");
    let frame = || Frame::new(vec![0; 60]);
    let (host, port) = (HostId(2), 0);
    assert_eq!(
        fabric.send(host, port, 0, frame()),
        Err(FabricError::NoSuchPort { host, port })
    );
    let (host, port) = (HostId(0), 2);
    assert_eq!(
        fabric.free_at(host, port),
        Err(FabricError::NoSuchPort { host, port })
    );
    fabric.advance_to(100, |_| {});
    assert_eq!(
        fabric.send(HostId(0), 0, 99, frame()),
        Err(FabricError::InPast { time: 99, now: 100 })
    );
    let short = Frame::new(vec![0; 13]);
    assert_eq!(
        fabric.send(HostId(0), 0, 100, short),
        Err(FabricError::NoEthernetHeader { stored: 13 })
    );
    let link = sim_net::LinkId(9);
    assert_eq!(fabric.is_up(link), Err(FabricError::NoSuchLink(link)));
    assert_eq!(
        fabric.schedule_link(link, 100, true),
        Err(FabricError::NoSuchLink(link))
    );
    let link = sim_net::LinkId(0);
    assert_eq!(
        fabric.schedule_link(link, 1, true),
        Err(FabricError::InPast { time: 1, now: 100 })
    );
    let channel = link.forward();
    assert_eq!(
        fabric.sample_every(0, vec![channel]),
        Err(FabricError::ZeroPeriod)
    );
    let channel = sim_net::ChannelId(4);
    assert_eq!(
        fabric.sample_every(1, vec![channel]),
        Err(FabricError::NoSuchChannel(channel))
    );
    assert_eq!(
        fabric.set_filter(channel, None),
        Err(FabricError::NoSuchChannel(channel))
    );
    assert_eq!(
        fabric.stats(channel),
        Err(FabricError::NoSuchChannel(channel))
    );
}

#[test]
fn a_fabric_can_move_to_another_thread() {
    let mut fabric = cable("rate_gbps = 200");
    fabric
        .send(HostId(0), 0, 0, Frame::new(vec![0; 60]))
        .unwrap();
    let delivered = std::thread::spawn(move || run(&mut fabric).len())
        .join()
        .unwrap();
    assert_eq!(delivered, 1);
}
