//! Equal-cost paths.

use std::collections::HashMap;

use sim_net::{ChannelId, Fabric, HostId, Node, TapSide};

use crate::common::{channels_from, leaf_spine, run, Sent};

/// Frames per uplink of leaf 0, after sending `frames` from host 0 to host 2 of a fabric of `spines`.
fn uplink_counts(spines: usize, seed: u64, frames: impl Iterator<Item = Sent>) -> Vec<u64> {
    let mut fabric = Fabric::new(leaf_spine(spines, 2, ""), seed);
    for sent in frames {
        sent.send(&mut fabric, 0);
    }
    run(&mut fabric);
    channels_from(fabric.topology(), "leaf0")
        .into_iter()
        .map(|channel| fabric.stats(channel).unwrap().sent_frames)
        .collect()
}

fn base() -> Sent {
    Sent {
        payload: 8,
        ..Sent::new(HostId(0), HostId(2))
    }
}

/// Chi-square of counts against equal shares.
fn chi_square(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    counts
        .iter()
        .map(|&n| (n as f64 - expected).powi(2) / expected)
        .sum()
}

#[test]
fn flows_spread_evenly_by_port_and_by_flow_label() {
    // 8 spines: 7 degrees of freedom; 24.3 is exceeded with probability 0.001.
    for seed in 0..3 {
        let ports = (0..4000).map(|sport| Sent { sport, ..base() });
        assert!(chi_square(&uplink_counts(8, seed, ports)) < 24.3);
        let labels = (0..4000).map(|flow_label| Sent {
            flow_label,
            v6: true,
            ..base()
        });
        assert!(chi_square(&uplink_counts(8, seed, labels)) < 24.3);
    }
}

#[test]
fn a_flow_stays_on_its_path() {
    let counts = uplink_counts(8, 5, (0..100).map(|psn| Sent { psn, ..base() }));
    assert_eq!(counts.iter().filter(|&&n| n != 0).count(), 1);
    assert_eq!(counts.iter().sum::<u64>(), 100);
}

#[test]
fn the_flow_label_of_ipv4_is_nothing() {
    let counts = uplink_counts(
        8,
        5,
        (0..100).map(|flow_label| Sent {
            flow_label,
            ..base()
        }),
    );
    assert_eq!(counts.iter().filter(|&&n| n != 0).count(), 1);
}

#[test]
fn switches_and_seeds_choose_independently() {
    let path = |seed| -> Vec<usize> {
        (0..64)
            .map(|sport| {
                let counts = uplink_counts(4, seed, std::iter::once(Sent { sport, ..base() }));
                counts.iter().position(|&n| n == 1).unwrap()
            })
            .collect()
    };
    let (first, second) = (path(1), path(2));
    assert_eq!(first, path(1));
    let same = first.iter().zip(&second).filter(|(a, b)| a == b).count();
    // 64 draws of 1/4: 16 +- 3.5.
    assert!(
        (4..=30).contains(&same),
        "{same} of 64 flows on the same path under another seed"
    );
}

/// Two tiers choose one after the other. If both hashed alike, the second would use only a part of its links (polarization).
#[test]
fn a_second_tier_still_uses_all_its_links() {
    let mut text = String::from("[defaults]\nrate_gbps = 200\n");
    text += "[[hosts]]\nname = 'a'\n[[hosts]]\nname = 'z'\n";
    let mut links = vec![("a".to_string(), "in".to_string())];
    for name in ["in", "m0", "m1", "out"] {
        text += &format!("[[switches]]\nname = '{name}'\n");
    }
    for middle in 0..2 {
        links.push(("in".into(), format!("m{middle}")));
        for last in 0..4 {
            let name = format!("l{middle}{last}");
            text += &format!("[[switches]]\nname = '{name}'\n");
            links.push((format!("m{middle}"), name.clone()));
            links.push((name, "out".into()));
        }
    }
    links.push(("out".into(), "z".into()));
    for (index, (a, b)) in links.iter().enumerate() {
        text += &format!("[[links]]\nname = 'l{index}'\nends = ['{a}', '{b}']\n");
    }
    let mut fabric = Fabric::new(crate::common::topology(&text), 11);
    for sport in 0..2000 {
        Sent {
            sport,
            payload: 8,
            ..Sent::new(HostId(0), HostId(1))
        }
        .send(&mut fabric, 0);
    }
    assert_eq!(run(&mut fabric).len(), 2000);
    for middle in ["m0", "m1"] {
        let switch = fabric.topology().switch(middle).unwrap();
        let counts: Vec<u64> = fabric
            .topology()
            .switch_ports(switch)
            .map(|channel| (channel, fabric.stats(channel).unwrap().sent_frames))
            .filter(|&(channel, _)| is_to(&fabric, channel, "l"))
            .map(|(_, n)| n)
            .collect();
        assert_eq!(counts.len(), 4);
        // 3 degrees of freedom at 0.001: 16.3.
        assert!(chi_square(&counts) < 16.3, "{counts:?}");
    }
}

