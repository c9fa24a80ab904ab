//! ConWeave reroutes flows while they run, and their packets arrive in order.

use sim_net::HostId;

use crate::balance::{counts, fabric, frame, US};
use crate::common::{parsed, run, Sent};

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
    // Without the queue at the last switch, packets on the new path overtake.
    let (rerouted, late) = paced_flows("name = 'conweave', hold_us = 0.001");
    assert!(rerouted < 0.8 * hashed && late >= 5, "{rerouted}, {late}");
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
