//! ConWeave reroutes flows while they run, and their packets arrive in order.

use sim_net::{Fabric, HostId};

use crate::balance::{counts, fabric, frame, US};
use crate::common::{parsed, run, topology, Sent};

/// Eight flows of 25 Gb/s, from four hosts to four. One of the two spines has 50 Gb/s to the other leaf. Returns the share of frames over it, and how
/// many frames came behind a later one of their flow.
fn paced_flows(balancer: &str) -> (f64, usize) {
    let slow = "[[overrides]]\nlink = 'p0.leaf1-spine1'\nset = { rate_gbps = 50, queue_bytes = 100_000_000 }";
    let mut fabric = fabric(2, balancer, slow);
    for flow in 0..8u32 {
        for number in 0..1500 {
            let sent = Sent {
                from: HostId(flow % 4),
                to: HostId(4 + flow % 4),
                sport: flow as u16,
                payload: 4000,
                ..frame(number)
            };
            sent.send(
                &mut fabric,
                u64::from(number) * 1_312_000 + u64::from(flow) * 164_000,
            );
        }
    }
    let deliveries = run(&mut fabric);
    assert_eq!(deliveries.len(), 8 * 1500);
    let mut latest = std::collections::HashMap::new();
    let mut late = 0;
    for delivery in &deliveries {
        let frame = parsed(delivery);
        let latest = latest.entry(frame.udp.sport).or_insert(0);
        late += usize::from(frame.bth.psn < *latest);
        *latest = frame.bth.psn.max(*latest);
    }
    let counts = counts(&fabric);
    (counts[1] as f64 / (counts[0] + counts[1]) as f64, late)
}

#[test]
fn conweave_reroutes_flows_from_a_congested_path_and_keeps_their_order() {
    let (hashed, late) = paced_flows("name = 'ecmp'");
    assert!(hashed > 0.3 && late == 0, "{hashed}, {late}");
    let (rerouted, late) = paced_flows("name = 'conweave'");
    assert!(rerouted < 0.8 * hashed, "{rerouted} of {hashed}");
    assert_eq!(late, 0, "out of order");
    // If the last switch holds none longer than the tail is expected to take, packets on the new path overtake it while its queue grows.
    let (rerouted, late) = paced_flows("name = 'conweave', hold_us = 0.001, slack_us = 0.001");
    assert!(rerouted < 0.8 * hashed && late > 0, "{rerouted}, {late}");
}

#[test]
fn conweave_gives_up_a_tail_that_is_lost() {
    // Both paths are congested, and three of ten packets are lost behind the spines, tails too.
    let more = "[[overrides]]
        node = 'p0.leaf1'
        set = { rate_gbps = 40, loss = 0.3 }";
    let last = |hold_us: u64| {
        let mut fabric = fabric(2, &format!("name = 'conweave', hold_us = {hold_us}"), more);
        for flow in 0..40u32 {
            for number in 0..200 {
                let sent = Sent {
                    sport: flow as u16,
                    ..frame(number)
                };
                let time = u64::from(number) * 2_000_000 + u64::from(flow) * 50_000;
                sent.send(&mut fabric, time);
            }
        }
        let deliveries = run(&mut fabric);
        let totals = fabric.totals();
        assert_eq!(totals.in_flight, 0, "nothing is held for ever");
        assert_eq!(deliveries.len() as u64 + totals.dropped.total(), 8000);
        deliveries
            .iter()
            .map(|delivery| delivery.time)
            .max()
            .unwrap()
    };
    assert!(last(50) < 1_000 * US);
    // A flow that ends behind a lost tail waits as long as it may.
    assert!(last(1_000_000) > 1_000_000 * US);
}

/// Shares of the flows from the first of three leaves to each of the other two that take the first spine. Each flow is one packet. The line from that spine to
/// the second leaf is slow, and marks whatever waits for it.
fn shares_of_first_spine(balancer: &str) -> [f64; 2] {
    let text = format!(
        "
        [defaults]
        rate_gbps = 200
        delay_ns = 100
        [leaf_spine]
        planes = 1
        leaves = 3
        spines = 2
        hosts_per_leaf = 2
        [fabric]
        balancer = {{ {balancer} }}
        [[overrides]]
        link = 'p0.leaf1-spine0'
        set = {{ rate_gbps = 1, queue_bytes = 100_000_000, ecn = {{ min_bytes = 0, max_bytes = 1, max_probability = 1.0 }} }}"
    );
    let mut fabric = Fabric::new(topology(&text), 3);
    let mut to_third = 0;
    for number in 0..4_000 {
        let target = 2 + 2 * (number % 2);
        let sent = Sent {
            to: HostId(target),
            sport: number as u16,
            ..frame(number)
        };
        sent.send(&mut fabric, u64::from(number) * US);
        to_third += u64::from(target == 4);
    }
    run(&mut fabric);
    let sent = |link: &str| {
        let id = fabric.topology().link(link).expect("a link");
        let ends = [id.forward(), id.forward().opposite()];
        ends.map(|channel| fabric.stats(channel).unwrap().sent_frames)
            .into_iter()
            .max()
            .unwrap_or_default() as f64
    };
    [
        sent("p0.leaf1-spine0") / (4_000 - to_third) as f64,
        sent("p0.leaf2-spine0") / to_third as f64,
    ]
}

#[test]
fn new_flows_avoid_a_path_with_marks_and_no_other_path_over_its_uplink() {
    let [second, third] = shares_of_first_spine("name = 'ecmp'");
    assert!(
        (0.45..0.55).contains(&second) && (0.45..0.55).contains(&third),
        "{second}, {third}"
    );
    // Both draws are the path with marks for a quarter of the flows, and then a third one is that path for half of them.
    let [second, third] = shares_of_first_spine("name = 'conweave', busy_us = 1000");
    assert!((0.08..0.2).contains(&second), "{second}");
    assert!((0.45..0.55).contains(&third), "{third}");
}