fn is_to(fabric: &Fabric, channel: ChannelId, prefix: &str) -> bool {
    match fabric.topology().ends(channel).1 {
        Node::Switch(switch) => fabric.topology().switches()[switch.0 as usize]
            .name
            .starts_with(prefix),
        Node::Host { .. } => false,
    }
}

/// Balls in bins: (max - min) / mean over M uplinks of C connections with P hashed paths is about k / sqrt(C P / M), where k is
/// the expected range of M independent normal deviates: 4.64 for M = 60.
#[test]
fn imbalance_follows_the_balls_in_bins_law() {
    let (connections, uplinks) = (16u32, 60usize);
    for paths in [32u16, 128] {
        let mut sum = 0.0;
        let seeds = 8;
        for seed in 0..seeds {
            let frames = (0..connections).flat_map(|connection| {
                (0..paths).map(move |path| Sent {
                    sport: 0x4000 + connection as u16 * 256 + path,
                    ..base()
                })
            });
            let counts = uplink_counts(uplinks, 100 + seed, frames);
            let (max, min) = (counts.iter().max().unwrap(), counts.iter().min().unwrap());
            let mean = counts.iter().sum::<u64>() as f64 / uplinks as f64;
            sum += (max - min) as f64 / mean;
        }
        let measured = sum / seeds as f64;
        let law = 4.64 / (f64::from(connections * u32::from(paths)) / uplinks as f64).sqrt();
        assert!(
            (measured / law - 1.0).abs() < 0.15,
            "P = {paths}: {measured:.3} against {law:.3}"
        );
    }
}

/// Taps on the uplinks see which spine each flow takes.
#[test]
fn losing_a_link_moves_only_its_flows() {
    use std::sync::{Arc, Mutex};

    let paths = |fail: bool| -> HashMap<u16, ChannelId> {
        let mut fabric = Fabric::new(leaf_spine(8, 2, ""), 5);
        let seen = Arc::new(Mutex::new(HashMap::new()));
        let uplinks = channels_from(fabric.topology(), "leaf0");
        for &channel in &uplinks {
            let seen = Arc::clone(&seen);
            let tap = move |channel, _, frame: &sim_net::Frame| {
                let frame = stellar_wire::RoceFrame::parse(frame.bytes()).unwrap();
                seen.lock().unwrap().insert(frame.udp.sport, channel);
            };
            fabric
                .set_tap(channel, TapSide::Transmit, Box::new(tap))
                .unwrap();
        }
        if fail {
            fabric.schedule_link(uplinks[3].link(), 0, false).unwrap();
        }
        for sport in 0..200 {
            Sent { sport, ..base() }.send(&mut fabric, 1);
        }
        assert_eq!(run(&mut fabric).len(), 200);
        let seen = seen.lock().unwrap().clone();
        seen
    };
    let (before, after) = (paths(false), paths(true));
    let dead = channels_from(&leaf_spine(8, 2, ""), "leaf0")[3];
    assert!(before.values().any(|&channel| channel == dead));
    for (sport, channel) in &before {
        if *channel == dead {
            assert_ne!(after[sport], dead);
        } else {
            assert_eq!(after[sport], *channel);
        }
    }
}
