//! Priority flow control: nothing is lost, lines stay busy, and control is not paused.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use sim_net::{Fabric, HostId, Node, Time, Topology};

use crate::common::{run, star, star_with, topology, Sent, A, B, C};

const FRAMES: u32 = 1000;

/// A star whose hosts `a` and `b` send `FRAMES` frames each to `c` at the same time, so that half of them wait or are lost.
fn converged(set: &str) -> (Fabric, Vec<sim_net::Delivery>) {
    let text = "queue_bytes = 60_000";
    let mut topology = star(text);
    if !set.is_empty() {
        topology = with_pfc(set, text);
    }
    let mut fabric = Fabric::new(topology, 1);
    for psn in 0..FRAMES {
        for from in [A, B] {
            Sent {
                psn,
                ..Sent::new(from, C)
            }
            .send(&mut fabric, 0);
        }
    }
    let deliveries = run(&mut fabric);
    (fabric, deliveries)
}

/// The star of the tests with flow control towards its switch.
fn with_pfc(set: &str, bottleneck: &str) -> Topology {
    let links = format!("delay_ns = 200\n        pfc = {{ {set} }}");
    star_with(bottleneck, &links, "")
}

#[test]
fn nothing_is_lost_and_the_line_stays_busy() {
    let (lossy, _) = converged("");
    assert!(lossy.totals().dropped.total() > 500);

    let (fabric, deliveries) = converged("xoff_bytes = 20_000, xon_bytes = 15_000");
    assert_eq!(fabric.totals().dropped.total(), 0);
    assert_eq!(deliveries.len(), 2 * FRAMES as usize);
    let bottleneck = fabric.topology().link("c").unwrap().forward();
    // Behind each of two links: 20,000 bytes, and what comes until the pause takes effect: two delays of 200 ns and a pause frame at 12.5 bytes per ns,
    // the frame that is on the line, and one that exceeded the threshold.
    let frame = deliveries[0].frame.len() as u64;
    let most = 2 * (20_000 + 400 * 25 / 2 + 72 + 2 * frame);
    let depth = fabric.stats(bottleneck).unwrap().data.max_bytes;
    assert!((30_000..most).contains(&depth), "{depth}, {most}");
    let pauses = |name| {
        let link = fabric.topology().link(name).unwrap();
        fabric.stats(link.forward()).unwrap().pauses
    };
    assert!(pauses("a") > 10 && pauses("b") > 10);
    assert_eq!(pauses("c"), 0);
    // Frames follow each other without a gap.
    let times: Vec<Time> = deliveries.iter().map(|delivery| delivery.time).collect();
    let line = (8 + frame + 4 + 12) * 80;
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] == line));
}

#[test]
fn control_passes_data_that_is_paused() {
    // `b` is a switch between host `a` and switch `s`, whose way to `c` is slow: what waits at `b` is paused.
    let topology = topology(
        "
        hosts = [{ name = 'a' }, { name = 'd' }, { name = 'c' }]
        switches = [{ name = 'b' }, { name = 's' }]
        links = [
            { name = 'a', ends = ['a', 'b'] },
            { name = 'd', ends = ['d', 'b'] },
            { name = 'm', ends = ['b', 's'] },
            { name = 'c', ends = ['s', 'c'], set = { rate_gbps = 1 } },
        ]
        [defaults]
        rate_gbps = 100
        pfc = { xoff_bytes = 3_000, xon_bytes = 1_000 }
        ",
    );
    let mut fabric = Fabric::new(topology, 1);
    for psn in 0..20 {
        Sent {
            psn,
            ..Sent::new(A, C)
        }
        .send(&mut fabric, 0);
    }
    let ack = Sent {
        ack: true,
        psn: 77,
        ..Sent::new(HostId(1), C)
    };
    ack.send(&mut fabric, 10_000_000);
    let middle = fabric.topology().link("m").unwrap().forward();
    let mut delivered = 0;
    fabric.advance_to(10_000_000, |_| delivered += 1);
    assert!(
        fabric.stats(middle).unwrap().data.bytes > 2_000,
        "data waits"
    );
    let sent = fabric.stats(middle).unwrap().sent_frames;
    fabric.advance_to(10_100_000, |_| delivered += 1);
    assert_eq!(fabric.stats(middle).unwrap().sent_frames, sent + 1);
    assert_eq!(delivered + run(&mut fabric).len(), 21);
}

#[test]
fn a_link_that_comes_back_is_not_paused() {
    let mut fabric = Fabric::new(
        with_pfc("xoff_bytes = 2_000, xon_bytes = 0", "rate_gbps = 1"),
        1,
    );
    let send = |fabric: &mut Fabric, time| {
        for psn in 0..10 {
            Sent {
                psn,
                ..Sent::new(A, C)
            }
            .send(fabric, time);
        }
    };
    let link = fabric.topology().link("a").unwrap();
    send(&mut fabric, 0);
    fabric.schedule_link(link, 3_000_000, false).unwrap();
    fabric.schedule_link(link, 4_000_000, true).unwrap();
    send(&mut fabric, 5_000_000);
    let delivered = run(&mut fabric).len() as u64;
    let totals = fabric.totals();
    assert_eq!(totals.in_flight, 0, "nothing is paused for ever");
    assert_eq!(delivered + totals.dropped.total(), 20);
    assert!(delivered >= 12, "{delivered}");
}

#[test]
fn thresholds_in_the_wrong_order_are_refused() {
    let text = "[back_to_back]\nplanes = 1\n[defaults]\nrate_gbps = 1\npfc = { xoff_bytes = 1, xon_bytes = 2 }";
    let error = Topology::from_toml("f", text).unwrap_err().to_string();
    assert_eq!(
        error,
        "f: links \"p0\": set.pfc: xon_bytes 2 is above xoff_bytes 1; swap them"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, rng_seed: RngSeed::Fixed(9), ..ProptestConfig::default() })]

    /// Random frames over two tiers, with small thresholds and rates that differ.
    #[test]
    fn a_fabric_without_loss_delivers_everything(
        frames in prop::collection::vec((0..6u32, 1..6u32, 0..40u16, 1..4000usize, 0..30_000_000u64, any::<bool>()), 1..300),
        slow in 0..3usize,
        xoff in 1_000..30_000u64,
    ) {
        let text = format!(
            "
            [defaults]
            rate_gbps = 100
            delay_ns = 300
            queue_bytes = 400_000
            pfc = {{ xoff_bytes = {xoff}, xon_bytes = {} }}
            [leaf_spine]
            planes = 1
            leaves = 2
            spines = 3
            hosts_per_leaf = 3
            [[overrides]]
            link = 'p0.leaf1-spine{slow}'
            set = {{ rate_gbps = 7 }}
            ",
            xoff / 2
        );
        let mut fabric = Fabric::new(topology(&text), 1);
        for (from, step, sport, payload, time, ack) in &frames {
            let to = HostId((from + step) % 6);
            Sent { sport: *sport, payload: *payload, ack: *ack, ..Sent::new(HostId(*from), to) }.send(&mut fabric, *time);
        }
        let delivered = run(&mut fabric).len();
        prop_assert_eq!(delivered, frames.len());
        prop_assert_eq!(fabric.totals().in_flight, 0);
        let hosts = fabric.topology().channels().filter(|&id| matches!(fabric.topology().ends(id).1, Node::Host { .. }));
        for id in hosts {
            prop_assert_eq!(fabric.stats(id).unwrap().pauses, 0);
        }
    }
}
